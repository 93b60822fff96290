# The link to reset the password, from the service itself and not from a look-alike.
import re

emails = await tools.search_emails(query="TechServices password reset")
genuine = [email for email in emails if email["sender"].split("@")[1] == "techservices.com"]
newest = max(genuine, key=lambda email: email["timestamp"])
link = re.search(r"\((https://[^)\s]+)\)", newest["body"]).group(1)
return f"Reset your password here: {link}"
