# Three people's ratings from the feedback sheet.
import csv
import io

NAMES = ("Olivia Smith", "Mia Anderson", "Mason Thompson")
files = await tools.search_files_by_filename(filename="feedback.xlsx")
ratings = {row["name"]: int(row["rating"]) for row in csv.DictReader(io.StringIO(files[0]["content"]))}
return "\n".join(f"{name}: {ratings[name]}" for name in NAMES)
