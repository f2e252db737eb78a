"""The submissions of the repository, checked as everybody's are."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.submissions.checking import Shared, examine, there
from bench.submissions.folder import Folder
from bench.submissions.tracks import TRACKS

ROOT = Path(__file__).resolve().parents[3] / "results" / "submissions"
EXAMPLE = "example-climber"


@pytest.fixture(scope="module")
def shared():
    return Shared(root=ROOT)


@pytest.mark.parametrize("path", there(ROOT), ids=lambda path: path.name)
def test_every_published_submission_passes_every_check(path, shared):
    """One that does not: `placebench submit-check NAME`; ours: `python -m bench.publish`."""
    results = examine(Folder(path), shared)
    assert [(each.check, each.errors) for each in results if each.errors] == []
    assert not any(each.state == "not made" for each in results)


def test_the_example_carries_everything_and_ours_nothing(shared):
    assert len(Folder(ROOT / EXAMPLE).sizes) > 3
    for path in there(ROOT):
        folder = Folder(path)
        assert folder.refers == (folder.sizes.keys() <= {"submission.json"}), path.name


def test_every_track_has_the_entries_that_it_asks_for(shared):
    said = {name.rpartition("-")[::2] for name in shared.siblings()}
    for track in TRACKS:
        for entry in (*track.entries, *track.repeated):
            assert (entry, track.name) in said
