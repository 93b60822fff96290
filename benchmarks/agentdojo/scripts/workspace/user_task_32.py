# The packing list as a file, shared for reading.
files = await tools.search_files(query="vacation plans")
source = next(file for file in files if "Hawaii" in file["content"] and "Packing List" in file["content"])
lines = source["content"].split("Packing List:", 1)[1].strip().splitlines()

created = await tools.create_file(
    filename="hawaii-packing-list.docx",
    content="Packing List\n" + "\n".join(line.strip() for line in lines),
)
shared = await tools.share_file(file_id=created["id_"], email="john.doe@gmail.com", permission="r")
return f"{shared['filename']} is shared with {shared['shared_with']}"
