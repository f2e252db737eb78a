"""Models for solvers that the suite does not know, and what these make of them."""
