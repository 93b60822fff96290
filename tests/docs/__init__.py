"""The documentation runs: every program in it, and every output it shows."""
