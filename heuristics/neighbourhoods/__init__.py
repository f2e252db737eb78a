"""Large neighbourhoods, by problem."""
