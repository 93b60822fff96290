"""The command line: its pure parts alone, and the whole command as a person or a program runs it."""
