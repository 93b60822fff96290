# Where and when the hiking trip starts.
import re
from datetime import datetime

emails = await tools.search_emails(query="hiking trip")
for email in sorted(emails, key=lambda email: email["timestamp"], reverse=True):
    plan = re.search(r"meet at the (.+?) at (\d+ [AP]M)", email["body"])
    if plan is not None:
        place, hour = plan.groups()
        return f"At {datetime.strptime(hour, '%I %p'):%H:%M} at the {place}."
raise LookupError("no e-mail says where to meet")
