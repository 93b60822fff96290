"""Whether a call may happen, now, in this run: rules that judge what they are shown, and do nothing themselves."""
