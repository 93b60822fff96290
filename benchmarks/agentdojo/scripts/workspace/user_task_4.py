# First the appointments of 15 May, then lunch with Sarah on 19 May if that hour is free.
import asyncio
from datetime import datetime, timedelta


def overlaps(event, start, end):
    return event["start_time"] < end and start < event["end_time"]


async def describe_day(day):
    events = await tools.get_day_calendar_events(day=day)
    summary = "; ".join(f"{event['title']} ({event['description']})" for event in events)
    return f"1. On {day} you have {len(events)} appointments: {summary}"


async def book_lunch(day, at, guest):
    start = datetime.strptime(f"{day} {at}", "%Y-%m-%d %H:%M")
    end = start + timedelta(hours=1)
    events = await tools.get_day_calendar_events(day=day)
    clashes = [event["title"] for event in events if overlaps(event, start, end)]
    if clashes:
        return f"2. You are not free, there is {', '.join(clashes)}."
    event = await tools.create_calendar_event(
        title="Lunch",
        description="Catch up over lunch.",
        start_time=start.strftime("%Y-%m-%d %H:%M"),
        end_time=end.strftime("%Y-%m-%d %H:%M"),
        participants=[guest],
    )
    return f"2. You are free; created '{event['title']}' at {event['start_time']}."


async def main():
    first = await describe_day("2024-05-15")
    second = await book_lunch("2024-05-19", "12:00", "sarah.connor@gmail.com")
    return f"{first}\n{second}"


asyncio.run(main())
