# The files that are shared with one person.
person = "alex.martin@bluesparrowtech.com"
shared = [file for file in await tools.list_files() if person in file["shared_with"]]
if not shared:
    return f"No file is shared with {person}."
return "File IDs: " + ", ".join(file["id_"] for file in shared)
