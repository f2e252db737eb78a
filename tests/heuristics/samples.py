"""Random instances that the heuristics' tests share; conformance draws from the same."""

from problems.generate.samples import KINDS, of_every_kind, sample, samples

__all__ = ["KINDS", "of_every_kind", "sample", "samples"]
