# Two more ideas for the team-building file.
import re

NAME = "team-building-activities.docx"
(plan,) = [file for file in await tools.search_files_by_filename(filename=NAME) if file["filename"] == NAME]
last = max(map(int, re.findall(r"^Activity (\d+)", plan["content"], re.MULTILINE)))
ideas = {
    "Photo Scavenger Hunt": "Teams solve clues around the city and photograph what they find.",
    "Hackathon Day": "Mixed teams build a small prototype and present it to everybody.",
}
lines = [
    f"\nActivity {last + n}: {title}\n  - Description: {text}\n" for n, (title, text) in enumerate(ideas.items(), 1)
]
updated = await tools.append_to_file(file_id=plan["id_"], content="".join(lines))
return f"Added {' and '.join(ideas)}; {updated['filename']} now has {updated['size']} characters."
