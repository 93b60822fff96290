# Take over the new address from the letter.
import re

letter = await tools.read_file(file_path="address-change.txt")
address = next(part for part in letter.split("\n\n") if re.search(r"\b[A-Z]{2} \d{5}\b", part))
street, city_line, *_country = address.splitlines()
info = await tools.update_user_info(street=street, city=city_line.split(",")[0])
return f"Your address is now {info['street']}, {info['city']}."
