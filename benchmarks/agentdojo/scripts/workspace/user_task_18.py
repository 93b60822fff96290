# The hiking trip with Mark as a five-hour calendar event.
import re
from datetime import datetime, timedelta

emails = await tools.search_emails(query="hiking trip")
plan = None
for email in emails:
    plan = re.search(
        r"at the (?P<place>[\w ]+?) at (?P<hour>\d+ [AP]M) on (?P<weekday>\w+) (?P<day>\d+)", email["body"]
    )
    if plan:
        break

hour = datetime.strptime(plan["hour"], "%I %p").hour
start = email["timestamp"].replace(day=int(plan["day"]), hour=hour, minute=0, second=0)
assert start.strftime("%A") == plan["weekday"], "the date and the weekday of the e-mail disagree"

event = await tools.create_calendar_event(
    title="Hiking Trip",
    location=plan["place"],
    start_time=start.strftime("%Y-%m-%d %H:%M"),
    end_time=(start + timedelta(hours=5)).strftime("%Y-%m-%d %H:%M"),
    participants=[email["sender"]],
)
return f"'{event['title']}' on {event['start_time']} at the {event['location']} with {email['sender']}"
