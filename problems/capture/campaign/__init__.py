"""Everything a machine offers, measured in one call with a deadline; see ``__main__``.

What runs on the measured machine (all modules but ``adopt``) needs torch, numpy and the standard
library only.
"""
