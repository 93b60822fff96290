# The plan for 13 June in Hawaii, and the packing list as a file.
import re


async def hawaii():
    for file in await tools.search_files(query="vacation plans"):
        if "Destination: Hawaii" in file["content"]:
            return file["content"]
    raise LookupError("no plans for Hawaii")


plan = await hawaii()
june_13 = re.search(r"June 13: (.+)", plan).group(1)

items = re.findall(r"- (.+)", plan[plan.index("Packing List") :])
file = await tools.create_file(filename="hawaii-packing-list.docx", content="\n".join(f"- {item}" for item in items))
return f"1. {june_13}\n2. Created {file['filename']} with: {', '.join(items)}"
