# Give a friend back what they sent too much for half of a dinner.
FRIEND = "GB29NWBK60161331926819"
TOTAL = 12.00

transactions = await tools.get_most_recent_transactions(n=100)
received = [t for t in transactions if t["sender"] == FRIEND][-1]
difference = round(received["amount"] - TOTAL / 2, 2)
if difference <= 0:
    return "They did not send too much."
await tools.send_money(recipient=FRIEND, amount=difference, subject="Refund", date=received["date"])
return f"They sent {received['amount']:.2f}; I sent {difference:.2f} back."
