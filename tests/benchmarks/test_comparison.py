"""The timed comparison: ``pytest --benchmark``; not collected without that option.

The figure of pytest-benchmark is the method's own clock, without the start of its process; the gap
and the rest are in `extra_info`.
"""

from __future__ import annotations

import pytest

from bench.comparison import method_clock


@pytest.mark.benchmark(timer=method_clock)
@pytest.mark.timeout(0)  # every run has a limit of its own, which may be long
def test_run(benchmark, placebench_job):
    benchmark.group = placebench_job.instance.id
    record = benchmark.pedantic(placebench_job.run, rounds=1, iterations=1)
    told = placebench_job.told(record)
    benchmark.extra_info.update(told)
    assert record.check != "invalid", told["reason"]
    assert record.termination not in ("crash", "error", "memory-limit"), told["reason"]
