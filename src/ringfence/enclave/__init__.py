"""Scripts that a model wrote: the jailed guest, its protocol, and the door it calls through."""
