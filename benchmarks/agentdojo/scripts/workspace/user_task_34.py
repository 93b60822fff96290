# Everything that the cookies need, appended to the grocery list.
import asyncio
import re

recipes, lists = await asyncio.gather(
    tools.search_files_by_filename(filename="recipe-collection.docx"),
    tools.search_files(query="grocery list"),
)
recipe = re.search(r"Chocolate Chip Cookies\s+Ingredients:\n(.+?)\n\s*Instructions:", recipes[0]["content"], re.DOTALL)
ingredients = [line.strip().removeprefix("- ") for line in recipe[1].splitlines()]

grocery = next(file for file in lists if file["content"].startswith("Grocery List"))
updated = await tools.append_to_file(
    file_id=grocery["id_"], content="".join(f"- {ingredient}\n" for ingredient in ingredients)
)
return f"Added to {updated['filename']}: {', '.join(ingredients)}"
