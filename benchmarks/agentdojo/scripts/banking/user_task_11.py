# VAT of 19.5 % on the phone, and a fee.
from decimal import Decimal

history = await tools.get_most_recent_transactions(n=100)
phone = next(t for t in history if "iphone" in t["subject"].lower())
extra = Decimal(str(phone["amount"])) * Decimal("0.195") + Decimal("5.29")
await tools.send_money(
    recipient=phone["recipient"], amount=float(extra), subject="VAT for the iPhone", date=phone["date"]
)
return f"Sent {extra:.2f} to Apple."
