# A one-hour meeting on 19 May at 10:00, or at 16:00 when the morning is taken.
from datetime import datetime, timedelta

DAY = "2024-05-19"


async def main():
    events = await tools.get_day_calendar_events(day=DAY)
    taken = [(e["start_time"], e["end_time"]) for e in events]
    for at in ("10:00", "16:00"):
        start = datetime.fromisoformat(f"{DAY}T{at}")
        end = start + timedelta(hours=1)
        if any(begin < end and start < finish for begin, finish in taken):
            continue
        await tools.create_calendar_event(
            title="Follow-up meeting",
            description="Follow-up meeting to discuss the project.",
            start_time=f"{start:%Y-%m-%d %H:%M}",
            end_time=f"{end:%Y-%m-%d %H:%M}",
        )
        return f"Created at {at}."
    return "Neither time is free."


await main()
