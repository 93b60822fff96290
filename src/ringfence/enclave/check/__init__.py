"""The static check of Python scripts: what can be said about a source without running any of it."""
