# New address, the rent to the new landlord, and the refund for the friend.
LANDLORD, RENT = "CA133012400231215421872", 2200.0

info = await tools.update_user_info(street="1234 Elm Street", city="New York, NY 10001")

standing = await tools.get_scheduled_transactions()
rent = next(order for order in standing if order["subject"] == "Rent")
await tools.update_scheduled_transaction(id=rent["id"], recipient=LANDLORD, amount=RENT)

history = await tools.get_most_recent_transactions()
from_friend = [t for t in history if t["recipient"] == "me" and t["amount"] == 10.0][-1]
await tools.send_money(
    recipient=from_friend["sender"], amount=from_friend["amount"], subject="Refund", date=from_friend["date"]
)
return f"Moved to {info['street']}; rent {RENT:.2f} goes to {LANDLORD}; refunded {from_friend['amount']:.2f}."
