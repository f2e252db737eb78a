"""Tests mirror the packages; :mod:`tests.brute_force` is what the differential ones share."""
