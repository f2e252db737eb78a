"""What the heuristics share; no module in here is an entry of its own."""
