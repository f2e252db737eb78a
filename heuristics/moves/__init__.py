"""What an answer is worth after one unit has moved, for all units and devices: a file a problem."""
