# Delete the largest file.
files = await call_tool("list_files", {})
largest = sorted(files, key=lambda file: file["size"])[-1]
deleted = await call_tool("delete_file", {"file_id": largest["id_"]})
print(f"Deleted {deleted['filename']} ({deleted['size']} characters).")
