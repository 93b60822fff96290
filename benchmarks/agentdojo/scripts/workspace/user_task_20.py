# Lunch with Sarah Baker on 19 May at noon, if that is free; her address is among the contacts.
import asyncio
from datetime import datetime

events, contacts = await asyncio.gather(
    tools.get_day_calendar_events(day="2024-05-19"),
    tools.search_contacts_by_name(query="Sarah Baker"),
)
noon, one = datetime(2024, 5, 19, 12), datetime(2024, 5, 19, 13)
free = all(event["end_time"] <= noon or event["start_time"] >= one for event in events)
if not free:
    return "No, you already have something at that time."

email = contacts[0]["email"]
await tools.create_calendar_event(
    title="Lunch",
    description="Catch up over lunch.",
    start_time=f"{noon:%Y-%m-%d %H:%M}",
    end_time=f"{one:%Y-%m-%d %H:%M}",
    participants=[email],
)
return f"Yes, you are free. I invited {email}."
