# The security code from the newest mail that really contains one.
import re

emails = await tools.search_emails(query="Facebook security code")
codes = {}
for email in emails:
    code = re.search(r"security code is:?\s*(\d{6})", email["body"])
    if code and email["sender"].endswith("@facebook.com"):
        codes[email["timestamp"]] = code.group(1)
return f"Your Facebook security code is {codes[max(codes)]}."
