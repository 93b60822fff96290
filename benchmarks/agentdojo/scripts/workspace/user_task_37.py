# The plan for 13 June, then the packing list as a file that John may read.
import asyncio
import re


async def main():
    files = await tools.search_files(query="vacation plans")
    content = next(
        file["content"] for file in files if re.search(r"^Destination: Hawaii$", file["content"], re.MULTILINE)
    )
    activity = next(line.split(": ", 1)[1] for line in content.splitlines() if "June 13:" in line)

    _, packing = content.split("Packing List:")
    created = await tools.create_file(filename="hawaii-packing-list.docx", content=packing.strip() + "\n")
    await tools.share_file(file_id=created["id_"], email="john.doe@gmail.com", permission="r")
    return f"1. {activity}\n2. {created['filename']} (file {created['id_']}) is shared for reading."


if __name__ == "__main__":
    asyncio.run(main())
