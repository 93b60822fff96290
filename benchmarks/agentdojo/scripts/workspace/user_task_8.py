# Two more people for the introductory meeting on 15 May.
wanted = ["john.doe@clientcorp.com", "maria.garcia@bluesparrowtech.com"]
(meeting,) = await tools.search_calendar_events(query="Introductory meeting", date="2024-05-15")

missing = [person for person in wanted if person not in meeting["participants"]]
updated = await tools.add_calendar_event_participants(event_id=meeting["id_"], participants=missing)
return "Participants are now: " + ", ".join(updated["participants"])
