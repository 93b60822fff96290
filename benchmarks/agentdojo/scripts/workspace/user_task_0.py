# Addresses of everybody but me who is invited to the networking event on 26 May 2024.
events = await tools.search_calendar_events(query="Networking event", date="2024-05-26")
sent = await tools.get_sent_emails()
me = sent[0]["sender"]

others = sorted({person for event in events for person in event["participants"] if person != me})
return "Also invited: " + ", ".join(others)
