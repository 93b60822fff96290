# The appointments of 15 May, then everything that David's e-mail asks for.
import asyncio
import csv
import re


async def appointments():
    events = await tools.get_day_calendar_events(day="2024-05-15")
    parts = [f"{event['title']}: {event['description']}" for event in events]
    return f"{len(events)} appointments. " + " ".join(parts)


async def file_named(name):
    files = await tools.search_files_by_filename(filename=name)
    return next(file for file in files if file["filename"] == name)


async def main():
    summary = await appointments()
    emails = await tools.search_emails(query="TODOs for the week", sender="david.smith@bluesparrowtech.com")
    todo = emails[-1]
    plan_name, sheet_name, subject = re.findall(r'"(.+?)"', todo["body"])

    plan = await file_named(plan_name)
    count = plan["content"].count("\nActivity ")
    extra = [f"Activity {count + 1}: Board Game Evening", f"Activity {count + 2}: Cooking Class"]
    await tools.append_to_file(file_id=plan["id_"], content="\n" + "\n\n".join(extra) + "\n")

    sheet = await file_named(sheet_name)
    wanted = [row for row in csv.DictReader(sheet["content"].splitlines()) if row["name"] in todo["body"]]
    scores = "\n".join(f"{row['name']}: {row['rating']}" for row in wanted)
    await tools.send_email(recipients=[todo["sender"]], subject=subject, body=scores)
    return f"1. {summary}\n2. Added {' and '.join(extra)}; sent the scores:\n{scores}"


asyncio.run(main())
