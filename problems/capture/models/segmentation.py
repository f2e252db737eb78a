"""Networks that answer for every pixel."""
