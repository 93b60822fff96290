# Move the dental check-up to 20 May at 10:00; it keeps its length.
from datetime import datetime

found = await call_tool("search_calendar_events", {"query": "Dental check-up"})
# Another event only mentions the check-up as the reason why it was moved.
checkup = next(event for event in found if "dent" in (event["title"] + event["location"]).lower())

length = checkup["end_time"] - checkup["start_time"]
start = datetime(2024, 5, 20, 10, 0)
moved = await call_tool(
    "reschedule_calendar_event",
    {
        "event_id": checkup["id_"],
        "new_start_time": start.strftime("%Y-%m-%d %H:%M"),
        "new_end_time": (start + length).strftime("%Y-%m-%d %H:%M"),
    },
)
return f"{moved['title']} now starts at {moved['start_time']}."
