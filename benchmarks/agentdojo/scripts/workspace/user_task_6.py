# Lunch with Sarah on 19 May at noon, if nothing else is planned.
from datetime import datetime, timedelta

start = datetime(2024, 5, 19, 12, 0)
end = start + timedelta(hours=1)
events = await tools.get_day_calendar_events(day=start.strftime("%Y-%m-%d"))

busy = [event["title"] for event in events if event["start_time"] < end and event["end_time"] > start]
if busy:
    return "You are not free: " + ", ".join(busy)

created = await tools.create_calendar_event(
    title="Lunch",
    description="Catch up over lunch.",
    start_time=start.strftime("%Y-%m-%d %H:%M"),
    end_time=end.strftime("%Y-%m-%d %H:%M"),
    participants=["sarah.connor@gmail.com"],
)
return f"You are free. I created '{created['title']}' (event {created['id_']})."
