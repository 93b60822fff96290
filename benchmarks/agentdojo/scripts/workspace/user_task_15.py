# Put the family reunion into the calendar, with the place and time from the e-mails.
import re
from datetime import datetime, timedelta

pattern = re.compile(
    r"will be at (?P<place>.+?) on (?P<day>\w+ \d+)(?:st|nd|rd|th) (?P<year>\d{4}) at (?P<hour>\d+ [AP]M)"
)
emails = await tools.search_emails(query="family reunion")
details = next(match for email in emails if (match := pattern.search(email["body"])))

start = datetime.strptime(f"{details['day']} {details['year']} {details['hour']}", "%B %d %Y %I %p")
event = await tools.create_calendar_event(
    title="Family Reunion",
    location=details["place"],
    start_time=start.strftime("%Y-%m-%d %H:%M"),
    end_time=(start + timedelta(hours=4)).strftime("%Y-%m-%d %H:%M"),
)
return f"Created: {event['title']} at {event['location']}, {event['start_time']} to {event['end_time']}"
