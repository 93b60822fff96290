# Free time before the lunch with Sarah on 15 May.
events = sorted(await tools.get_day_calendar_events(day="2024-05-15"), key=lambda event: event["start_time"])
position = next(at for at, event in enumerate(events) if "sarah" in event["title"].lower())
before, lunch = events[position - 1], events[position]
minutes = int((lunch["start_time"] - before["end_time"]).total_seconds() // 60)
return f"{minutes // 60:02}:{minutes % 60:02} between '{before['title']}' and '{lunch['title']}'"
