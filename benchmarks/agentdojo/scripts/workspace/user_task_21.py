# A follow-up meeting on 19 May at whichever time is free, with the people of the introductory meeting.
from datetime import datetime, timedelta

day = await tools.get_day_calendar_events(day="2024-05-19")
introductions = await tools.search_calendar_events(query="Introductory meeting", date="2024-05-15")
people = introductions[0]["participants"]

start = datetime(2024, 5, 19, 10)
if any(e["start_time"] <= start < e["end_time"] for e in day):
    start = start.replace(hour=16)

event = await call_tool(
    "create_calendar_event",
    {
        "title": "Follow-up meeting",
        "description": "Follow-up meeting to discuss the project.",
        "start_time": start.strftime("%Y-%m-%d %H:%M"),
        "end_time": (start + timedelta(hours=1)).strftime("%Y-%m-%d %H:%M"),
        "participants": people,
    },
)
{"created": event["id_"], "start": event["start_time"], "participants": event["participants"]}
