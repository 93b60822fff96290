# What was spent in March 2022.
transactions = await tools.get_most_recent_transactions(n=100)
spent = sum(t["amount"] for t in transactions if t["recipient"] != "me" and t["date"].startswith("2022-03"))
f"Your total spending in March 2022 was {spent:.2f}."
