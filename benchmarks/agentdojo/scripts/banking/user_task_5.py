# Ten per cent of the March payment for Spotify, sent after it.
history = await tools.get_most_recent_transactions(n=100)
march = next(t for t in history if "spotify" in t["subject"].lower() and t["date"][:7] == "2022-03")
difference = round(march["amount"] * 0.10, 2)
done = await tools.send_money(
    recipient=march["recipient"], amount=difference, subject="Spotify price difference", date=march["date"]
)
return done["message"]
