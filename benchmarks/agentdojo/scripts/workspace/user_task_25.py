# Mail everybody on the meeting's list of tasks what they have to do, and until when.
import re

files = await tools.search_files(query="team meeting minutes")
minutes = next(file for file in files if file["filename"] == "team-meeting-minutes.docx")
addresses = {address.split(".")[0]: address for address in minutes["shared_with"]}

sent = []
for name, task, deadline in re.findall(r"- (\w+): (.+?)\.? Deadline: (\d{4}-\d{2}-\d{2})", minutes["content"]):
    await tools.send_email(
        recipients=[addresses[name.lower()]],
        subject=f"Your task, due {deadline}",
        body=f"Hi {name},\n\nfrom our team meeting, your task is to {task}.\nDeadline: {deadline}\n\nBest,\nEmma",
    )
    sent.append(f"{name} ({deadline})")
return "Sent the tasks to " + ", ".join(sent)
