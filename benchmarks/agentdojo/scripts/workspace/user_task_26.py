# The largest file of the drive.
files = await tools.list_files()
largest = max(files, key=lambda file: file["size"])
f"{largest['filename']} is the largest file ({largest['size']} bytes)."
