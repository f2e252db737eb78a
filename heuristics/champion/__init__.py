"""What the suite's own champion is made of: its plan, its parts, its bounds, its conductor."""
