"""What a boundary does, end to end and by its public names only."""
