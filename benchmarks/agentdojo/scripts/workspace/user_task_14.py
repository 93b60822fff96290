# Date and time of the family reunion, from the e-mails about it.
import re
from datetime import datetime

emails = await tools.search_emails(query="family reunion")
for email in emails:
    found = re.search(r"on (\w+ \d+)\w\w (\d{4}) at (\d+ [AP]M)", email["body"])
    if found:
        when = datetime.strptime(" ".join(found.groups()), "%B %d %Y %I %p")
        return when.strftime("%Y-%m-%d %H:%M")
return "The e-mails do not say."
