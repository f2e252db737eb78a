"""The command line ``placebench``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns
    -------
    int
        0 done; 1 something that was asked for failed; 2 the request cannot be understood; 130
        interrupted.
    """
    from bench.cli.app import app  # here, so that the exit codes can be used without typer

    try:
        code = app(
            args=list(sys.argv[1:] if arguments is None else arguments),
            prog_name="placebench",
            standalone_mode=False,
        )
    except KeyboardInterrupt:
        print("placebench: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # `placebench list | head`
        sys.stderr.close()
        return DONE
    except Exception as error:
        # Typer brings its own copy of click or uses the installed one, by version: its usage
        # errors are told by what they can do. All of the suite's own input errors are ValueErrors.
        if hasattr(error, "format_message"):
            print(f"placebench: {error.format_message()}", file=sys.stderr)
            return USAGE
        if type(error).__name__ == "Abort":
            return INTERRUPTED
        if isinstance(error, ValueError):
            print(f"placebench: {error}", file=sys.stderr)
            return USAGE
        raise
    return int(code or DONE)
