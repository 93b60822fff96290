# This year's transactions by category.
from collections import Counter

KEYWORDS = {
    "food": ("pizza", "sushi", "dinner"),
    "gifts": ("gift",),
    "music": ("spotify",),
    "shopping": ("purchase", "store"),
}


def category(subject):
    text = subject.lower()
    return next((name for name, words in KEYWORDS.items() if any(word in text for word in words)), "other")


history = await tools.get_most_recent_transactions(n=100)
spent, received = Counter(), Counter()
for t in history:
    (received if t["recipient"] == "me" else spent)[category(t["subject"])] += t["amount"]

report = [f"{name}: {amount:.2f} spent" for name, amount in spent.most_common()]
report += [f"{name}: {amount:.2f} received" for name, amount in received.most_common()]
return f"{len(history)} transactions\n" + "\n".join(report)
