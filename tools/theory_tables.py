"""Prints the tables of docs/explanation/theory, each as its page has it: a row a line, with | between columns.

    python tools/theory_tables.py TABLE …

runs what the table is about, and prints it; without TABLE, it lists them. `settling`, `strikes` and `deal-breaker` take
minutes.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from penstock import Scenario
from penstock.theory import maps, sampled_integrator
from penstock.theory.configuration import Configuration, configuration, configurations
from penstock.theory.limit_cycle import harmonic_balance, settled
from penstock.theory.linear_stability import DelaySystem, loop_margins, margins
from penstock.theory.linearisation import is_at_rest, linearise
from penstock.theory.models import model_of
from penstock.theory.models.bcn import Bcn
from penstock.theory.models.smcc import Smcc
from penstock.theory.overlay import Overlay, overlay, settling_s
from penstock.theory.sampling import StreamSampling
from penstock.theory.sliding import along

import dcqcn_appendix
from sampling_tables import BACKGROUND, COUNTED, DRAWN, HALVED_SEEDS, ROOT, THREE, first_frames, ms, repeats, strikes

TEN_GIG = ROOT / "scenarios/baseline/ten-gig.toml"

SIX_BITS = {"schemes.qcn.quantise": "linear63", "duration": "2 s"}
TABLE = {"schemes.qcn.sampling": "table", "schemes.qcn.qold_update": "every-sample"}
LONG = {"topology.dumbbell.link_delay": "100 us"}
DRAWN_SMCC = {"schemes.smcc.sampling": "probability"}

COUNTED_SEEDS = 128


class Row(NamedTuple):
    """The quantities that are compared."""

    name: str
    scheme: str
    form: str | None
    path: Path
    settings: dict[str, str]
    seeds: int
    strikes: StreamSampling | None = None


ROWS: tuple[Row, ...] = (
    Row("SMCC", "smcc", None, THREE, {}, 4),
    Row("SMCC, continuous", "smcc", "sampled", THREE, {}, 4),
    Row("SMCC, links of 100 µs", "smcc", None, THREE, LONG, 4),
    Row("SMCC, drawn samples", "smcc", None, THREE, DRAWN_SMCC, 16),
    Row("SMCC, two sources, half of the link taken from 2 s on", "smcc", None, BACKGROUND, {}, 4),
    Row("BCN", "bcn", None, THREE, {}, 16),
    Row("BCN, intervals without jitter", "bcn", None, THREE, {"schemes.bcn.sample_jitter": "0"}, 16),
    Row(
        "the same, struck by chance",
        "bcn",
        None,
        THREE,
        {"schemes.bcn.sample_jitter": "0"},
        16,
        StreamSampling.CHANCE,
    ),
    Row("FECN, 0.6 s", "fecn", None, THREE, {"duration": "0.6 s"}, 4),
    Row("FECN, continuous, 0.6 s", "fecn", "interval", THREE, {"duration": "0.6 s"}, 4),
    Row("QCN, counted samples", "qcn", None, THREE, COUNTED, COUNTED_SEEDS),
    Row("QCN, counted, continuous", "qcn", "sampled", THREE, COUNTED, COUNTED_SEEDS),
    Row("QCN, counted, averaged", "qcn", "averaged", THREE, COUNTED, COUNTED_SEEDS),
    Row("QCN, counted, links of 100 µs", "qcn", None, THREE, COUNTED | LONG, COUNTED_SEEDS),
    Row("QCN, counted, links of 100 µs, continuous", "qcn", "sampled", THREE, COUNTED | LONG, COUNTED_SEEDS),
    Row(
        "QCN, counted, two sources, half of the link taken from 2 s on", "qcn", None, BACKGROUND, COUNTED, HALVED_SEEDS
    ),
    Row("the same, struck by chance", "qcn", None, BACKGROUND, COUNTED, HALVED_SEEDS, StreamSampling.CHANCE),
    Row("QCN, drawn samples", "qcn", None, THREE, DRAWN, 64),
    Row("QCN, drawn, continuous", "qcn", "sampled", THREE, DRAWN, 64),
    Row("QCN, drawn, Qold at messages (the profile)", "qcn", None, THREE, {}, 64),
    Row("QCN, drawn, two sources, half of the link taken from 2 s on", "qcn", None, BACKGROUND, DRAWN, HALVED_SEEDS),
    Row("QCN, table, six bits, 2 s", "qcn", None, THREE, TABLE | SIX_BITS, 16),
    Row("QCN, counted, six bits, 2 s", "qcn", None, THREE, COUNTED | SIX_BITS, 64),
)


def settling() -> Iterator[list[str]]:
    """Where fluid and packets rest, and how long they take."""
    yield [
        "",
        "Model",
        "Mean queue, fluid and packets (KB)",
        "Apart, of the buffer",
        "σ (KB)",
        "Settled (ms)",
        "Ratio",
        "Mean settled (ms)",
    ]
    for name, scheme, form, path, settings, seeds, how in ROWS:
        found = beside(path, scheme, form, settings, seeds, how)
        for d in found.distances:
            span = f", {d.start_s:g} to {d.stop_s:g} s" if len(found.distances) > 1 else ""
            rows = (found.time_s > d.start_s) & (found.time_s <= d.stop_s)
            late = rows & (found.time_s >= (d.start_s + d.stop_s) / 2)
            errors = [side[:, 0, late].mean(axis=1).std() / len(side) ** 0.5 for side in (found.fluid, found.packets)]
            error = float(np.hypot(*errors)) / found.buffer_octets
            yield [
                name + span,
                found.form,
                f"{d.fluid_mean_octets / 1e3:.1f}, {d.packet_mean_octets / 1e3:.1f}",
                f"{abs(d.difference):.1%} ± {error:.1%}",
                f"{d.fluid_std_octets / 1e3:.1f}, {d.packet_std_octets / 1e3:.1f}",
                f"{ms(d.fluid_settling_s)}, {ms(d.packet_settling_s)}",
                "" if d.settling_ratio is None else f"{d.settling_ratio:.2f}",
                f"{ms(d.fluid_mean_settling_s)}, {ms(d.packet_mean_settling_s)}",
            ]


def bands() -> Iterator[list[str]]:
    """Median settling times of single runs for bands of several widths."""
    widths = (0.25, 0.35, 0.5)
    yield ["", "σ, of the mean", *(f"Band {band:.0%}: fluid, packets (ms)" for band in widths)]
    for name, settings in (("counted", COUNTED), ("counted, links of 100 µs", COUNTED | LONG), ("drawn", DRAWN)):
        found = beside(THREE, "qcn", None, settings | {"duration": "2 s"}, 96)
        late = found.time_s >= 1
        sides = [side[:, 0] for side in (found.fluid, found.packets)]
        means = [float(side[:, late].mean()) for side in sides]
        spread = [float(side[:, late].std(axis=1).mean()) / mean for side, mean in zip(sides, means, strict=True)]
        cells = []
        for band in widths:
            medians = []
            for side, mean in zip(sides, means, strict=True):
                each = [settling_s(found.time_s, run, mean, band) for run in side]
                medians.append(float(np.median([np.inf if value is None else value for value in each])))
            cells.append(", ".join(ms(value) for value in medians))
        yield [name, ", ".join(f"{value:.0%}" for value in spread), *cells]


def one_rate() -> Iterator[list[str]]:
    """Median settling time of BCN in steps, ms, with three sources and with one rate for all three; 16 runs each."""
    model = Bcn.of(configuration(Scenario.load(THREE), scheme="bcn"))
    # One source of three times the rate, whose cut is a third: the effect of a message on one of three, shared by all.
    shared = model.with_changes(flows=1.0, line_rate_bps=3 * model.line_rate_bps, cut_per_octet=model.cut_per_octet / 3)
    times = np.arange(1e-4, 1.0, 1e-4)
    yield ["Rates", "Settled (ms)"]
    for name, kind in (("one for each source", model), ("one for all", shared)):
        each = []
        for number in range(16):
            random = np.random.default_rng([1, number])
            queue = sampled_integrator.integrate(kind, kind.start(), 1.0, random=random).at(times)[0]
            each.append(settling_s(times, queue, float(queue[len(queue) // 2 :].mean())))
        yield [name, ms(float(np.median([np.inf if value is None else value for value in each])))]


def figure_5() -> Iterator[list[str]]:
    """Theorem 2 along packet runs of the intervals of figure 5, and the queue's deviation (KB); seeds 1 to 3."""
    yield ["Changed", "Interval", "T", "(24) holds along the run", "Deviation of the queue, KB", "Its mean"]
    changes = {
        "": {},
        "Gd doubled": {"gd_inverse": "64"},
        "no timer, R_AI and R_HAI 0.5 Mb/s": {
            "timer_on": "false",
            "rpg_ai_rate": "500 kbps",
            "rpg_hai_rate": "500 kbps",
        },
    }
    for name, settings in changes.items():
        for cycle_octets in ("150 KB", "30 KB"):
            scenario = Scenario.load(ROOT / "scenarios/theory/figure-5.toml")
            for key, value in {"rpg_byte_reset": cycle_octets, **settings}.items():
                scenario.set(f"schemes.qcn.{key}", value)
            runs = [scenario.run(seed=seed) for seed in (1, 2, 3)]
            for given in configurations(scenario):
                found = [along(run, given, settle_s=0.3) for run in runs]
                shares, deviations = [one.holds_share for one in found], [one.deviation_octets / 1e3 for one in found]
                yield [
                    name,
                    f"{given.start_s:g} to {given.stop_s:g} s",
                    cycle_octets,
                    f"{min(shares):.3f} to {max(shares):.3f}",
                    f"{min(deviations):.1f} to {max(deviations):.1f}",
                    f"{np.mean(deviations):.1f}",
                ]


def deal_breaker() -> Iterator[list[str]]:
    """Mean offset of SMCC's queue from its target from 12 to 24 s, KB, and beta/alpha in frames."""
    rbs = (16, 32, 48, 64, 96, 128)
    yield ["Ra, Mb/s", *(f"Rb {rb}" for rb in rbs)]
    for ra in (32, 64, 128, 256):
        cells = []
        for rb in rbs:
            scenario = smcc(ra, rb, "sign-bit", "24 s")
            offsets = [offset_kb(scenario, seed, 12.0) for seed in (1, 2)]
            # alpha = Ra / 64 KB, beta = Rb / 16 KB, a frame of 1 KB.
            cells.append(f"{np.mean(offsets):.1f} ({rb / 16 / (ra / 64):g})")
        yield [str(ra), *cells]


def full_queue() -> Iterator[list[str]]:
    """The same where dQ = 0 counts as state B, from 6 to 12 s, KB."""
    rbs = (16, 32, 64, 128)
    yield ["Ra, Mb/s", *(f"Rb {rb}" for rb in rbs)]
    for ra in (32, 64, 128, 256):
        yield [str(ra), *(f"{offset_kb(smcc(ra, rb, 'state-b', '12 s'), 1, 6.0):.1f}" for rb in rbs)]


def fairness() -> Iterator[list[str]]:
    """Return the ratio of two rates after 2 s, and the distance of ratios from 1; 12 seeds."""
    yield ["", "ln of the ratio after 2 s, over what it was", "its root mean square at 1 s", "5 s", "9 s"]
    for scheme in ("smcc", "bcn"):
        logs = []
        for seed in range(1, 13):
            scenario = Scenario.load(THREE).set("duration", "9.01 s").set("warmup", "1 s")
            for key, value in (("smcc.sampling", "probability"), ("smcc.ra_at", "128 KB"), ("bcn.q_eq", "64 KB")):
                scenario.set(f"schemes.{key}", value)
            run = scenario.run(scheme=scheme, seed=seed)
            names, rates = run.column("rates", "flow"), run.column("rates", "rate_bps").astype(float)
            each = [np.log(rates[names == name][999:9000:2000]) for name in ("s0", "s1", "s2")]
            logs.append([each[a] - each[b] for a, b in ((0, 1), (1, 2), (0, 2))])
        ratio = np.array(logs)
        left_out = [kept(np.delete(ratio, seed, axis=0)) for seed in range(len(ratio))]
        # Jackknife over the seeds.
        error = float(np.sqrt((len(ratio) - 1) * np.var(left_out)))
        root = np.sqrt((ratio**2).mean(axis=(0, 1)))
        yield [scheme, f"{kept(ratio):.3f} ± {error:.3f}", *(f"{value:.2f}" for value in root[[0, 2, 4]])]


def kept(ratio: Any) -> float:
    """The slope of logarithms of ratios over those 2 s before; the last axis is time."""
    before, after = ratio[..., :-1].ravel(), ratio[..., 1:].ravel()
    return float(before @ after / (before @ before))


def cycle() -> Iterator[list[str]]:
    """Amplitude (KB) and period (ms) of SMCC's queue over the delay, one source; the last second of two."""
    yield ["Delay, ms", "describing function", "fluid", "fluid, sample by sample", "packets"]
    for delay_ms in (0.2, 0.4, 0.5, 0.6, 0.8, 0.9, 1.0, 1.2, 1.5):
        given = one_source(delay_ms * 1e3)
        model = model_of(given)
        if not isinstance(model, Smcc):
            raise TypeError(f"{type(model).__name__} is no model of SMCC")
        sine, ends = harmonic_balance(model), settled(model)
        times = np.arange(1.0, 2.0, 5e-5)
        steps = sampled_integrator.integrate(model, model.start(), 2.0).at(times)[0]
        scenario = maps.as_scenario(given, 2.0)
        run = scenario.set("record.interval", "50 us").run()
        time_s = run.column("queues", "time_s").astype(float)
        queue = run.column("queues", "queue_octets").astype(float)[time_s > 1.0]
        yield [
            f"{delay_ms:g}",
            cycle_cell(sine.amplitude_octets, sine.period_s),
            cycle_cell(float(ends.amplitude_octets[0]), float(ends.period_s[0])),
            cycle_cell((steps.max() - steps.min()) / 2, period_s(times, steps)),
            cycle_cell((queue.max() - queue.min()) / 2, period_s(time_s[time_s > 1.0], queue)),
        ]


def dcqcn() -> Iterator[list[str]]:
    """Phase margins of DCQCN as its model has them, degrees: 40 Gb/s, R_AI 40 Mb/s, Kmax 200 KB, Pmax 1 %."""
    yield ["N, delay", "exactly"]
    for flows, delay_us in ((2, 50), (4, 50), (10, 50), (2, 100), (10, 100), (2, 85), (10, 85), (15, 50)):
        base = configuration(Scenario.load(TEN_GIG), scheme="dcqcn")
        parameters = {**base.parameters, "k_min": 5e3, "k_max": 200e3, "p_max": 0.01, "r_ai": 40e6, "g_inverse": 256.0}
        parameters |= {"cnp_interval": 50e-6, "alpha_time": 55e-6, "time_reset": 55e-6, "byte_reset": 10e6, "f": 5.0}
        given = replace(
            base,
            parameters=parameters,
            flows=flows,
            capacity_bps=40e9,
            link_bps=40e9,
            line_rate_bps=40e9,
            frame_octets=1000.0,
            wire_overhead_octets=0.0,
            buffer_octets=10e6,
            forward_delay_s=0.0,
            feedback_delay_s=delay_us * 1e-6,
        )
        model = model_of(given)
        if not is_at_rest(model, 1):
            yield [f"{flows}, {delay_us} µs", "no equilibrium below Kmax"]
            continue
        system = linearise(model, 1)
        found = margins(DelaySystem(system.instant, system.delayed, delay_us * 1e-6))
        yield [f"{flows}, {delay_us} µs", f"{float(np.degrees(found.phase_rad)):.2f}"]


def dcqcn_of_the_appendix() -> Iterator[list[str]]:
    """Return the worth of each difference of the appendix alone in the model's linearisation, degrees."""
    yield ["N, delay", "published", *dcqcn_appendix.CHANGES, "exactly"]
    every = frozenset(dcqcn_appendix.CHANGES)
    for flows, delay_us in ((2, 50), (4, 50), (10, 50), (2, 100), (10, 100)):

        def degrees(mended: frozenset[str], flows: int = flows, delay_us: int = delay_us) -> float:
            p, q = dcqcn_appendix.loop(40, 200, flows, mended)
            return float(np.degrees(loop_margins(p, q, delay_us * 1e-6 * dcqcn_appendix.SPEED).phase_rad))

        whole = degrees(every)
        alone = [degrees(every - {name}) - whole for name in dcqcn_appendix.CHANGES]
        yield [
            f"{flows}, {delay_us} µs",
            f"{degrees(frozenset()):.1f}",
            *(f"{change:+.1f}" for change in alone),
            f"{whole:.2f}",
        ]


def round_trips() -> Iterator[list[str]]:
    """Queue of packets at 10 Gb/s over the round trip, four flows: mean and deviation, KB; 200 ms, the second half."""
    yield ["", "Round trip, µs", "Mean, KB", "σ, KB", "Least and greatest, KB"]
    for scheme, trips_us in (("bcn", (21, 41, 81, 161)), ("dcqcn", (23, 183)), ("fecn", (43, 83, 163, 263))):
        base = configuration(Scenario.load(TEN_GIG), scheme=scheme)
        for trip_us in trips_us:
            share = trip_us * 1e-6 / base.round_trip_s
            given = replace(
                base,
                forward_delay_s=base.forward_delay_s * share,
                feedback_delay_s=base.feedback_delay_s * share,
            )
            run = maps.as_scenario(given, 0.2).run()
            (queue,) = (entry for entry in run.summary["queues"] if entry["name"] == "sw0->sw1")
            yield [
                scheme,
                str(trip_us),
                *(f"{queue[name] / 1e3:.1f}" for name in ("mean_octets", "std_octets")),
                f"{queue['min_octets'] / 1e3:.0f}, {queue['max_octets'] / 1e3:.0f}",
            ]


TABLES: dict[str, Callable[[], Iterable[list[str]]]] = {
    "settling": settling,
    "bands": bands,
    "one-rate": one_rate,
    "strikes": strikes,
    "repeats": repeats,
    "first-frames": first_frames,
    "figure-5": figure_5,
    "deal-breaker": deal_breaker,
    "full-queue": full_queue,
    "fairness": fairness,
    "cycle": cycle,
    "dcqcn": dcqcn,
    "dcqcn-appendix": dcqcn_of_the_appendix,
    "round-trips": round_trips,
}


def beside(
    path: Path,
    scheme: str,
    form: str | None,
    settings: dict[str, str],
    seeds: int,
    strikes: StreamSampling | None = None,
) -> Overlay:
    """Fluid and packets of a scenario for 4 s, unless the settings say otherwise."""
    scenario = Scenario.load(path)
    for key, value in {"duration": "4 s", "warmup": "0.1 s", **settings}.items():
        scenario.set(key, value)
    return overlay(scenario, scheme=scheme, form=form, seeds=seeds, strikes=strikes)


def smcc(ra: int, rb: int, no_change: str, length: str) -> Scenario:
    """Three sources with Ra reached at 64 KB and Rb at 16 KB, Mb/s, and drawn samples."""
    scenario = Scenario.load(THREE).set("duration", length)
    settings = {"ra": f"{ra} Mbps", "rb": f"{rb} Mbps", "ra_at": "64 KB", "rb_at": "16 KB", "delta_zero": no_change}
    for key, value in {"sampling": "probability", **settings}.items():
        scenario.set(f"schemes.smcc.{key}", value)
    return scenario


def offset_kb(scenario: Scenario, seed: int, from_s: float) -> float:
    """Mean offset of the queue from 64 KB after a time."""
    run = scenario.run(seed=seed)
    late = run.column("queues", "time_s") > from_s
    return float(run.column("queues", "queue_octets")[late].astype(float).mean()) / 1e3 - 64


def one_source(delay_us: float) -> Configuration:
    """One source on a line of 2 Gb/s, a bottleneck of 1 Gb/s, the paper's SMCC; the delay is the loop's."""
    given = configuration(
        Scenario(
            name="cycle",
            question="What is the amplitude of SMCC's queue with delay?",
            duration="1.2 s",
            warmup="600 ms",
            scheme="smcc",
            schemes={"smcc": {"profile": "paper-sliding-mode"}},
            topology={
                "dumbbell": {
                    "sources": 1,
                    "receivers": 1,
                    "link_rate": "2 Gbps",
                    "bottleneck_rate": "1 Gbps",
                    "link_delay": "1 us",
                    "buffer": "128 KB",
                }
            },
            network={"feedback": {"ideal": "0 us"}},
            flow=[{"name": "s0", "from": "h0", "to": "h1", "frame": "1 KB"}],
        )
    )
    return replace(given, feedback_delay_s=delay_us * 1e-6 - given.forward_delay_s)


def period_s(time_s: Any, queue: Any) -> float:
    """Mean time between passages upwards through the mean, by more than the jitter of frames; NaN below two."""
    beside = min((queue.max() - queue.min()) / 8, 1500.0)
    side = np.where(queue > queue.mean() + beside, 1, np.where(queue < queue.mean() - beside, -1, 0))
    known = side != 0
    rises = time_s[known][1:][np.diff(side[known]) > 0]
    return float(rises[-1] - rises[0]) / (len(rises) - 1) if len(rises) > 1 else float("nan")


def cycle_cell(octets: float, period: float) -> str:
    """A cycle as the table has it."""
    if not np.isfinite(octets):
        return "no bound"
    # A frame that comes and goes is no cycle.
    lasts = octets >= 450 and np.isfinite(period) and period > 2e-3
    return f"{octets / 1e3:.1f}; {period * 1e3:.2f}" if lasts else f"{octets / 1e3:.1f}"


def main() -> int:
    """Prints the tables asked for, and returns the exit status."""
    asked = sys.argv[1:]
    unknown = [name for name in asked if name not in TABLES]
    if unknown or not asked:
        print(f"tables: {', '.join(TABLES)}", file=sys.stderr)
        return 2 if unknown else 0
    for name in asked:
        for row in TABLES[name]():
            print("| " + " | ".join(row) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
