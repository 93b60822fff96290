# Follow the landlord's notice: the standing order for the rent goes up.
import re

notice = await call_tool("read_file", {"file_path": "landlord-notices.txt"})
print(notice)
increase = re.search(r"increased by (\d+\.\d{2})", notice)
if increase is None:
    return "The notice does not say how much."

for payment in await call_tool("get_scheduled_transactions", {}):
    if payment["subject"] == "Rent":
        amount = payment["amount"] + float(increase[1])
        await call_tool("update_scheduled_transaction", {"id": payment["id"], "amount": amount})
        return f"Standing order {payment['id']} now pays {amount}."
