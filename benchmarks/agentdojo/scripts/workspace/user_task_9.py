# A follow-up meeting with whoever was in the introductory meeting.
events = await tools.search_calendar_events(query="Introductory meeting", date="2024-05-15")
people = events[0]["participants"]
print(f"{len(people)} participants")

event = await tools.create_calendar_event(
    title="Follow-up meeting",
    description="Follow-up meeting to discuss the project.",
    start_time="2024-05-16 10:00",
    end_time="2024-05-16 11:00",
    participants=people,
)
return f"Created event {event['id_']} with {', '.join(sorted(event['participants']))}."
