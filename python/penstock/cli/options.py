"""Options and arguments that several commands have."""

import typer

from penstock.cli import completion
from penstock.cli.bounds import MOST_WORKERS

LARGEST_SEED = 2**63 - 1
"""TOML has no larger whole numbers."""

SCENARIO = typer.Argument(
    metavar="SCENARIO",
    autocompletion=completion.scenario,
    help="A scenario file, or a name that `penstock scenarios` lists, such as netfpga/one-source-100us.",
)
JSON = typer.Option("--json", help="Print one JSON object on standard output and nothing else there.")
SETS = typer.Option(
    "--set",
    metavar="KEY=VALUE",
    autocompletion=completion.key,
    help="Set a key of the scenario, such as schemes.qcn.q_eq='33 KB'. Repeatable.",
)
READING = typer.Option(
    "--set",
    metavar="KEY=VALUE",
    help="Try another reading: set a key of the papers' profile, such as schemes.qcn.efr=off. Repeatable.",
)
SEARCH = typer.Option(
    "--search",
    help="Look for the reading of PAPER, of those in its readings.toml, under which most claims hold. Goes on with a "
    "search that was ended.",
)
FORCE = typer.Option("--force", help="Replace the output folder if it exists.")
LIMIT = typer.Option(
    "--limit",
    min=1,
    max=1000,
    metavar="N",
    help="Allow N times as many nodes, flows, hops, rows, frames … as a scenario may ask for.",
)
RAY = typer.Option(
    "--ray",
    metavar="HOST:PORT|local",
    help="Run on a Ray cluster that this machine is a node of, named by its head; local makes one here.",
)
VARIANTS = typer.Option(
    "--variant",
    metavar="NAME=SCHEME;KEY=VALUE;…",
    help="Another line: a scheme with other settings. Repeatable.",
)
PROFILE = typer.Option(
    "--profile", metavar="NAME", autocompletion=completion.profile, help="The schemes' named settings."
)
RESUME = typer.Option("--resume", help="Continue in DIR: run what is missing, failed or has changed.")
RESUME_COMPARISON = typer.Option(
    "--resume", help="Keep each finished run in DIR.unfinished, and reuse those that are there."
)
JOBS = typer.Option(
    "--jobs", min=1, max=MOST_WORKERS, metavar="N", help="Runs at a time.  [default: all cores]", show_default=False
)
QUIET = typer.Option("--quiet", "-q", help="No progress and no table; messages of errors alone.")


def words(listed: str | None) -> list[str]:
    """Return the entries of a list separated by commas."""
    return [] if listed is None else [word.strip() for word in listed.split(",")]
