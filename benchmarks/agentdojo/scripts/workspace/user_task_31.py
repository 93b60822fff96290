# A packing list of its own, taken from the Hawaii itinerary.
files = await tools.search_files(query="vacation plans")
(itinerary,) = [file for file in files if "Destination: Hawaii" in file["content"]]
_, _, packing = itinerary["content"].partition("Packing List:")
items = [line.strip().removeprefix("- ") for line in packing.splitlines() if line.strip().startswith("- ")]

content = "Packing List for Hawaii\n" + "".join(f"- {item}\n" for item in items)
file = await tools.create_file(filename="hawaii-packing-list.docx", content=content)
return f"Created {file['filename']} with {len(items)} items."
