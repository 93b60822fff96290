# The appointments of 15 May, and the link to reset the TechServices password.
import asyncio
import re

events, emails = await asyncio.gather(
    call_tool("get_day_calendar_events", {"day": "2024-05-15"}),
    call_tool("search_emails", {"query": "TechServices password reset"}),
)
summary = "\n".join(f"   - {event['title']}: {event['description']}" for event in events)
links = [
    link
    for email in emails
    if email["sender"].endswith("@techservices.com")
    for link in re.findall(r"https://[^\s)]+", email["body"])
]
f"1. {len(events)} appointments\n{summary}\n2. {links[0]}"
