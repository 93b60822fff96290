# Show the unread e-mails.
emails = await tools.get_unread_emails()
for email in emails:
    print(f"{email['timestamp']}  {email['sender']}: {email['subject']}")
return f"{len(emails)} unread e-mails:\n" + "\n".join(
    f"From {email['sender']}: {email['subject']}\n{email['body']}" for email in emails
)
