"""Figures of sweeps: their axes, their lines, refusals, and the Pareto front."""

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import SMALL, Command
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from penstock import ArgumentError, Scenario, Sweep, sweep
from penstock.figures.pareto_labels import front_of
from penstock.figures.style import Page, on, styled
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


def _texts(figure: Figure, font_size: float | None = None) -> list[tuple[str, Bbox]]:
    """Return the texts that are seen on a figure, and where they stand."""
    with on(Page(font_pt=font_size)), styled():
        figure.draw_without_rendering()
        unseen: set[Any] = set()
        for axes in figure.axes:
            every: tuple[Any, ...] = (axes.xaxis, axes.yaxis)
            for axis in every:
                shown = {id(tick) for tick in axis._update_ticks()}
                ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
                unseen |= {text for tick in ticks if id(tick) not in shown for text in (tick.label1, tick.label2)}
        found = (text for text in figure.findobj(Text) if isinstance(text, Text) and text not in unseen)
        seen = [text for text in found if text.get_visible() and text.get_text()]
        return [(text.get_text(), Text.get_window_extent(text)) for text in seen]


def _check_texts(found: Sweep, keywords: dict[str, Any]) -> None:
    """Draw a figure, and see whether each of its texts is inside it and meets no other."""
    figure = found.plot(**keywords)
    texts = _texts(figure, keywords.get("font_size"))
    assert len(texts) > 5
    for word, box in texts:
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1, word
        assert figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1, word
    for (one, box), (other, beside) in combinations(texts, 2):
        # A line of type has room above and below its letters.
        assert not box.padded(-0.1 * min(box.height, beside.height)).overlaps(beside), (one, other)


COLUMN: dict[str, Any] = {"width": 3.3, "font_size": 8}


UNTITLED = pytest.param(COLUMN | {"title": False}, marks=pytest.mark.science, id="no title")


@pytest.mark.parametrize("page", [pytest.param({}, id="default"), pytest.param(COLUMN, id="column"), UNTITLED])
@pytest.mark.parametrize(
    "keywords",
    [
        {"where": {"link_delay": "1 us"}},
        {"x": "link_delay", "y": "scheme", "panel": "buffer", "where": {"w": 1}},
        {"show": "map", "x": "buffer", "y": "w", "where": {"link_delay": "1 us"}},
        {"show": "map", "x": "buffer", "y": "link_delay", "panel": "w"},
        {"show": "map", "x": "w", "y": "buffer", "where": {"link_delay": "1 us", "scheme": "none"}},
        {"show": "pareto"},
        {"show": "pareto", "metric": "loss_rate,queue_max_octets"},
        {"show": "pareto", "metric": "+queue_mean_octets,-throughput_bps"},
    ],
)
def test_no_text_is_cut_or_meets_another(swept: Sweep, keywords: Any, page: Any) -> None:
    _check_texts(swept, keywords | page)


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    """Return a sweep of two keys of many values, one of which changes together with a third, and of a word."""
    scenario = Scenario.from_toml(SMALL, name="small").set("duration", "1 ms")
    delays = [f"{1 + 0.137 * i:.3f} us" for i in range(40)]
    points = [f"{20 + i} KB" for i in range(40)]
    vary: list[dict[str, Any]] = [
        {"topology.star.link_delay": delays, "schemes.qcn.q_eq": points},
        {"topology.star.buffer": [f"{50 + i}.125 KB" for i in range(10)]},
        {"flow.0.from": ["h0..h1", "h0"]},
    ]
    return sweep(scenario, vary, schemes=["none"], out=tmp_path_factory.mktemp("wide") / "out")


@pytest.mark.parametrize(
    "page", [pytest.param({}, marks=pytest.mark.science, id="default"), pytest.param(COLUMN, id="column")]
)
@pytest.mark.parametrize(
    "keywords",
    [
        {"x": "link_delay", "y": "from", "panel": "buffer"},
        {"x": "from", "panel": "buffer", "where": {"link_delay": "1.000 us"}},
        {"show": "map", "x": "link_delay", "y": "buffer", "where": {"from": "h0"}},
        {"show": "map", "x": "buffer", "y": "link_delay", "panel": "from"},
        {"show": "pareto", "metric": "queue_mean_octets,throughput_bps"},
    ],
)
def test_texts_of_many_values_have_room(wide: Sweep, keywords: Any, page: Any) -> None:
    _check_texts(wide, keywords | page)


def test_words_along_a_map_are_as_many_as_have_room(wide: Sweep) -> None:
    figure = wide.plot(show="map", x="link_delay", y="buffer", where={"from": "h0"})
    axes = figure.axes[0]
    shown = [tick.get_text() for tick in axes.get_xticklabels()]
    # At least a quarter of the width is written on, and the texts are those of their fields.
    words = sum(box.width for text, box in _texts(figure) if text in shown)
    assert 0.25 * axes.get_window_extent().width < words
    places = np.asarray(axes.get_xticks()).astype(int).tolist()
    assert shown == [f"{1 + 0.137 * place:.3f} us" for place in places]
    assert len(set(np.diff(places))) == 1
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [f"{50 + i}.125 KB" for i in range(10)]


def test_points_of_a_front_have_the_names_that_tell_them_apart(swept: Sweep, wide: Sweep) -> None:
    shown = view(swept, "pareto", ["queue_mean_octets", "throughput_bps"])
    places = np.array([cell.mean for cell in shown.cells])
    front = dominant(shown)
    named = front_of(shown, places, front)
    # Every key that is the same for all stands in the heading, and in no name.
    for dimension in (shown.scheme, *shown.free):
        words = {dimension.word(shown.cells[i].at[dimension.column]) for i in front}
        word = words.pop() if dimension is shown.scheme else f"{dimension.title} {words.pop()}"
        assert (word in named.heading) != bool(words)
        if not words:
            assert all(word not in point.words for point in named.named)
    assert len({point.words for point in named.named}) == len(named.named)
    texts = [text for text, _ in _texts(swept.plot(show="pareto"))]
    for number, point in enumerate(named.named, 1):
        assert texts.count(str(number)) >= 1
        assert any(f"{number}  {point.words}" in text for text in texts)
    # Of keys that change together one is named.
    shown = view(wide, "pareto", ["queue_mean_octets", "throughput_bps"])
    shown_front = front_of(shown, np.array([cell.mean for cell in shown.cells]), dominant(shown))
    assert not any("q eq" in point.words for point in shown_front.named)
    # A front of very many points has a list that can be read all the same.
    every = front_of(shown, np.arange(2.0 * len(shown.cells)).reshape(-1, 2), range(len(shown.cells)))
    assert len(every.named) == 12
    assert "12 of 800 points are named" in every.heading.replace("\u202f", "").replace(",", "")


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
        ({"panel": "scheme"}, "link_delay has 2 values (1 us, 50 us) and no axis", "where=link_delay=1 us"),
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
