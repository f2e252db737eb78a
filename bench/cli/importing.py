"""``placebench import``: instances and answers from the formats of others."""

from __future__ import annotations

import typer

app = typer.Typer(
    name="import",
    help="Bring instances and answers from other formats; every import writes a file to use.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _formats() -> None:
    """Bring instances and answers from other formats; every import writes a file to use."""
