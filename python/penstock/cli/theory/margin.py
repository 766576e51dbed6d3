"""`penstock theory margin`: the report of :mod:`penstock.theory.margin`, as text or JSON."""

import json as json_text
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import typer

from penstock.cli.locate import find
from penstock.cli.theory.options import ScenarioOptions
from penstock.quantity_text import bit_rate, duration, octets
from penstock.theory.configuration import configuration
from penstock.theory.margin import Jump, Limit, LimitCycle, MarginReport, Side, Swing, report
from penstock.theory.packet_oscillation import PacketOscillation, doubts, simulate
from penstock.theory.smcc_growth import Growth

_SHOWN = 5
"""Parameters that are listed; JSON has all."""


def show_margin(asked: ScenarioOptions, *, at_s: float | None, packets: bool, json: bool) -> None:
    """Print the margins of a scenario, and beside its word on stability the queue of packets."""
    scenario = find(asked.scenario, asked.sets)
    given = configuration(scenario, scheme=asked.scheme, profile=asked.profile, at_s=at_s, binding=True)
    found = report(given)
    seen = simulate(scenario, found, scheme=asked.scheme, profile=asked.profile) if packets else None
    if json:
        typer.echo(json_text.dumps(document(scenario.name, found, seen), indent=2))
        return
    typer.echo(f"{scenario.name}: {found.model}")
    typer.echo(
        f"{given.flows} flows at {given.queue}, {bit_rate(given.capacity_bps)} for them, "
        f"round trip {duration(given.round_trip_s)} without the queue"
    )
    typer.echo("equilibrium: " + ", ".join(f"{key} {value:.6g}" for key, value in found.equilibrium.items()))
    if given.left_out:
        others = _shortly(given.left_out)
        full = f"; {_shortly(given.other_bottlenecks)} is full too" if given.other_bottlenecks else ""
        typer.echo(
            f"{given.queue} is the bottleneck that leaves a flow least, {bit_rate(given.fair_rate_bps)}{full}; flows "
            f"that do not cross it are left out: {others}"
        )
    against = doubts(given)
    for doubt in against:
        typer.echo(f"note: {doubt}")
    for side in found.sides:
        _print_side(side, applies=not against)
    if found.limit_cycle is not None:
        _print_cycle(found.limit_cycle)
    if found.jump is not None:
        _print_jump(found.jump, given.frame_octets)
    if found.swing is not None:
        _print_swing(found.swing)
    if given.pause is not None:
        _print_pauses(found)
    if seen is not None:
        _print_packets(found, seen)


def document(name: str, found: MarginReport, seen: PacketOscillation | str | None = None) -> dict[str, Any]:
    """The report as JSON has it: null stands for an infinite or unknown value, and for packets not simulated."""
    given = found.configuration
    return {
        "scenario": name,
        "scheme": given.scheme,
        "model": found.model,
        "configuration": {
            "queue": given.queue,
            "flows": given.flows,
            "capacity_bps": given.capacity_bps,
            "round_trip_s": given.round_trip_s,
            "start_s": given.start_s,
            "stop_s": _number(given.stop_s),
        },
        "equilibrium": {key: _number(value) for key, value in found.equilibrium.items()},
        "sides": [
            {
                "mode": side.mode,
                "stable": side.stable,
                "phase_margin_degrees": _number(math.degrees(side.phase_rad)),
                "gain_margin": _number(side.gain),
                "delay_margin_s": _number(side.delay_s),
                "crossing_rad_s": _number(side.crossing_rad_s),
                "stable_delays_s": _spans(side.stable_delays_s),
                "roots_rad_s": [[root.real, root.imag] for root in side.roots],
                "limiting_parameter": asdict(side.limits[0]) if side.limits else None,
                "limits": [asdict(limit) for limit in side.limits],
            }
            for side in found.sides
        ],
        "limit_cycle": None if found.limit_cycle is None else _cycle(found.limit_cycle),
        "about_k_max": None if found.jump is None else _plain(asdict(found.jump)),
        "swing": None if found.swing is None else _plain(asdict(found.swing)),
        "pauses": None if found.pauses is None else _plain(asdict(found.pauses)),
        "omits": list(found.omits),
        "left_out": list(given.left_out),
        "other_bottlenecks": list(given.other_bottlenecks),
        "applies": not doubts(given),
        "doubts": list(doubts(given)),
        "packets": None if not isinstance(seen, PacketOscillation) else _plain(asdict(seen)),
    }


def _cycle(cycle: LimitCycle) -> dict[str, Any]:
    return {
        "delay_s": cycle.delay_s,
        "onset_delay_s": _number(cycle.small.onset_s),
        "critical_delay_s": _number(cycle.large.onset_s),
        "longest_delay_s": cycle.large.longest_s,
        "small_oscillations_last_s": _spans(cycle.small.spans_s),
        "large_oscillations_grow_s": _spans(cycle.large.spans_s),
        "large_oscillations_die_again_s": _spans(cycle.large.windows_s),
        "describing_function": {key: _number(value) for key, value in asdict(cycle.describing).items()},
        "integrated": {key: _number(value) for key, value in asdict(cycle.integrated).items()},
        "utilization": cycle.utilization,
    }


def _spans(spans_s: tuple[tuple[float, float], ...]) -> list[list[float | None]]:
    """Intervals of delay; null where one has no end."""
    return [[_number(start), _number(stop)] for start, stop in spans_s]


def _print_side(side: Side, *, applies: bool) -> None:
    typer.echo("")
    beyond = "" if applies else ", beyond the range of its model"
    typer.echo(f"{side.mode}: the fluid is {'stable' if side.stable else 'unstable'}{beyond}")
    typer.echo(f"  phase margin  {_finite(math.degrees(side.phase_rad), ' degrees')}")
    typer.echo(f"  gain margin   {_finite(side.gain, ' times')}")
    typer.echo(f"  delay margin  {_finite(side.delay_s * 1e6, ' us')}")
    if math.isfinite(side.crossing_rad_s):
        period = 2 * math.pi / side.crossing_rad_s
        typer.echo(f"  at            {side.crossing_rad_s:.4g} rad/s, a period of {duration(period)}")
    if len(side.stable_delays_s) > 1 or (side.stable_delays_s and not side.stable):
        spans = ", ".join(_span(start, stop) for start, stop in side.stable_delays_s)
        windows = " (windows of stability)" if len(side.stable_delays_s) > 1 else ""
        typer.echo(f"  stable at     delays of the loop of {spans}{windows}")
    root = side.roots[0]
    typer.echo(f"  first root    {root.real:.4g} ± {abs(root.imag):.4g} j rad/s")
    for index, limit in enumerate(side.limits[:_SHOWN]):
        label = "  limited by    " if index == 0 else "  then          "
        typer.echo(f"{label}{_limit(limit)}")
    if not side.limits:
        typer.echo("  no single parameter changes that, from a thousandth to a thousand times its value")


def _print_packets(found: MarginReport, seen: PacketOscillation | str) -> None:
    typer.echo("")
    if isinstance(seen, str):
        typer.echo(f"packets: not simulated; {seen}")
        return
    span = f"{duration(seen.start_s)} to {duration(seen.stop_s)}"
    spread = f"{octets(seen.mean_octets)} ± {octets(seen.std_octets)}, at most {octets(seen.max_octets)}"
    amplitude = octets(seen.amplitude_octets)
    typer.echo(f"packets, {span}: queue {spread}, amplitude {amplitude}; utilization {seen.utilization:.4f}")
    typer.echo(f"packets {seen.verdict}: {_compared(found, seen)}")


def _compared(found: MarginReport, seen: PacketOscillation) -> str:
    """What the fluid says beside what packets do, in a clause."""
    rest = octets(seen.rest_octets)
    does = f"the queue of packets {'stays there' if seen.calm else 'does not stay there'}"
    if found.pauses is not None:
        return f"the mean of the queue is {'' if seen.verdict == 'confirm' else 'not '}that of the fluid under pauses"
    if not found.sides:
        return f"mean and amplitude of the queue are {'' if seen.verdict == 'confirm' else 'not '}those of the fluid"
    if found.stable and not seen.calm:
        return f"the fluid is stable at {rest}, and {does}: the margin says nothing of how far it swings"
    return f"the fluid is {'stable' if found.stable else 'unstable'} at {rest}, and {does}"


def _shortly(names: Sequence[str]) -> str:
    return f"{names[0]} and {len(names) - 1} more" if names[1:] else names[0]


def _print_cycle(cycle: LimitCycle) -> None:
    typer.echo("")
    typer.echo("the equilibrium lies on the switching lines: limit cycle instead of margins")
    typer.echo(f"  delay of the loop                       {duration(cycle.delay_s)}")
    for label, found in (("small oscillations last", cycle.small), ("large oscillations grow", cycle.large)):
        typer.echo(f"  {label + ' at delays of':<40}{_delays(found)}")
    for start, stop in cycle.large.windows_s:
        typer.echo(f"  {'window: large ones die again at':<40}{_span(start, stop)}")
    for label, size_of in (("describing function", cycle.describing), ("integrated", cycle.integrated)):
        size = size_of.amplitude_octets
        amplitude = _finite(size, " octets") if math.isfinite(size) else "no bound but buffer and rates"
        period = f", period {duration(size_of.period_s)}" if math.isfinite(size_of.period_s) else ""
        typer.echo(f"  {label + ', amplitude':<40}{amplitude}{period}")
    typer.echo(f"  utilization                             {cycle.utilization:.4f}")


def _delays(found: Growth) -> str:
    if not found.spans_s:
        return f"none up to {duration(found.longest_s)}"
    if found.spans_s == ((0.0, math.inf),):
        return "any length"
    return ", ".join(_span(start, stop) for start, stop in found.spans_s)


def _span(start_s: float, stop_s: float) -> str:
    return f"{duration(start_s)} {f'to {duration(stop_s)}' if math.isfinite(stop_s) else 'and more'}"


def _print_jump(jump: Jump, frame_octets: float) -> None:
    typer.echo("")
    typer.echo(
        f"no equilibrium: it needs marks with probability {jump.mark:.3g}; p_max is {jump.p_max:.3g}, and from k_max "
        "on all frames are marked"
    )
    cycle = jump.cycle
    if cycle.amplitude_octets < frame_octets:
        typer.echo(f"  the queue slides along k_max, {octets(jump.k_max_octets)}: it stays there to less than a frame")
    else:
        period = f", period {duration(cycle.period_s)}" if math.isfinite(cycle.period_s) else ""
        typer.echo(
            f"  limit cycle about k_max, {octets(jump.k_max_octets)}: its amplitude is "
            f"{octets(cycle.amplitude_octets)}{period}"
        )
    typer.echo(f"  mean of the queue   {octets(jump.mean_octets)}")
    typer.echo(f"  delay of the loop   {duration(jump.delay_s)}")
    typer.echo(f"  utilization         {jump.utilization:.4f}")
    typer.echo("  with a larger p_max, fewer flows or a smaller r_ai there is an equilibrium below k_max")


def _print_swing(swing: Swing) -> None:
    typer.echo("")
    typer.echo(swing.reason)
    cycle = swing.cycle
    period = f", period {duration(cycle.period_s)}" if math.isfinite(cycle.period_s) else ""
    typer.echo(f"  integrated: queue {octets(swing.mean_octets)}, amplitude {octets(cycle.amplitude_octets)}{period}")
    typer.echo(f"  utilization {swing.utilization:.4f}")


def _print_pauses(found: MarginReport) -> None:
    pause, held = found.configuration.pause, found.pauses
    if pause is None:
        return
    typer.echo("")
    if held is None:
        typer.echo(f"flow control stops the sources at {octets(pause.xoff_octets)}: small oscillations do not meet it")
        return
    typer.echo(f"flow control stops the sources at {octets(pause.xoff_octets)}, below the equilibrium of the scheme")
    typer.echo(f"  a source is stopped  {held.held_share:.1%} of the time; its limiter is at {bit_rate(held.rate_bps)}")
    typer.echo(f"  integrated: queue    {octets(held.mean_octets)} ± {octets(held.std_octets)}")
    typer.echo(f"  utilization          {held.utilization:.4f}")


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _plain(value) if isinstance(value, dict) else value if isinstance(value, str) else _number(value)
        for key, value in values.items()
    }


def _limit(limit: Limit) -> str:
    return f"{limit.parameter} = {limit.value:.6g}; border at {limit.border:.6g} ({limit.factor:.4g} times)"


def _finite(value: float, unit: str) -> str:
    if math.isfinite(value):
        return f"{value:.4g}{unit}"
    return "none of any size" if value > 0 else "no value is enough"


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
