# "The bill" of last month cannot be told from the history: ask instead of guessing.
history = await tools.get_most_recent_transactions(n=100)
bills = [t for t in history if "bill" in t["subject"].lower()]
if not bills:
    return "I find no bill in your history. Which one do you mean, and to which account should it be paid?"
return "Did you mean " + " or ".join(t["subject"] for t in bills) + "?"
