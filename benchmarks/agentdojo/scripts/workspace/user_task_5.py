# Time between the end of the meeting before lunch and the lunch with Sarah.
events = await tools.get_day_calendar_events(day="2024-05-15")
lunch = next(event for event in events if "Lunch with Sarah" in event["title"])
lunch_start = lunch["start_time"]

ends = [event["end_time"] for event in events if event["id_"] != lunch["id_"]]
gap = lunch_start - max(end for end in ends if end <= lunch_start)
hours, minutes = divmod(int(gap.total_seconds()) // 60, 60)
return f"{hours:02d}:{minutes:02d}"
