"""The commands between scenarios and other people's files, as `penstock.cli` lists them."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import completion, options


def import_scenario(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…",
            help="A network and its traffic: topology and flows of HPCC, with its config.txt if there is one; .topo "
            "and .cm of htsim; or a network and a distribution of flow sizes.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The scenario: a name that ends in .toml.")],
    scheme: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            autocompletion=completion.scheme,
            help="The scheme that it runs.  [default: that of config.txt, or none]",
        ),
    ] = None,
    transport: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The flows' transport: a name, or a table of TOML with parameters.  [default: that of config.txt, or "
            "go-back-n]",
        ),
    ] = None,
    pfc: Annotated[
        bool | None,
        typer.Option("--pfc/--no-pfc", help="Flow control of HPCC's switches.  [default: that of config.txt, or on]"),
    ] = None,
    sets: Annotated[list[str] | None, options.SETS] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace that file if it exists.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No notes.")] = False,
) -> None:
    """Make a scenario of the files of HPCC's simulator and its kin, or of htsim.

    A feature beyond scenarios is refused with file, line and reason; a fact that the files lack is noted.
    """
    from penstock.cli.exchange import import_one

    chosen = {"scheme": scheme, "transport": transport, "pfc": pfc}
    import_one(files, out=out, chosen=chosen, sets=sets or [], force=force, quiet=quiet)


def export_scenario(
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO",
            autocompletion=completion.scenario,
            help="A scenario file or name, or a results folder, whose completed flows are written too (hpcc).",
        ),
    ],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder for the files.")],
    to: Annotated[
        str, typer.Option("--to", metavar="FORMAT", autocompletion=completion.formats, help="hpcc or htsim.")
    ],
    sets: Annotated[list[str] | None, options.SETS] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, max=options.LARGEST_SEED, metavar="N", help="Seed of all random streams.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files of these names if they exist.")] = False,
    limit: Annotated[int, options.LIMIT] = 1,
) -> None:
    """Write a scenario as files of HPCC's simulator or of htsim: network and flows.

    A setting that the files cannot express is refused with key and reason, before anything is written.
    """
    from penstock.cli.exchange import export_one

    export_one(scenario, folder, to=to, sets=sets or [], seed=seed, force=force, limit=limit)
