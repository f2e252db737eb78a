"""The command line ``placebench``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise

from bench.cli.signals import Ending

DONE, FAILED, USAGE, INTERRUPTED, UNREAD = 0, 1, 2, 130, 141


class Unread(Exception):  # noqa: N818 - an end, not an error
    """The reader of the output has left before a command was through; it has been told."""


class Interrupted(Exception):  # noqa: N818 - as Unread
    """A command was interrupted, and has told what it kept."""


class UsageError(ValueError):
    """A request that cannot be understood; the message says what would be."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns
    -------
    int
        0 done; 1 something that was asked for failed; 2 the request cannot be understood; 128 and
        the number of the signal that ended it: 130 interrupted, 143 SIGTERM; 141 where `run` ended
        early because its output is not read any more.
    """
    code = FAILED
    with Ending() as ending:
        try:
            code = _main(arguments)
        except (KeyboardInterrupt, OSError):  # OSError: after SIGHUP there is no terminal to tell
            if ending.received is None:
                raise
        except Exception as error:
            # Compiled modules that a signal strikes while they are imported make an ImportError of
            # it, callbacks of solvers an error of their own.
            if ending.received is None:
                raise
            with suppress(OSError):
                what = f"{type(error).__name__}: {error}".partition("\n")[0]
                print(f"placebench: interrupted ({what})", file=sys.stderr)
    return code if ending.received is None else ending.code


def _main(arguments: Sequence[str] | None) -> int:
    from bench.cli.app import app  # here, so that the exit codes can be used without typer

    try:
        given = list(sys.argv[1:] if arguments is None else arguments)
        _refuse_empty(given)
        code = app(
            args=given,
            prog_name="placebench",
            standalone_mode=False,
        )
        sys.stdout.flush()  # here, where a full disk can still be reported
        if code == INTERRUPTED:  # what typer makes of an interrupt
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        print("placebench: interrupted", file=sys.stderr)
        return INTERRUPTED
    except Interrupted:
        return INTERRUPTED
    except BrokenPipeError:  # `placebench list | head`
        _drop_output()
        return DONE
    except Unread:
        _drop_output()
        return UNREAD
    except SystemExit as end:  # how click and rich end when the reader is gone
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        _drop_output()
        return DONE
    except OSError as error:
        place = error.filename2 or error.filename
        if place is None:  # only writing to a stream names no file
            _drop_output()
            place = "output"
        print(f"placebench: {place}: {error.strerror or error}", file=sys.stderr)
        return FAILED
    except Exception as error:
        if type(error).__name__ == "Abort":  # what click makes of an interrupt
            print("placebench: interrupted", file=sys.stderr)
            return INTERRUPTED
        message = _input_error(error)
        if message is None:
            raise  # a fault of the suite: with its traceback
        if type(error).__name__ == "NoArgsIsHelpError":  # the message is the help
            print(message, file=sys.stderr)
            return USAGE
        print(f"placebench: {message}", file=sys.stderr)
        return USAGE
    return int(code or DONE)


def _refuse_empty(arguments: Sequence[str]) -> None:
    """Refuse empty values, most often of a shell variable that is not set.

    Nothing here has a use for one, and an empty path would be the current folder.

    Raises
    ------
    UsageError
        If there is one; it names the option.
    """
    for before, each in pairwise(["", *arguments]):
        if not each.strip():
            where = before if before.startswith("-") else "an argument"
            raise UsageError(f"{where}: the value is empty")
        if each.startswith("--") and each.endswith("="):
            raise UsageError(f"{each[:-1]}: the value is empty")


def _drop_output() -> None:
    """Let what is still buffered go nowhere, or Python fails at its end once more."""
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _input_error(error: Exception) -> str | None:
    """The message of an error in what was asked for or in a file; None for any other error."""
    # Imported only now that something went wrong: start-up must not wait for them.
    from bench.entries import EntryError
    from bench.selection import SelectionError
    from problems.files import FileError

    if isinstance(error, UsageError | EntryError | SelectionError | FileError):
        return str(error)
    # Typer brings its own copy of click or uses the installed one, by version: its usage errors
    # are told by what they can do.
    if hasattr(error, "format_message"):
        return str(error.format_message())
    return None
