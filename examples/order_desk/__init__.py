"""A small shop's order desk: a database, governed tools on it, and a script as a model would write it."""
