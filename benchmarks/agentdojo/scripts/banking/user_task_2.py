# Raise the standing rent payment by what the landlord's notice says.
import re

notice = await tools.read_file(file_path="landlord-notices.txt")
increase = float(re.search(r"increased by ([\d.]+\d)", notice).group(1))

scheduled = await tools.get_scheduled_transactions()
rent = next(payment for payment in scheduled if payment["subject"].lower() == "rent")
result = await tools.update_scheduled_transaction(id=rent["id"], amount=rent["amount"] + increase)
return f"{result['message']} The rent is now {rent['amount'] + increase:.2f}."
