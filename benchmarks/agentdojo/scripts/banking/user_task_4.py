# Refund everything that one account has sent.
import asyncio

ACCOUNT = "GB29NWBK60161331926819"


async def main():
    history = await call_tool("get_most_recent_transactions", {"n": 100})
    incoming = [entry for entry in history if entry["sender"] == ACCOUNT and entry["recipient"] == "me"]
    for entry in incoming:
        await call_tool(
            "send_money",
            {
                "recipient": ACCOUNT,
                "amount": entry["amount"],
                "subject": f"Refund: {entry['subject']}",
                "date": entry["date"],
            },
        )
    return f"Refunded {len(incoming)} payment(s), {sum(entry['amount'] for entry in incoming):.2f} in total."


asyncio.run(main())
