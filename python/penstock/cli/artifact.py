"""`penstock artifact`: results folders as one archive, and its check."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import completion
from penstock.cli.failure import Commands

app = typer.Typer(
    name="artifact",
    cls=Commands,
    help="Results folders as one archive, with versions and hashes, that anybody can check and repeat.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.command("write", short_help="Pack results folders.")
def write(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR…", autocompletion=completion.folder, help="Results folders.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE.zip", help="The archive.")],
) -> None:
    """Pack results folders with their scenarios, versions of all packages, hashes and a page on how to repeat them."""
    from penstock.artifacts import pack

    written = pack(folders, out)
    typer.echo(f"{written}: {written.stat().st_size:,} octets".replace(",", "\u202f"))
    typer.echo(f"anybody repeats it with: penstock artifact check {written.name}")


@app.command("check", short_help="Check an archive: its hashes, and its runs once more.")
def check(
    archive: Annotated[Path, typer.Argument(metavar="FILE.zip", help="What `penstock artifact write` wrote.")],
    repeat: Annotated[bool, typer.Option("--repeat/--no-repeat", help="Run every run again.")] = True,
) -> None:
    """Compare each file with its hash, run each scenario again, and compare the results to the last bit.

    Status 1 says that something is otherwise.
    """
    from penstock.artifacts import check as check_archive

    def tell(name: str, otherwise: str) -> None:
        typer.echo(f"{name}: {otherwise or 'the same'}")

    found = check_archive(archive, repeat=repeat, progress=tell)
    for name in found.changed:
        typer.echo(f"{name}: not as it was packed")
    typer.echo(f"{found.files} files as they were packed, {len(found.changed)} not")
    if not found.same:
        raise typer.Exit(1)
