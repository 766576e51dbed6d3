"""`penstock theory phase` and `penstock theory figures`: phase portraits, of a scenario and of Jiang et al. 2015."""

from difflib import get_close_matches
from pathlib import Path

import typer

from penstock.cli.failure import InputError
from penstock.cli.locate import RESULTS, file_to_write, find
from penstock.cli.theory.options import ScenarioOptions
from penstock.cli.theory.sliding import reading
from penstock.figures.style import save
from penstock.theory.configuration import configuration
from penstock.theory.jiang2015_figures import DRAWINGS
from penstock.theory.portrait import portrait

_KINDS = ("png", "svg", "pdf")


def draw_phase(
    asked: ScenarioOptions,
    *,
    at_s: float | None,
    model: str,
    target_bps: float | None,
    starts: list[str],
    duration_s: float | None,
    out: Path | None,
) -> None:
    """Draw a scenario's phase portrait."""
    scenario = find(asked.scenario, asked.sets)
    given = configuration(scenario, scheme=asked.scheme, profile=asked.profile, at_s=at_s)
    path = file_to_write(out or RESULTS / f"phase-{scenario.name}-{given.scheme}.png")
    figure = portrait(
        given,
        model=reading(model),
        target_bps=target_bps,
        starts=[_start(text) for text in starts],
        duration_s=duration_s,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    save(figure, path)
    typer.echo(str(path))


def draw_figures(names: list[str], *, out: Path | None, kind: str) -> None:
    """Draw figures of Jiang et al. 2015."""
    if kind not in _KINDS:
        raise InputError(f"--format {kind}: unknown format", f"use one of {', '.join(_KINDS)}")
    wanted = [_known(name) for name in names] or list(DRAWINGS)
    if out is not None and out.suffix:
        if len(wanted) > 1:
            raise InputError(
                f"--out {out}: {len(wanted)} figures do not fit into one file", "name one figure, or a folder"
            )
        paths = [file_to_write(out)]
    else:
        paths = [file_to_write((out or RESULTS / "theory") / f"{name}.{kind}") for name in wanted]
    paths[0].parent.mkdir(parents=True, exist_ok=True)
    for name, path in zip(wanted, paths, strict=True):
        save(DRAWINGS[name](), path)
        typer.echo(str(path))


def _known(name: str) -> str:
    # "7" for figure-7 as well.
    for full in (name, f"figure-{name}"):
        if full in DRAWINGS:
            return full
    near = get_close_matches(name, DRAWINGS, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(DRAWINGS)}"
    raise InputError(f"{name}: unknown figure", hint)


def _start(text: str) -> tuple[float, float]:
    octets, _, rates = text.partition(",")
    try:
        return float(octets), float(rates)
    except ValueError:
        example = "write, for instance, --start 0,2e9: an empty queue and 2 Gb/s from all sources together"
        raise InputError(f"--start {text}: not of the form OCTETS,BPS", example) from None
