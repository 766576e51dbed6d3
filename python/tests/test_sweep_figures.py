"""Figures of sweeps: their axes, their lines, refusals, and the Pareto front."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import SMALL, Command

from penstock import ArgumentError, Scenario, Sweep, sweep
from penstock.sweeps.view import dominant, view

BUFFERS = ["50 KB", "100 KB", "200 KB", "400 KB"]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    """Return a sweep of three keys and two schemes, whose seeds differ."""
    scenario = Scenario.from_toml(SMALL, name="small").set("duration", "4 ms").set("flow.0.traffic", "poisson")
    return sweep(
        scenario.set("flow.0.rate", "700 Mbps"),
        {"topology.star.buffer": BUFFERS, "schemes.qcn.w": [1, 2], "topology.star.link_delay": ["1 us", "50 us"]},
        schemes=["none", "qcn"],
        seeds=3,
        out=tmp_path_factory.mktemp("sweep") / "out",
    )


def _mean(swept: Sweep, column: str, **at: Any) -> float:
    rows = np.ones(swept.table().num_rows, dtype=bool)
    for key, value in at.items():
        rows &= swept.column(key) == value
    return float(swept.column(column)[rows].mean())


def test_a_line_is_the_mean_over_seeds(swept: Sweep) -> None:
    figure = swept.plot(where={"w": 2, "topology.star.link_delay": "50 us"})
    (axes,) = figure.axes
    assert axes.get_xlabel() == "buffer (KB)"
    assert axes.get_ylabel() == "queue mean (KB)"
    assert axes.get_xscale() == "log"
    none, qcn = axes.lines
    assert [line.get_label() for line in (none, qcn)] == ["none", "qcn"]
    assert np.asarray(none.get_xdata()).tolist() == [50.0, 100.0, 200.0, 400.0]
    place: dict[str, Any] = {"buffer_octets": 100e3, "w": 2, "link_delay_s": 50e-6, "scheme": "qcn"}
    assert np.asarray(qcn.get_ydata())[1] * 1e3 == pytest.approx(_mean(swept, "queue_mean_octets", **place))
    # A band each, and around the mean.
    assert len(axes.collections) == 2
    low, high = axes.collections[1].get_datalim(axes.transData).intervaly
    assert low <= min(np.asarray(qcn.get_ydata())) <= max(np.asarray(qcn.get_ydata())) <= high


def test_three_keys_are_small_multiples(swept: Sweep) -> None:
    figure = swept.plot(x="buffer", y="w", panel="link_delay", where={"scheme": "qcn"}, metric="loss_rate")
    assert len(figure.axes) == 2
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert texts == ["link delay 1 us", "link delay 50 us"]
    assert [[line.get_label() for line in axes.lines] for axes in figure.axes] == [["w 1", "w 2"]] * 2
    assert figure.axes[0].get_ylabel() == "loss rate (%)"


def test_a_map_has_a_field_a_pair_and_a_panel_a_scheme(swept: Sweep) -> None:
    figure = swept.plot(show="map", x="buffer", y="w", where={"link_delay": "1 us"})
    none, qcn, bar = figure.axes
    assert [axes.texts[0].get_text() for axes in (none, qcn)] == ["none", "qcn"]
    assert [label.get_text() for label in none.get_xticklabels()] == BUFFERS
    field = np.asarray(qcn.images[0].get_array())
    assert field.shape == (2, 4)
    place: dict[str, Any] = {"buffer_octets": 400e3, "w": 1, "link_delay_s": 1e-6, "scheme": "qcn"}
    assert field[0, 3] * 1e3 == pytest.approx(_mean(swept, "queue_mean_octets", **place))
    assert bar.get_ylabel() == "queue mean (KB)"


def test_no_point_beats_one_of_the_front(swept: Sweep) -> None:
    shown = view(swept, "pareto", ["queue_mean_octets", "throughput_bps"])
    assert len(shown.cells) == 32
    front = dominant(shown)
    means = np.array([cell.mean for cell in shown.cells])
    for i, (queue, throughput) in enumerate(means):
        better = (means[:, 0] <= queue) & (means[:, 1] >= throughput)
        strictly = better & ((means[:, 0] < queue) | (means[:, 1] > throughput))
        assert strictly.any() != (i in front)
    figure = swept.plot(show="pareto")
    (axes,) = figure.axes
    assert axes.get_xlabel() == "queue mean (KB), less is better"
    assert axes.get_ylabel() == "throughput (Mb/s), more is better"
    # With the sign turned, the other end is the best.
    turned = view(swept, "pareto", ["+queue_mean_octets", "throughput_bps"])
    assert means[:, 0].argmax() in dominant(turned)


@pytest.mark.parametrize(
    ("keywords", "message", "hint"),
    [
        ({"show": "lnes"}, "unknown figure", "lines, map, pareto"),
        ({"metric": "queue_meen_octets"}, "no number of a run", "queue_mean_octets"),
        ({"metric": "scheme"}, "no number of a run", ""),
        ({"metric": "loss_rate,jain_index"}, "the figure lines has 1", "metric=A"),
        ({"metric": "slowdown_p99"}, "no run that is shown has slowdown_p99", "other runs"),
        ({"x": "bufer"}, "x=bufer: no key of the sweep", "buffer"),
        ({"where": {"w": 3}}, "w=3: unknown value", "the sweep has 1, 2"),
        ({"where": {"buffer": "1 KB"}}, "unknown value", "50 KB"),
        ({"panel": "scheme"}, "link_delay has 2 values (1 us, 50 us) and no place", "where=link_delay=1 us"),
        ({"show": "pareto", "x": "w"}, "metrics along its axes", "leave x="),
        ({"show": "map", "where": {"w": 1, "link_delay": "1 us"}}, "needs two keys", "vary more keys"),
    ],
)
def test_a_figure_that_cannot_be_drawn_is_refused(swept: Sweep, keywords: Any, message: str, hint: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        swept.plot(**keywords)
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_figures_fit_a_column_of_a_paper(swept: Sweep, penstock: Command, tmp_path: Path) -> None:
    options = ("--where", "scheme=qcn", "--width", "3.3in", "--font-size", "8", "--no-title")
    done = penstock("plot", swept.path, *options, "--out", "a.pdf", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    figure = swept.plot(where={"scheme": "qcn"}, width=3.3, font_size=8, title=False)
    assert figure.get_figwidth() == 3.3
    assert not figure.get_suptitle()
    one, other = tmp_path / "one.svg", tmp_path / "other.svg"
    swept.plot(one, show="map", where={"scheme": "qcn"})
    swept.plot(other, show="map", where={"scheme": "qcn"})
    assert one.read_bytes() == other.read_bytes()
    wrong = penstock("plot", swept.path, "--x", "bufer", "--out", "b.pdf", cwd=tmp_path)
    assert (wrong.returncode, "--x bufer: no key of the sweep" in wrong.stderr) == (2, True)
    assert not (tmp_path / "b.pdf").exists()
    wide = penstock("plot", swept.path, "--width", "wide", cwd=tmp_path)
    assert (wide.returncode, "not a number of inches" in wide.stderr) == (2, True)
