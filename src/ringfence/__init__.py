"""One door for every action of an AI agent."""
