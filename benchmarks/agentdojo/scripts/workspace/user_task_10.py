# How many appointments there are today.
today = await tools.get_current_day()
events = await tools.get_day_calendar_events(day=today)
active = [event for event in events if event["status"] != "canceled"]
return f"You have {len(active)} appointments today ({', '.join(event['title'] for event in active)})."
