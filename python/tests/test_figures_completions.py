"""Figures of flows that complete: their content, for how many flows, and others' results beside one's own."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arro3.core import Array, DataType, Table
from conftest import Command
from matplotlib.axes import Axes
from numpy.typing import NDArray

from penstock import PenstockError, Result, Scenario
from penstock.exchange import read_fct
from penstock.figures import Page, distributions, has_completions, of_flows, on, slowdowns
from penstock.figures.completed_flows import completed_flows
from penstock.figures.distributions import steps
from penstock.figures.slowdown_percentiles import percentiles
from penstock.figures.style import Drawn

TRANSFERS = """
question = "How are transfers spread?"
duration = "20 ms"
warmup = "1 ms"
scheme = "none"
[topology.star]
hosts = 5
link_rate = "10 Gbps"
link_delay = "1 us"
buffer = "150 KB"
[[flow]]
name = "early"
from = "h0"
to = "h4"
size = "5 KB"
transport = "tcp"
[[flow]]
name = "short"
from = "h0..h3"
to = "h4"
size = "20 KB"
start = "2 ms"
repeat = 8
every = "0.5 ms"
transport = "tcp"
[[flow]]
name = "late"
from = "h1..h2"
to = "h4"
size = "1 GB"
start = "10 ms"
transport = "tcp"
"""


@pytest.fixture(scope="module")
def transfers() -> Result:
    return Scenario.from_toml(TRANSFERS).run()


def table(flows: int, seed: int = 1, again: int | None = 3) -> Table:
    """Return completions of a number of flows; ``again`` is sent again: 0 none, None unknown."""
    source = np.random.default_rng(seed)
    numbers = [None] * flows if again is None else source.integers(0, again + 1, flows).tolist()
    kind, seconds = DataType.uint64(), DataType.float64()
    sizes, ends, slowdown = (
        source.integers(1000, 10**7, flows),
        source.lognormal(-9, 2, flows),
        source.lognormal(0, 1, flows),
    )
    return Table.from_pydict(
        {
            "size_octets": Array(sizes.tolist(), kind),
            "start_s": Array([0.0] * flows, seconds),
            "end_s": Array(ends.tolist(), seconds),
            "slowdown": Array((1 + slowdown).tolist(), seconds),
            "retransmissions": Array(numbers, kind),
        }
    )


def times(ends_s: list[float], size_octets: int = 1000) -> Table:
    """Return completions of flows of one size with these times."""
    flows = len(ends_s)
    return Table.from_pydict(
        {
            "size_octets": Array([size_octets] * flows, DataType.uint64()),
            "start_s": Array([0.0] * flows, DataType.float64()),
            "end_s": Array(ends_s, DataType.float64()),
            "slowdown": Array([end / ends_s[0] for end in ends_s], DataType.float64()),
            "retransmissions": Array([0] * flows, DataType.uint64()),
        }
    )


def numbers_apart(figure: Drawn) -> list[list[str]]:
    """Return the numbers along each panel's horizontal axis, after a look that they stand apart and within the axis."""
    figure.draw_without_rendering()
    texts = []
    for axes in figure.axes:
        axis, (low, high) = axes.xaxis, axes.get_xlim()
        ticks = list(zip(axis.get_majorticklocs(), axis.get_major_ticks(), strict=True))
        ticks += list(zip(axis.get_minorticklocs(), axis.get_minor_ticks(), strict=True))
        seen = [tick.label1 for place, tick in ticks if low <= place <= high and tick.label1.get_text()]
        boxes = sorted((text.get_window_extent() for text in seen), key=lambda box: box.x0)
        # As far from one another as two names.
        least = 0.3 * float(seen[0].get_fontsize()) * figure.dpi / 72 if seen else 0
        assert all(left.x1 + least <= right.x0 for left, right in pairwise(boxes)), [text.get_text() for text in seen]
        texts.append([text.get_text() for text in seen])
    return texts


def drawn(axes: Axes) -> "dict[str, NDArray[Any]]":
    """Return the points of each line that has some."""
    points = {str(line.get_label()): np.asarray(line.get_xydata()) for line in axes.lines}
    return {label: of for label, of in points.items() if len(of)}


def test_flows_of_the_warm_up_are_left_out_and_what_is_left_is_counted(transfers: Result) -> None:
    flows = completed_flows([transfers])
    assert (len(flows.fct_s), flows.left) == (34, 2)
    done = flows.fct_s[~np.isnan(flows.fct_s)]
    assert np.nanmax(flows.goodput_bps) == pytest.approx(8 * 20_000 / done.min())
    assert flows.retransmissions.sum() > 0
    assert flows.retransmissions.sum() == transfers.column("completions", "retransmissions").sum()


def test_panels_show_the_shares_of_flows(transfers: Result) -> None:
    times, goodputs, again = transfers.plot(show="completions").axes
    flows = completed_flows([transfers])
    shown = drawn(times)["none"]
    assert shown[:, 0].tolist() == sorted(flows.fct_s[~np.isnan(flows.fct_s)])
    assert shown[-1, 1] == 1
    assert len(drawn(goodputs)["none"]) == 32
    # This share of 34 flows has sent one segment or more again.
    assert drawn(again)["none"][0, 1] == pytest.approx((flows.retransmissions > 0).mean())
    assert times.get_title(loc="left") == "not completed: none 2 of 34"


@pytest.mark.parametrize(
    ("show", "panels"),
    [("fct", 1), ("goodput", 1), ("retransmissions", 1), ("slowdown", 2), ("percentiles", 3), ("slowdown-p95", 1)],
)
def test_each_is_a_figure_of_its_own(show: str, panels: int, transfers: Result, tmp_path: Path) -> None:
    figure = transfers.plot(tmp_path / "a.pdf", show=show, width=3.4, font_size=8)
    assert len(figure.axes) == panels
    assert (tmp_path / "a.pdf").stat().st_size > 5000


def test_percentiles_are_means_of_runs_with_the_interval_of_student() -> None:
    runs = [times([1.0, *[1.0] * 18, 3.0]), times([1.0, *[1.0] * 18, 7.0])]
    figure = percentiles({"two": runs, "one": runs[:1]})
    shown = {axes.get_ylabel(): axes for axes in figure.axes}
    assert list(shown) == ["slowdown, median", "slowdown, 95 %", "slowdown, 99 %"]
    # Of 20 values the 99th percentile lies 0.81 of the way from the second largest to the largest.
    one, other = 1 + 0.81 * 2, 1 + 0.81 * 6
    axes = shown["slowdown, 99 %"]
    assert drawn(axes)["two"].tolist() == [[1000, pytest.approx((one + other) / 2)]]
    assert drawn(axes)["one"].tolist() == [[1000, pytest.approx(one)]]
    # Student's t of one degree of freedom is 12.706; no slowdown is below 1. A run alone has no band.
    (band,) = axes.collections
    ends = np.asarray(band.get_paths()[0].vertices)[:, 1]
    assert ends.max() == pytest.approx((one + other) / 2 + 12.7062 * (other - one) / 2, rel=1e-4)
    assert ends.min() == 1
    assert figure.axes[0].get_ylim() == axes.get_ylim()
    (alone,) = of_flows({"two": runs, "one": runs[:1]}, "slowdown-p99").axes
    assert (alone.get_ylabel(), drawn(alone)["two"].tolist()) == ("slowdown, 99 %", drawn(axes)["two"].tolist())


def test_percentiles_have_bins_of_as_many_flows() -> None:
    (median, *_) = percentiles({"a": [table(400)]}).axes
    points = drawn(median)["a"]
    flows = completed_flows([table(400)])
    assert len(points) == 8
    ordered = np.sort(flows.size_octets)
    assert points[:, 0].tolist() == pytest.approx([np.median(ordered[i : i + 50]) for i in range(0, 400, 50)], rel=0.01)


def test_a_curve_has_no_more_points_than_one_sees() -> None:
    values = np.random.default_rng(1).lognormal(0, 2, 100_000)
    x, share = steps(values)
    assert len(x) < 1100
    assert (x[0], x[-1], share[-1]) == (values.min(), values.max(), 1)
    # The largest are all there, each with its own share.
    assert x[-20:].tolist() == np.sort(values)[-20:].tolist()
    # No share is off by more than the distance of two points.
    exact = np.searchsorted(np.sort(values), x, side="right") / len(values)
    assert np.abs(exact - share).max() < 1e-9
    middle = np.sort(values)[50_000]
    assert share[np.searchsorted(x, middle, side="right") - 1] == pytest.approx(0.5, abs=0.0011)
    assert len(steps(np.array([np.nan]))[0]) == 0


def test_a_drawing_does_not_grow_with_the_flows() -> None:
    for figure in (
        distributions({"a": [table(100_000)], "b": [table(100_000, 2)]}),
        slowdowns({"a": [table(100_000)], "b": [table(100_000, 2)]}),
    ):
        for axes in figure.axes:
            assert len(axes.lines) <= 4
            assert sum(len(points) for points in drawn(axes).values()) < 2400
        assert [len(legend.get_texts()) for axes in figure.axes if (legend := axes.get_legend())] == [2]


def test_results_beside_one_another_keep_their_colours_and_places() -> None:
    tables = {"some": [table(50)], "nothing": [table(50, again=0)], "unknown": [table(50, again=None)]}
    times, _, again = distributions(tables).axes
    colours = {str(line.get_label()): line.get_color() for line in times.lines}
    assert len(set(colours.values())) == 3
    assert {str(line.get_label()): line.get_color() for line in again.lines} == colours
    legend = again.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == list(tables)
    assert [text.get_text() for text in again.texts] == ["nothing: nothing sent again\nunknown: not known"]
    assert times.get_title(loc="left") == "all 50 flows completed a line"
    # The ninth line has the first one's colour, and other dashes.
    nine = distributions({f"l{i}": [table(20, i)] for i in range(9)}, "fct").axes[0].lines
    assert nine[8].get_color() == nine[0].get_color()
    assert nine[8].get_linestyle() != nine[0].get_linestyle()


def test_times_that_are_close_have_a_plain_axis() -> None:
    close = times([1.0e-4, 1.1e-4, 1.2e-4])
    assert distributions({"a": [close]}, "fct").axes[0].get_xscale() == "linear"
    assert distributions({"a": [table(50)]}, "fct").axes[0].get_xscale() == "log"


@pytest.mark.parametrize("width_in", [pytest.param(None, marks=pytest.mark.science), 3.3])
@pytest.mark.parametrize("decades", [2, pytest.param(4, marks=pytest.mark.science), 7, 12])
def test_numbers_along_an_axis_stand_apart(decades: int, width_in: float | None) -> None:
    spread = [1.5e-6 * 10.0 ** (decades * i / 50) for i in range(51)]
    with on(Page(width_in, None if width_in is None else 8)):
        for figure in (
            distributions({"a": [times(spread)]}),
            distributions({"a": [times(spread)]}, "goodput"),
            slowdowns({"a": [times(spread)]}),
            distributions({"a": [table(2000, again=10**6)]}),
        ):
            for seen in numbers_apart(figure):
                assert len(set(seen)) == len(seen)
            assert numbers_apart(figure)[0]


def test_flows_of_many_decades_have_a_number_at_some_powers_of_ten() -> None:
    # Seven decades of goodput, in three panels side by side.
    figure = distributions({"a": [times([1e-6 * 10 ** (i / 10) for i in range(71)])]})
    _, goodputs, _ = numbers_apart(figure)
    assert goodputs == ["10 kb/s", "1 Mb/s", "100 Mb/s", "10 Gb/s"]


@pytest.mark.parametrize("apart", [0.0, 1e-12, 1e-3, 0.1])
@pytest.mark.parametrize("time_s", [1e-9, 2.954e-6, 9.995e-4, 1.0, 9.99])
def test_no_number_stands_twice_along_an_axis_of_times_that_are_one(time_s: float, apart: float) -> None:
    ends_s = [time_s * (1 + apart * i / 9) for i in range(10)]
    figure = distributions({"a": [times(ends_s, 10_000)]})
    for seen in numbers_apart(figure)[:2]:
        assert 2 <= len(seen) == len(set(seen))
    low, high = figure.axes[0].get_xlim()
    assert low < ends_s[0] <= ends_s[-1] < high


def test_others_results_stand_beside_ours(transfers: Result, tmp_path: Path) -> None:
    fct = "0b000001 0b000401 10000 100 20000 0 50000 20000\n" * 30 + "0b000101 0b000401 10000 100 500 0 5000 4000\n"
    (tmp_path / "fct.txt").write_text(fct)
    theirs = read_fct(tmp_path / "fct.txt")
    figure = of_flows({"ours": [transfers], "theirs": [theirs]}, "slowdown")
    assert drawn(figure.axes[1])["theirs"][-1].tolist() == [2.5, 1]
    assert completed_flows([theirs, theirs]).left == 0
    with on(Page(title=False)):
        assert not of_flows({"theirs": [theirs]}, "completions").get_suptitle()


def test_without_completions_there_is_nothing_to_draw(transfers: Result) -> None:
    never = Scenario.from_toml(TRANSFERS.replace('size = "', 'size = "100000')).run()
    assert has_completions(transfers)
    assert not has_completions(never)
    for show, word in (("fct", "flow completion times"), ("completions", "completions"), ("slowdown", "slowdowns")):
        with pytest.raises(PenstockError, match=f"there are no {word} to draw"):
            never.plot(show=show)
    with pytest.raises(PenstockError, match="the figures are overview, queue"):
        never.plot(show="fcts")


def test_a_run_names_the_slowest_and_the_quickest_flows(penstock: Command, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(TRANSFERS, encoding="utf-8")
    out = penstock("run", "a.toml", "--no-figures").stdout
    _, *lines = out[out.index("slowest 5, quickest 2") :].splitlines()[:8]
    slowdowns = [float(line.split()[-3]) for line in lines]
    assert slowdowns == sorted(slowdowns, reverse=True)
    assert all(line.startswith("short") for line in lines)
    # The flow of the warm-up is not listed, nor those that have not completed.
    assert "early" not in "\n".join(lines)


def test_tables_of_a_run_do_not_grow_with_its_groups(penstock: Command, tmp_path: Path) -> None:
    tables = "".join(
        f'[[flow]]\nname = "t{i}"\nfrom = "h{i % 4}"\nto = "h4"\nsize = "1 KB"\ntransport = "tcp"\n' for i in range(40)
    )
    (tmp_path / "a.toml").write_text(TRANSFERS[: TRANSFERS.index("[[flow]]")] + tables, "utf-8")
    out = penstock("run", "a.toml", "--no-figures", "--set", "warmup=0 s").stdout
    assert "and 40 groups of flows, in summary.json" in out
    assert len(out.splitlines()) < 40


def test_scenarios_are_panels_and_a_scheme_has_one_colour_in_all() -> None:
    lines = {
        f"load={load}: {scheme}": [table(200, seed)]
        for seed, (load, scheme) in enumerate([(0.3, "qcn"), (0.3, "pfc"), (0.8, "pfc")])
    }
    panels = {label: (label.partition(": ")[0], label.partition(": ")[2]) for label in lines}
    first, second = slowdowns(lines, panels).axes
    assert [text.get_text() for text in first.texts] == ["load=0.3"]
    assert [text.get_text() for text in second.texts] == ["load=0.8"]
    assert set(drawn(first)) >= {"qcn", "pfc"}
    colours = [{line.get_label(): line.get_color() for line in axes.lines} for axes in (first, second)]
    assert colours[0]["pfc"] == colours[1]["pfc"] != colours[0]["qcn"]
    assert first.get_ylim() == second.get_ylim()


def test_the_highest_curve_of_any_panel_lies_inside_the_axis() -> None:
    low, high = table(200), table(200, 2)
    columns: dict[str, Any] = {name: high[name] for name in high.column_names}
    columns["slowdown"] = Array([1000 * one for one in high["slowdown"].to_pylist()], DataType.float64())
    lines = {"load=0.3: qcn": [low], "load=0.6: qcn": [low], "load=0.8: qcn": [Table.from_pydict(columns)]}
    panels = {label: (label.partition(": ")[0], label.partition(": ")[2]) for label in lines}
    figure = slowdowns(lines, panels)
    highest = max(points[:, 1].max() for axes in figure.axes for points in drawn(axes).values())
    assert highest > 1000
    for axes in figure.axes:
        assert axes.get_ylim()[0] == 1
        assert axes.get_ylim()[1] > highest
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
