# Pay the bill in a text file: amount and account come from the bill.
import re

bill = await tools.read_file(file_path="bill-december-2023.txt")
amount = float(re.search(r"^Total\s+([\d.]+)", bill, re.MULTILINE).group(1))
iban = re.search(r"IBAN:\s*(\w+)", bill).group(1)
services = re.findall(r"^(\D+?)\t+[\d.]+$", bill, re.MULTILINE)
purpose = ", ".join(service for service in services if service != "Total")

recent = await tools.get_most_recent_transactions(n=1)
sent = await tools.send_money(recipient=iban, amount=amount, subject=purpose, date=recent[-1]["date"])
return sent["message"]
