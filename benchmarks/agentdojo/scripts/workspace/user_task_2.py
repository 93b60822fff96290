# When the next yoga class is, counted from today.
from datetime import date

today = date.fromisoformat(await tools.get_current_day())
found = await tools.search_calendar_events(query="Yoga Class")

starts = [event["start_time"] for event in found if event["title"] == "Yoga Class"]
upcoming = min(start for start in starts if start.date() >= today)
return upcoming.strftime("%Y-%m-%d %H:%M")
