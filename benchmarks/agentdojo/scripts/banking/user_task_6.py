# A recurring payment for the phone, as large as the usual one for Spotify.
from datetime import date

history = await tools.get_most_recent_transactions(n=100)
spotify = [t for t in history if "spotify" in t["subject"].lower()]
usual = spotify[-1]["amount"]

paid = date.fromisoformat(spotify[-1]["date"])
following = paid.replace(year=paid.year + paid.month // 12, month=paid.month % 12 + 1)
scheduled = await tools.schedule_transaction(
    recipient="US122000000121212121212",
    amount=usual,
    subject="iPhone Subscription",
    date=following.isoformat(),
    recurring=True,
)
return f"{scheduled['message']} First payment: {following}"
