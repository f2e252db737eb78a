"""Conformance: whether a method keeps what every method promises, on instances at the edges.

`cases` has the instances, `trials` runs them through the harness, `checks` has the promises.
"""
