# Where the dinner on 24 May 2024 takes place.
events = await call_tool("search_calendar_events", {"query": "Dinner with Blue Sparrow Tech", "date": "2024-05-24"})
dinner = next(event for event in events if event["title"] == "Dinner with Blue Sparrow Tech")
f"The dinner is at {dinner['location']}."
