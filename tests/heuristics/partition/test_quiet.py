import ctypes
import os

import pytest

from heuristics.partition.quiet import quiet


def fail(library):
    with quiet():
        library.puts(b"in an error")
        raise ValueError("as it is")


def test_nothing_of_a_library_reaches_standard_output(capfd):
    library = ctypes.CDLL(None)
    print("before")
    with quiet():
        library.puts(b"buffered")
        os.write(1, b"direct\n")
    with pytest.raises(ValueError, match="as it is"):
        fail(library)
    print("after")
    assert capfd.readouterr().out == "before\nafter\n"
