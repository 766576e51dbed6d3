"""Figures: their content, how it is thinned, and that the same result gives the same file."""

import copy
import math
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
import pytest
from arro3.core import Table
from conftest import SMALL
from matplotlib.image import imread
from matplotlib.patches import StepPatch

from penstock import PenstockError, Result, Scenario
from penstock.columns import codes
from penstock.figures import comparison, cumulative, pauses, pauses_over_time, style, write_all, write_comparison
from penstock.figures.faults import faults
from penstock.figures.series import (
    FlowSeries,
    SetPoint,
    envelope,
    fair_shares,
    flow_series,
    means,
    queue_series,
    set_points,
    thinned,
)
from penstock.highlights import notable_queues, notable_queues_of
from penstock.quantity_text import count
from penstock.summary import QueueSummary


def queue(name: str, mean_octets: float, *, frames_dropped: int = 0) -> QueueSummary:
    """Return the summary of a queue whose other metrics are 0."""
    own = {"name": name, "mean_octets": mean_octets, "utilization": 0.5, "frames_dropped": frames_dropped}
    return cast(QueueSummary, dict.fromkeys(QueueSummary.__annotations__, 0) | own)


def test_files_are_there_and_not_blank(result: Result, tmp_path: Path) -> None:
    written = write_all(result, tmp_path)
    assert {path.name for path in written} == {path.name for path in tmp_path.iterdir()}
    assert sorted(path.name for path in written) == ["overview.png", "overview.svg"]
    for path in written:
        if path.suffix == ".png":
            pixels = imread(path)[..., :3]
            # Ink of several colours, on paper that is mostly white.
            assert (pixels.min(axis=2) < 0.5).mean() > 0.005
            assert (pixels.min(axis=2) == 1).mean() > 0.5
            assert (np.ptp(pixels, axis=2) > 0.2).sum() > 100


def test_set_points_are_those_of_the_priorities() -> None:
    dcqcn = '[[priority]]\npriority = 3\nscheme = "dcqcn"\n\n'
    profile = '[[priority]]\npriority = 5\nscheme = "qcn"\nprofile = "ieee-2010"\n\n'
    flows = "".join(f'\n[[flow]]\nfrom = "h0"\nto = "h2"\npriority = {priority}\n' for priority in (3, 5))
    # Priority 0 runs QCN at the scenario's 33 KB, 3 runs DCQCN, which aims at no length, 5 QCN under a profile.
    deep = SMALL.replace('"60 KB"', '"150 KB"')
    text = deep.replace("[topology.star]", f"{dcqcn}{profile}[topology.star]") + flows
    mixed = Scenario.from_toml(text).run()
    lengths = {queue["priority"]: queue["set_point_octets"] for queue in mixed.summary["queues"]}
    assert lengths == {0: 33_000, 3: None, 5: 26_000}
    assert set_points(mixed) == [SetPoint(26_000), SetPoint(33_000)]
    assert_same_queues(mixed)
    assert "dcqcn at priority 3, qcn (ieee-2010) at priority 5" in mixed.plot().axes[0].get_title("left")
    # No flow has the scenario's own settings: their set point is nobody's.
    text = SMALL.replace("[topology.star]", f"{profile}[topology.star]") + "priority = 5\n"
    assert set_points(Scenario.from_toml(text).run()) == [SetPoint(26_000)]
    # A host's own queue has no congestion point, and nothing holds it at a length.
    host = Scenario.from_toml(f'{SMALL}\n[record]\nqueues = ["h0->sw0", "sw0->h2"]\n').run()
    assert [queue["set_point_octets"] for queue in host.summary["queues"]] == [None, 33_000]
    # The scheme without parameters has no table, and here nothing else has.
    text = SMALL.replace('[schemes.qcn]\nq_eq = "33 KB"\n', "").replace('"qcn"', '"none"')
    assert set_points(Scenario.from_toml(text).run()) == []


def test_a_set_point_that_changes_is_drawn_while_it_holds() -> None:
    change = '[[change]]\nat = "{}"\nschemes.qcn.{}\n'
    changes = change.format("5 ms", 'q_eq = "20 KB"') + change.format("7 ms", "w = 4.0")
    result = Scenario.from_toml(SMALL.replace("[[flow]]", f"{changes}[[flow]]", 1)).run()
    assert set_points(result) == [SetPoint(20_000, start_s=0.005), SetPoint(33_000, stop_s=0.005)]
    legend = result.plot().axes[0].get_legend()
    assert legend is not None
    words = [text.get_text() for text in legend.get_texts()]
    assert "set point 20 KB from 5 ms" in words
    assert "set point 33 KB" in words


FLAPS = """
[[change]]
link = "h1--sw0"
at = "2 ms"
state = "down"
down_for = "500 us"
every = "3 ms"
times = 2

[[change]]
link = "h0--sw0"
at = "4 ms"
state = "down"

[[change]]
link = "h0--sw0"
at = "6 ms"
state = "up"

[[change]]
link = "sw0->h2"
at = "7 ms"
rate = "500 Mbps"

[[event]]
kind = "pfc-storm"
host = "h2"
from = "8 ms"

[network]
convergence = "1 ms"

[pfc]
"""


def test_faults_are_marked_on_the_axis_of_time() -> None:
    result = Scenario.from_toml(SMALL + FLAPS).run()
    assert [(f.text, f.start_s * 1e3, f.stop_s * 1e3, f.storm) for f in faults(result)] == [
        ("h1--sw0 down", 2.0, pytest.approx(2.5), False),
        ("new routes", 3.0, 3.0, False),
        ("new routes", 3.5, 3.5, False),
        ("h0--sw0 down", 4.0, pytest.approx(6.0), False),
        ("new routes", 5.0, 5.0, False),
        ("h1--sw0 down", 5.0, pytest.approx(5.5), False),
        ("new routes", 6.0, 6.0, False),
        ("new routes", 6.5, 6.5, False),
        ("new routes", 7.0, 7.0, False),
        ("sw0->h2 at 500 Mbps", 7.0, 7.0, False),
        ("pfc-storm of h2", 8.0, math.inf, True),
    ]
    axes = result.plot().axes
    words = [text.get_text() for panel in axes if (legend := panel.get_legend()) for text in legend.get_texts()]
    assert words.count("h1--sw0 down") == words.count("pfc-storm of h2") == 1
    # Every panel is shaded: two stops of one link, one of the other, a storm.
    assert [sum(patch.get_alpha() is not None for patch in panel.patches) for panel in axes] == [4] * len(axes)


def test_same_result_same_bytes(result: Result, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write_all(result, tmp_path / folder)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name


def test_plot_draws_queue_utilisation_and_rates(result: Result, tmp_path: Path) -> None:
    figure = result.plot(tmp_path / "figure.svg")
    queue_panel, utilization_panel, rate_panel = figure.axes
    assert "queue length (KB)" in queue_panel.get_ylabel()
    assert "utilisation" in utilization_panel.get_ylabel()
    assert "Mb/s" in rate_panel.get_ylabel()
    assert rate_panel.get_xlabel() == "time (ms)"
    assert figure.get_suptitle() == "Do two senders share one port?"
    legend = queue_panel.get_legend()
    assert legend is not None
    words = [text.get_text() for text in legend.get_texts()]
    assert words[0] == "sw0->h2"
    assert "33 KB" in words[2]
    assert words[1::2] == ["maximum", "frames dropped"]
    assert f"{count(result.summary['totals']['frames_dropped'])} frames dropped (loss" in queue_panel.get_title("left")
    assert (tmp_path / "figure.svg").read_text().startswith("<?xml")
    assert set_points(result) == [SetPoint(33_000)]


def test_comparison_has_common_scales(result: Result) -> None:
    other = Scenario.from_toml(result.scenario_toml).run(scheme="none")
    figure = comparison([result, other])
    upper_left, upper_right, lower_left, lower_right = figure.axes
    assert upper_left.get_ylim() == upper_right.get_ylim()
    assert lower_left.get_ylim() == lower_right.get_ylim()
    for axes in figure.axes:
        # Nothing but the marks of drops, which stand above the panel, leaves it.
        lines = [np.asarray(line.get_ydata()) for line in axes.lines if line.get_marker() != "|"]
        assert max(line.max() for line in lines if len(line)) <= axes.get_ylim()[1]
    # One legend a row, and it has the labels of all panels of the row.
    assert [axes.get_legend() is None for axes in figure.axes] == [True, False, True, False]
    legend = upper_right.get_legend()
    assert legend is not None
    assert "33 KB" in "".join(text.get_text() for text in legend.get_texts())


def test_maximum_is_that_of_each_run(result: Result) -> None:
    other = Scenario.from_toml(result.scenario_toml).set("schemes.qcn.q_eq", "10 KB").set("duration", "1 ms").run()
    longest = result.summary["queues"]
    for run in (result, other):
        (series,) = queue_series(run, notable_queues(longest, 1))
        of_run = {q["name"]: q["max_octets"] for q in run.summary["queues"]}
        assert series.max_octets == of_run["sw0->h2"] >= series.octets.max()


def test_line_of_a_flow_ends_with_it() -> None:
    scenario = Scenario.from_toml(SMALL.replace('from = "h0..h1"', 'from = "h0..h1"\nsize = "300 KB"'))
    assert max(flow.completed_s for flow in flow_series(scenario.run(scheme="none"))) == np.inf, "one loses frames"
    result = scenario.set("topology.star.buffer", "1 MB").run(scheme="none")
    for flow, summary in zip(flow_series(result), result.summary["flows"], strict=True):
        assert summary["completion_time_s"] is not None
        # Samples are 20 us apart.
        assert 0 <= flow.completed_s - summary["completion_time_s"] <= 2e-5
        time, rate = thinned(flow)
        assert flow.completed_s - 8e-5 < time[-1] <= flow.completed_s
        assert rate[-1] > 0


def test_fair_shares_are_drawn_once() -> None:
    def flow(*fair_bps: float, completed_s: float = np.inf) -> FlowSeries:
        samples = np.array(fair_bps)
        return FlowSeries("f", np.arange(float(len(samples))), samples, samples, completed_s)

    # A sample covers the interval that it ends. Shares of less than a kb/s apart are the same.
    early, late = flow(8e6, 8e6, 4e6, 4e6, 4e6), flow(0, 0, 4e6 + 1, 4e6, 0)
    assert fair_shares([early, late]) == [(0, 1, 8e6), (1, 4, 4e6)]
    assert fair_shares([late]) == [(1, 3, 4e6)]
    assert fair_shares([flow(8e6, 8e6, 8e6, 8e6, completed_s=2)]) == [(0, 2, 8e6)]
    assert fair_shares([flow(0, 1e6, 0, 1e6)]) == [(0, 1, 1e6), (2, 3, 1e6)]
    assert fair_shares([]) == []


def test_words_have_one_number_in_all_chunks() -> None:
    chunks = [pa.array(words).dictionary_encode() for words in (["b", "a", "b"], ["c", "b"])]
    joined = Table.from_arrow(pa.table({"word": pa.chunked_array(chunks)})).combine_chunks()
    plain = Table.from_arrow(pa.table({"word": ["b", "a", "b", "c", "b"]}))
    for table in (joined, plain):
        numbers, words = codes(table.column("word").chunk(0))
        assert numbers.tolist() == [1, 0, 1, 2, 1]
        assert words == ["a", "b", "c"]


def test_large_table_is_drawn_whole() -> None:
    # 1001 samples of 36 queues leave the recorder in more than one block.
    scenario = Scenario.from_toml(
        SMALL.replace("hosts = 3", "hosts = 37").replace("h0..h1", "h0..h35").replace('"h2"', '"h36"')
    )
    result = scenario.set("duration", "2 ms").set("record.queues", "switches").run()
    for series in queue_series(result, result.summary["queues"]):
        assert len(series.time_s) == 1001
    for flow in flow_series(result):
        assert len(flow.time_s) == 1001


def test_unwritable_figure_leaves_nothing(result: Result, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere"):
        result.plot(tmp_path / "nowhere" / "figure.png")
    with pytest.raises(ValueError, match="docx"):
        result.plot(tmp_path / "figure.docx")
    assert list(tmp_path.iterdir()) == []


def test_envelope_keeps_every_peak() -> None:
    x = np.arange(100_000.0)
    y = np.zeros(100_000)
    y[31_415], y[77_777] = 9.0, -9.0
    thin_x, thin_y = envelope(x, y, bins=100)
    assert len(thin_x) <= 400
    assert (thin_y.max(), thin_x[thin_y.argmax()]) == (9.0, 31_415.0)
    assert (thin_y.min(), thin_x[thin_y.argmin()]) == (-9.0, 77_777.0)
    assert (thin_x[0], thin_x[-1]) == (0.0, 99_999.0)
    assert (np.diff(thin_x) > 0).all()
    short_x, short_y = envelope(x[:300], y[:300], bins=100)
    assert (len(short_x), len(short_y)) == (300, 300)


def test_means_stand_at_the_end_of_their_bins() -> None:
    x, y = means(np.arange(1.0, 8.0), np.array([1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0]), bins=4)
    assert x.tolist() == [2.0, 4.0, 6.0, 7.0]
    assert y.tolist() == [2.0, 6.0, 10.0, 13.0]
    # The first sample of a run has no interval before it.
    x, y = means(np.arange(5.0), np.array([0.0, 1.0, 3.0, 5.0, 7.0]), bins=2)
    assert (x.tolist(), y.tolist()) == ([2.0, 4.0], [2.0, 6.0])


def test_queues_worth_drawing() -> None:
    quiet = [queue(f"h{i}->sw0", 100.0) for i in range(20)]
    assert [q["name"] for q in notable_queues([*quiet, queue("sw0->h20", 33_000.0)])] == ["sw0->h20"]
    dropping = [queue(f"sw{i}->h", 10.0 * i, frames_dropped=i) for i in range(9)]
    assert [q["name"] for q in notable_queues(dropping)] == ["sw8->h", "sw7->h", "sw6->h", "sw5->h"]
    assert [q["name"] for q in notable_queues([queue("a", 0.0), queue("b", 0.0)])] == ["a"]
    assert notable_queues([]) == []


def test_queues_are_chosen_alike_without_the_whole_summary(result: Result) -> None:
    assert_same_queues(result)


def assert_same_queues(result: Result) -> None:
    """Check the columns of a result's queues, and the choice of those that are drawn, against the summary."""
    queues = result.summary["queues"]
    assert result.queues_shown["name"].tolist() == [queue["name"] for queue in queues]
    for most in (1, 4):
        shown = notable_queues_of(result, most)
        for queue, expected in zip(shown, notable_queues(queues, most), strict=True):
            point = expected["set_point_octets"]
            values = {**expected, "set_point_octets": pytest.approx(np.nan if point is None else point, nan_ok=True)}
            assert queue == {key: values[key] for key in queue}


def stopped(result: Result, shares: dict[str, float]) -> Result:
    """Return the result as if priority flow control had stopped ports for these shares of the run."""
    with_pauses = Result(result._core)
    summary = copy.deepcopy(result.summary)
    template = summary["queues"][0]
    for port, part in shares.items():
        summary["queues"].append(template | {"name": port, "paused_s": part * summary["duration_s"], "pause_frames": 3})
    with_pauses.__dict__["summary"] = summary
    return with_pauses


def test_many_schemes_have_a_grid(result: Result) -> None:
    labels = [f"scheme {i}" for i in range(5)]
    figure = comparison([result] * 5, labels=labels, queue="sw0->h2")
    # Five of a grid of three by two, two panels each.
    assert len(figure.axes) == 10
    assert len({axes.get_ylim() for axes in figure.axes}) == 2
    assert [axes.get_xlabel() for axes in figure.axes].count("time (ms)") == 3
    assert [text.get_text() for axes in figure.axes for text in axes.texts] == labels
    assert sum(axes.get_legend() is not None for axes in figure.axes) == 2


def test_distribution_of_the_queue_reaches_one(result: Result) -> None:
    other = Scenario.from_toml(result.scenario_toml).run(scheme="none")
    (axes,) = cumulative({"qcn": [result, result], "none": [other]}, "sw0->h2").axes
    assert [line.get_label() for line in axes.lines] == ["qcn", "none"]
    for line in axes.lines:
        shares = np.asarray(line.get_ydata())
        assert (shares[0], shares[-1]) == (0, 1)
        assert (np.diff(shares) >= 0).all()
    assert axes.get_xlabel() == "queue length (KB)"
    # The queue without control is full from the first sample of the measured time but one on.
    assert np.asarray(axes.lines[1].get_xdata())[-1] == 60


def test_pauses_show_who_was_stopped_and_what_groups_deliver(result: Result, tmp_path: Path) -> None:
    runs = {"pfc": [stopped(result, {"sw1->sw0": 0.5, "h7->sw1": 0.25})], "qcn": [result]}
    left, right = pauses(runs).axes
    assert [text.get_text() for text in left.get_yticklabels()] == ["sw1->sw0", "h7->sw1"]
    assert [text.get_text() for text in left.texts] == ["50.0 %", "–", "25.0 %", "–"]
    assert [text.get_text() for text in right.get_yticklabels()] == ["f0..f1"]
    names = {path.name for path in write_comparison(runs, "sw0->h2", tmp_path)}
    assert names == {f"{name}.{kind}" for name in ("compare", "cdf", "pauses") for kind in ("png", "svg")}
    assert names == {path.name for path in tmp_path.iterdir()}


def test_pauses_over_time_are_means_of_runs_whose_area_is_the_time_stopped(result: Result) -> None:
    """The figure counts stopped queues, so that its integral over time is that of the summary's times."""
    stops = Scenario.from_toml(SMALL).with_({"pfc.buffer": "60 KB"}).run()
    (axes,) = pauses_over_time({"pfc": [stops], "half": [stops, result], "without": [result]}).axes
    area_s = {}
    for line in axes.patches:
        values, edges_s, _ = cast(StepPatch, line).get_data()
        assert (np.asarray(values) >= 0).all()
        area_s[line.get_label()] = float((values * np.diff(edges_s)).sum())
    stopped_s = sum(queue["paused_s"] for queue in stops.summary["queues"])
    assert stopped_s > 0
    assert area_s == pytest.approx({"pfc": stopped_s, "half": stopped_s / 2, "without": 0})
    with pytest.raises(PenstockError, match="no recorded queue was stopped"):
        result.plot(show="pauses-over-time")


def test_the_distribution_of_a_run_is_that_of_its_longest_queue(result: Result) -> None:
    (own,), (of_comparison,) = result.plot(show="cdf").axes, cumulative({"qcn": [result]}, "sw0->h2").axes
    assert np.asarray(own.lines[0].get_xydata()).tolist() == np.asarray(of_comparison.lines[0].get_xydata()).tolist()


def test_a_name_has_one_colour_in_all_panels(result: Result) -> None:
    text = SMALL.replace("hosts = 3", "hosts = 4").replace('"h0..h1"', '"h1..h2"').replace('to = "h2"', 'to = "h3"')
    other = Scenario.from_toml(text.replace("Do two", "What do two")).run()
    figure = comparison([result, other])
    upper_left, upper_right, *_ = figure.axes
    assert upper_left.lines[0].get_label() == "sw0->h2"
    assert upper_right.lines[0].get_label() == "sw0->h3"
    assert upper_left.lines[0].get_color() != upper_right.lines[0].get_color()
    # Two questions make no title: the scenarios' names do.
    assert figure.get_suptitle() == "small, scenario"


def test_a_flow_of_its_own_table_stands_out_of_a_crowd() -> None:
    many = SMALL.replace("hosts = 3", "hosts = 12").replace('"h0..h1"', '"h0..h8"').replace('"h2"', '"h11"')
    text = many + '\n[[flow]]\nname = "victim"\nfrom = "h9"\nto = "h10"\n'
    result = Scenario.from_toml(text).set("duration", "2 ms").run()
    assert [flow.name for flow in flow_series(result) if flow.alone] == ["victim"]
    legend = result.plot().axes[2].get_legend()
    assert legend is not None
    words = [text.get_text() for text in legend.get_texts()]
    assert words == ["median of 9 flows", "half of them", "nine tenths", "victim", "max-min fair share"]


def test_figures_of_others_have_the_look_by_a_style_sheet() -> None:
    from matplotlib import pyplot, rc_context, rcParams

    with rc_context():
        pyplot.style.use("penstock.style")
        assert rcParams["axes.prop_cycle"].by_key()["color"] == [*style.FLOW_COLOURS]
        set_there = dict(rcParams.items())
        own = {key for key, value in style.STYLE.items() if set_there[key] != value}
        assert own == {"svg.hashsalt", "text.parse_math"}
        assert rcParams["text.parse_math"]
