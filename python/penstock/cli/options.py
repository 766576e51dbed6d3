"""Options and arguments that several commands have, and groups of them as classes."""

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import TYPE_CHECKING, Any

import typer

from penstock.cli import completion

if TYPE_CHECKING:
    from penstock.executors.executor import Executor

LARGEST_SEED = 2**63 - 1
"""TOML has no larger whole numbers."""

# Larger numbers are a slip of the keyboard, and would take all memory.
MOST_SEEDS = 10_000
"""Runs that differ by their seed alone."""

MOST_TRIALS = 100_000
"""Points that a search simulates."""

MOST_WORKERS = 1024
"""Runs at a time."""

MOST_POINTS = 100
"""Simulations along each side of a map."""

LONGEST_S = 1e6
"""For how long a trajectory is followed, s."""

SCENARIO = typer.Argument(
    metavar="SCENARIO",
    autocompletion=completion.scenario,
    help="A scenario file, or a name that `penstock scenarios` lists, such as netfpga/one-source-100us.",
)
JSON = typer.Option("--json", help="Print one JSON object on standard output and nothing else there.")
SEED = typer.Option(min=0, max=LARGEST_SEED, metavar="N", help="Seed of all random streams.")
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
    help="Multiply each limit on the nodes, flows, hops, rows, frames … of a scenario by N.",
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
    "--profile",
    metavar="NAME",
    autocompletion=completion.profile,
    help="A named set of parameters of the schemes, as `penstock schemes NAME` lists them.",
)
RESUME = typer.Option("--resume", help="Continue in DIR: run what is missing, failed or has changed.")
RESUME_COMPARISON = typer.Option(
    "--resume", help="Keep each finished run in DIR.unfinished, and reuse those that are there."
)
JOBS = typer.Option(
    "--jobs", min=1, max=MOST_WORKERS, metavar="N", help="Runs at a time.  [default: all cores]", show_default=False
)
REPORT = typer.Option(
    "--report", metavar="FILE.html", help="Write a report, too: one HTML file that needs no network and can be printed."
)
FORCE_REPORT = typer.Option("--force", help="Replace the report if it exists.")
QUIET = typer.Option("--quiet", "-q", help="No progress and no table; messages of errors alone.")


def words(listed: str | None) -> list[str]:
    """Return the entries of a list separated by commas."""
    return [] if listed is None else [word.strip() for word in listed.split(",")]


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that its groups declare: of each parameter whose type is a dataclass, the fields.

    A field is an option as a parameter is: ``Annotated`` with it, and with its default.
    """
    own = list(inspect.signature(command, eval_str=True).parameters.values())
    groups: dict[str, Any] = {
        parameter.name: parameter.annotation for parameter in own if is_dataclass(parameter.annotation)
    }

    @functools.wraps(command)
    def called(**given: Any) -> None:
        for name, group in groups.items():
            # The command line gives `None` for a list without entries, and the group has its default then.
            values = {field.name: given.pop(field.name) for field in fields(group)}
            lists = {field.name for field in fields(group) if field.default_factory is not MISSING}
            given[name] = group(**{key: v for key, v in values.items() if v is not None or key not in lists})
        command(**given)

    expanded = [_parameters(groups[one.name]) if one.name in groups else [one] for one in own]
    return with_parameters(called, [parameter for several in expanded for parameter in several])


def _parameters(group: Any) -> list[inspect.Parameter]:
    return [
        inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=_default(field), annotation=field.type)
        for field in fields(group)
    ]


def _default(field: Any) -> Any:
    if field.default_factory is not MISSING:
        return None
    return inspect.Parameter.empty if field.default is MISSING else field.default


def with_parameters(command: Callable[..., None], parameters: Sequence[inspect.Parameter]) -> Callable[..., None]:
    """Make a command declare these parameters, from which Typer makes its options."""
    # By name alone: an option without default may follow one with.
    named = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    command.__signature__ = inspect.Signature(named, return_annotation=None)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in named} | {"return": None}
    return command


def runs_on(ray: str | None, workers: int | None = None) -> "Executor":
    """Return the executor that the options ask for: the cores of this machine, or a Ray cluster."""
    from penstock.cli.failure import InputError
    from penstock.data_frames import MissingExtraError
    from penstock.executors.local import LocalExecutor

    if ray is None:
        return LocalExecutor(workers)
    from penstock.executors.ray_cluster import RayExecutor

    try:
        return RayExecutor(ray, workers=workers)
    except MissingExtraError as error:
        hint = f"pip install 'penstock[{error.extra}]', or leave --ray out: all cores of this machine are used then"
        raise InputError(f"--ray {ray}: this needs {error.package}, which is not installed", hint) from error
