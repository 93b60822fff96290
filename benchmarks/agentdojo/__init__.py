"""The public AgentDojo suites, solved by scripts that reach the suite's own tools through ringfence."""
