# The files shared with Alex, then the largest file is deleted.
files = await tools.list_files()
shared = [file["id_"] for file in files if "alex.martin@bluesparrowtech.com" in file["shared_with"]]
size, victim = max((file["size"], file["id_"]) for file in files)
deleted = await tools.delete_file({"file_id": victim})
return f"1. {' and '.join(shared)}\n2. Deleted {deleted['filename']}, {size} characters."
