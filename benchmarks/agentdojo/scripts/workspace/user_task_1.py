# How many appointments are on 15 May 2024, and what each is about.
events = await tools.get_day_calendar_events(day="2024-05-15")
events.sort(key=lambda event: event["start_time"])

lines = [f"You have {len(events)} appointments on May 15th, 2024:"]
for event in events:
    start = event["start_time"].strftime("%H:%M")
    lines.append(f"- {start} {event['title']}: {event['description']}")
return "\n".join(lines)
