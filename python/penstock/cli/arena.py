"""`penstock arena`: its options."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import completion, options
from penstock.cli.bounds import MOST_SEEDS, MOST_TRIALS


def arena(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="ARENA.toml",
            autocompletion=completion.toml_file,
            help="The file of an arena.  [default: Penstock's own]",
        ),
    ] = None,
    workloads: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,…",
            autocompletion=completion.workloads,
            help="The workloads, separated by commas.  [default: all]",
        ),
    ] = None,
    competitors: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,…",
            autocompletion=completion.competitors,
            help="Schemes and variants that the file names, separated by commas.  [default: all]",
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, max=MOST_SEEDS, metavar="N", help="Number of seeds, from 1 on.")] = 1,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Runs and report.")] = Path("results/arena"),
    tune: Annotated[
        int,
        typer.Option(
            min=0,
            max=MOST_TRIALS,
            metavar="N",
            help="Tune each scheme with N simulated points, too, and rank them once more.  [default: 0, no]",
            show_default=False,
        ),
    ] = 0,
    resume: Annotated[bool, options.RESUME] = False,
    list_: Annotated[bool, typer.Option("--list", help="Print workloads and competitors, and run nothing.")] = False,
    jobs: Annotated[int | None, options.JOBS] = None,
    ray: Annotated[str | None, options.RAY] = None,
    json: Annotated[bool, options.JSON] = False,
    quiet: Annotated[bool, options.QUIET] = False,
) -> None:
    """Run every workload with every scheme, on all cores, and write one report: ranks, a page for each of them.

    Each run is kept when it has finished: after Ctrl-C, a kill or a full disk, --resume goes on. It adds more seeds,
    workloads or competitors, too.
    """
    from penstock.cli.arena_runs import Asked, arena_all, show_entries

    asked = Asked(
        file=file, workloads=options.words(workloads), competitors=options.words(competitors), seeds=seeds, tune=tune
    )
    if list_:
        show_entries(asked, as_json=json)
    else:
        arena_all(asked, out=out, resume=resume, workers=jobs, ray=ray, json=json, quiet=quiet)
