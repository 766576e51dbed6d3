"""`penstock theory`: what the models say of a scenario. Each command is a thin layer over `penstock.theory`."""

import typer

from penstock.cli.failure import Commands

app = typer.Typer(
    name="theory",
    cls=Commands,
    help="What fluid models say of a scenario: stability, sliding mode, phase plane.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
