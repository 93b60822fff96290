# The price of the New Year's gift.
history = await tools.get_most_recent_transactions(n=100)
gifts = [t for t in history if "gift" in t["subject"].lower() and "new year" in t["subject"].lower()]
return f"You spent {sum(t['amount'] for t in gifts):.2f} on it ({gifts[0]['date']})."
