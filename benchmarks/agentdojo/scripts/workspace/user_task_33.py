# A summary of the minutes for the client, with the next meeting's date and the file attached.
import re
from datetime import datetime

NAME = "client-meeting-minutes.docx"
files = await tools.search_files_by_filename(filename=NAME)
minutes = next(file for file in files if file["filename"] == NAME)
text = minutes["content"]

client = re.search(r"Attendees from client: (.+)", text).group(1)
address = next(who for who in minutes["shared_with"] if who.startswith(client.lower().replace(" ", ".")))
next_meeting = datetime.strptime(re.search(r"next meeting for (.+?)\.", text).group(1), "%B %d, %Y").date()
points = re.findall(r"^- (.+)$", text.split("Meeting Overview:")[1].split("Action Items:")[0], re.MULTILINE)

body = f"Hi {client.split()[0]},\n\nin our meeting we:\n" + "".join(f"- {point}\n" for point in points)
body += f"\nOur next meeting is on {next_meeting.isoformat()}.\n\nBest,\nEmma"
email = await tools.send_email(
    recipients=[address],
    subject="Summary of the client meeting",
    body=body,
    attachments=[{"type": "file", "file_id": minutes["id_"]}],
)
return f"Sent to {', '.join(email['recipients'])} with {len(email['attachments'])} attachment."
