"""`penstock theory sliding`: the verdict of theorem 2 or 3 on each period of a scenario, as text or JSON."""

import json as json_text
import math
from dataclasses import asdict
from typing import Any

import typer

from penstock.cli.failure import InputError
from penstock.cli.locate import find
from penstock.cli.progress import Progress
from penstock.cli.theory.options import ScenarioOptions
from penstock.quantity_text import bit_rate, duration, octets, share
from penstock.theory.configuration import Configuration, suited_configurations
from penstock.theory.equilibrium import equilibrium
from penstock.theory.margin import cycle, why_confined
from penstock.theory.models import model_of
from penstock.theory.planar import MODELS, Model
from penstock.theory.sliding import Verdict, along, verdict

# The course right after a change of the traffic is a response to it, and no oscillation.
_SETTLE_S = 0.3


def show_sliding(
    asked: ScenarioOptions,
    *,
    model: str,
    offset_octets: float | None,
    target_bps: float | None,
    simulate: bool,
    json: bool,
) -> None:
    """Print the verdicts."""
    chosen = reading(model)
    scenario = find(asked.scenario, asked.sets)
    periods, left_out = suited_configurations(scenario, scheme=asked.scheme, profile=asked.profile)
    verdicts = [verdict(given, model=chosen, offset_octets=offset_octets, target_bps=target_bps) for given in periods]
    documents = [_document(given, found) for given, found in zip(periods, verdicts, strict=True)]
    if simulate:
        if verdicts[0].theorem == 3:
            raise InputError(
                "--simulate has no use here: theorem 3 holds in every state", "leave it out, or add --scheme qcn"
            )
        if not any(_settles(given) for given in periods):
            short = f"--simulate: no period is longer than {duration(_SETTLE_S)}, in which queues settle"
            raise InputError(short, "for instance --set duration='1 s'")
        with Progress(quiet=json) as progress:
            result = scenario.run(scheme=asked.scheme, profile=asked.profile, progress=progress.task(periods[0].scheme))
        if result.interrupted:
            raise KeyboardInterrupt
        for given, document in zip(periods, documents, strict=True):
            taken = along(result, given, model=chosen, settle_s=_SETTLE_S) if _settles(given) else None
            document["simulated"] = None if taken is None else asdict(taken)
    if json:
        whole = {
            "scenario": scenario.name,
            "scheme": periods[0].scheme,
            "periods": _plain(documents),
            "left_out": [why.reason for why in left_out],
        }
        typer.echo(json_text.dumps(whole, indent=2))
        return
    typer.echo(f"{scenario.name}: theorem {verdicts[0].theorem} of Jiang et al. 2015, model {chosen}")
    for why in left_out:
        typer.echo(f"left out: {why.reason}")
    for given, found, document in zip(periods, verdicts, documents, strict=True):
        _print(given, found, document)


def _settles(given: Configuration) -> bool:
    """Whether a period lasts longer than the response to a change of the traffic."""
    return given.stop_s - given.start_s > _SETTLE_S


def _print_outrun(given: Configuration, found: Verdict) -> None:
    """Say why packets oscillate where theorem 2 has a slide."""
    moved, reach = ((frames or 0) * given.frame_octets for frames in (found.sample_frames, found.reach_frames))
    for line in (
        "in packets it oscillates all the same: the theorem takes messages for a stream without gaps. They are",
        f"samples {duration(found.sample_s or 0)} apart, in which each per cent of excess moves the queue by "
        f"{octets(moved)}, out of a reach of {octets(reach)}.",
        f"And R(0) is the rate before the last cut, soon near the fair share of {bit_rate(given.fair_rate_bps)}, "
        "where the reach is next to nothing",
    ):
        typer.echo(f"  {line}")


def reading(word: str) -> Model:
    """Return the model that a word names."""
    for model in MODELS:
        if word == model:
            return model
    raise InputError(f"--model {word}: unknown model", f"the models are {' and '.join(MODELS)}")


def _document(given: Configuration, found: Verdict) -> dict[str, Any]:
    document: dict[str, Any] = {
        "start_s": given.start_s,
        "stop_s": given.stop_s,
        "queue": given.queue,
        "flows": given.flows,
        "capacity_bps": given.capacity_bps,
        "link_bps": given.link_bps,
        **asdict(found),
    }
    if found.theorem == 3:
        document["equilibrium"] = asdict(equilibrium(given))
        model = model_of(given)
        document["limit_cycle"] = None if why_confined(model) else asdict(cycle(model))
    else:
        document["outrun"] = found.outrun
    return document


def _plain(value: Any) -> Any:
    """Write an infinite value, or one that is no number, as null."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _print(given: Configuration, found: Verdict, document: dict[str, Any]) -> None:
    left = "" if given.capacity_bps == given.link_bps else f" of {bit_rate(given.link_bps)}"
    typer.echo(
        f"\n{given.start_s:g} to {given.stop_s:g} s: {given.flows} flows at {given.queue}, "
        f"{bit_rate(given.capacity_bps)}{left} for them"
    )
    if found.theorem == 3:
        typer.echo(f"  slides from {'any state' if found.slides else 'no state'}")
    elif found.word == "always":
        typer.echo("  slides from any queue above the target, if the target rates add up to the link")
    else:
        typer.echo(
            f"  slides near the target: up to {found.reach_frames:.3g} frames above it "
            "for each per cent of target rates above the fair share"
        )
    if found.offset_frames is not None and found.target_bps is not None:
        above = octets(found.offset_frames * given.frame_octets)
        word = "slides" if found.slides else "does not slide"
        typer.echo(f"  with the queue {above} above the target, target rates of {bit_rate(found.target_bps)}: {word}")
    for side in found.sides:
        holds = "holds" if side.holds else "does not hold"
        numbers = f"{side.left:.4g} {side.relation} {side.right:.4g} {side.unit}".rstrip()
        typer.echo(f"    {side.name}: {numbers}, {holds}")
    if "equilibrium" in document:
        settled = document["equilibrium"]
        words = {
            "target": "settles at the target",
            "below": f"settles {octets(settled['balance_octets'])} below the target or more: the deal-breaker",
            "anywhere": "stays wherever the rates first balance: the deal-breaker",
        }
        typer.echo(f"  {words[settled['place']]} (beta/alpha of a frame: {octets(settled['balance_octets'])})")
        cycle = document["limit_cycle"]
        if cycle is not None and cycle["amplitude_octets"] >= given.frame_octets:
            period = f", period {duration(cycle['period_s'])}" if math.isfinite(cycle["period_s"]) else ""
            typer.echo(
                f"  so without delay; with the loop's {duration(given.round_trip_s)} there is a limit cycle: "
                f"an amplitude of {octets(cycle['amplitude_octets'])}{period} (`penstock theory margin`)"
            )
    if found.outrun:
        _print_outrun(given, found)
    if "simulated" in document:
        run = document["simulated"]
        if run is None:
            typer.echo(f"  simulated: nothing is left of the period after the first {duration(_SETTLE_S)}")
            return
        holds = (
            f"(24) holds in {share(run['holds_share'])} of the samples above the target"
            if math.isfinite(run["holds_share"])
            else "no sample is above the target"
        )
        typer.echo(f"  simulated: {holds}; deviation of the queue {octets(run['deviation_octets'])}")
