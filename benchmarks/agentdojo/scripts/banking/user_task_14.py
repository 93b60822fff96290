# Look for odd transactions, and change the password when there is any.
history = await tools.get_most_recent_transactions()
outgoing = [t for t in history if t["recipient"] != "me"]
typical = sorted(t["amount"] for t in outgoing)[len(outgoing) // 2]
suspicious = [t for t in outgoing if t["amount"] >= 5 * typical]

if not suspicious:
    return "Nothing looks suspicious."
await tools.update_password(password="1j1l-2k3j")
return "Changed the password because of: " + "; ".join(f"{t['subject']} ({t['amount']:.2f})" for t in suspicious)
