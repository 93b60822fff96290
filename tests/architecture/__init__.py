"""Rules about the source itself. Each failure names file, line and the smallest fix."""
