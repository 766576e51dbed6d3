"""Figures of many flows, and figures on pages that are not the usual ones."""

import re
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from conftest import SMALL
from matplotlib.axes import Axes
from matplotlib.text import Text

from penstock import PenstockError, Result, Scenario
from penstock.figures import Page, comparison, on, pauses
from penstock.figures.flow_bands import FlowBands
from penstock.figures.series import FlowSeries, flow_series
from penstock.figures.style import save

_SENDERS = 47

MANY = SMALL.replace("hosts = 3", "hosts = 49").replace("20 ms", "4 ms").replace('"1 Gbps"', '"10 Gbps"')
# 893 answers, and 47 flows of separate tables, to two ports: 940 flows of a dozen fair shares.
MANY = MANY[: MANY.index("[[flow]]")] + "".join(
    f'[[flow]]\nname = "w{i}"\nfrom = "h{i}"\nto = "h48"\nweight = {1 + i % 12}\n\n' for i in range(_SENDERS)
)
MANY += f'[[flow]]\nname = "answer"\nfrom = "h0..h{_SENDERS - 1}"\nto = "h47"\nsize = "9 KB"\n'
MANY += 'repeat = 19\nevery = "0.2 ms"\n'


@pytest.fixture(scope="module")
def many() -> Result:
    """Return a run of 940 flows."""
    return Scenario.from_toml(MANY, name="many").run()


def words(axes: Axes) -> list[str]:
    legend = axes.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def test_a_drawing_does_not_grow_with_the_flows(many: Result) -> None:
    assert len(many.summary["flows"]) == 940
    rates = many.plot(show="rates").axes[0]
    assert len(rates.lines) + len(rates.collections) + len(rates.patches) <= 12
    said = words(rates)
    assert said[:3] == ["median of 940 flows", "half of them", "nine tenths"]
    # Of 47 flows of separate tables none has a name for that alone: the extremes have.
    assert [re.sub(r"\w+: (\w+), .*", r"\1", word) for word in said[3:5]] == ["least", "most"]
    assert len(said) <= 7


def test_each_level_of_the_fair_share_is_a_line_once(many: Result) -> None:
    assert words(many.plot(show="rates").axes[0])[5:] == ["max-min fair share"]
    (axes,) = many.plot(show="rates").axes
    before = len(axes.lines)
    samples = np.arange(100.0)
    apart = [FlowSeries(f"f{i}", samples, np.full(100, 1e9), np.full(100, i * 1e8), np.inf) for i in range(1, 10)]
    FlowBands(apart).draw(axes, 1e9, 1e9, shared=False)
    # Nine levels at a time are a median and two bounds; and there are the median of the rates and two flows by name.
    assert len(axes.lines) == before + 3 + 3


def test_shares_near_the_bottom_have_a_line(many: Result) -> None:
    samples = np.arange(100.0)
    small = [FlowSeries(f"f{i}", samples, np.full(100, 1e9), np.full(100, 1e6), np.inf) for i in range(9)]
    (axes,) = many.plot(show="rates").axes
    before = len(axes.collections)
    FlowBands(small).draw(axes, 1e9, 1e9, shared=False)
    # Two bands, and the dashed line.
    assert len(axes.collections) == before + 3


def test_panels_of_a_comparison_say_the_same_of_other_flows(many: Result) -> None:
    other = Scenario.from_toml(MANY).run(scheme="none")
    (legend,) = (axes for axes in comparison([many, other]).axes[2:] if axes.get_legend() is not None)
    said = words(legend)
    assert len(said) == len(set(said))
    assert "flow with least of its share" in said


def test_groups_of_flows_have_room_for_their_names(many: Result) -> None:
    stopped = Result(many._core)
    queues = [many.summary["queues"][0] | {"paused_s": 0.002, "pause_frames": 3}]
    stopped.__dict__["summary"] = many.summary | {"queues": queues}
    _, right = pauses({"qcn": [stopped], "again": [many]}).axes[:2]
    names = [text for text in right.get_yticklabels() if text.get_text()]
    assert len(names) == 12
    assert "12 of 48" in right.get_title("left").replace("\n", " ")
    boxes = sorted((text.get_window_extent() for text in names), key=lambda box: box.y0)
    assert all(below.y1 <= above.y0 for below, above in pairwise(boxes))


def test_sums_of_pauses_say_so(result: Result) -> None:
    stopped = Result(result._core)
    totals = result.summary["totals"] | {"paused_s": 0.06}
    stopped.__dict__["summary"] = result.summary | {"totals": totals}
    said = comparison([stopped]).axes[0].get_title("left").replace("\n", " ")
    assert "queues stopped for 60 ms added up" in said


@pytest.mark.parametrize("title", [True, False])
def test_a_column_of_a_journal(many: Result, tmp_path: Path, title: bool) -> None:
    path = tmp_path / "column.pdf"
    figure = many.plot(path, width=3.3, font_size=8, title=title)
    assert figure.get_figwidth() == 3.3
    assert (figure.get_suptitle() != "") is title
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        if text.get_text():
            assert text.get_fontsize() == 8
    # Nothing leaves the page or lies on something else.
    figure.draw_without_rendering()
    for axes in figure.axes:
        box = axes.get_window_extent()
        assert box.height > 70 * figure.dpi / 72
        legend = axes.get_legend()
        if legend is not None:
            assert legend.get_window_extent().y0 >= box.y1
            assert legend.get_window_extent().x1 <= figure.bbox.x1
    data = path.read_bytes()
    assert b"/Type3" not in data
    assert b"/FontFile2" in data
    assert re.search(rb"/MediaBox \[\s*0 0 237\.6 ", data)


def test_settings_of_matplotlib_hold(result: Result, tmp_path: Path) -> None:
    settings = {"font.size": 7.0, "figure.figsize": (5.0, 4.0), "grid.color": "#ff0000"}
    assert result.plot().get_figwidth() == 9.6
    with mpl.rc_context(settings):  # type: ignore[arg-type]
        figure = result.plot(tmp_path / "figure.svg")
        assert tuple(figure.get_size_inches()) == (5.0, 4.0)
        assert figure.axes[0].yaxis.get_label().get_fontsize() == 7.0
        # A page comes before them.
        assert result.plot(width=3.0, font_size=6).axes[0].yaxis.get_label().get_fontsize() == 6
    assert {line.get_color() for line in figure.axes[0].get_xgridlines()} == {"#ff0000"}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"width": 0.2}, "width = 0.2: must be between 1 and 40 inches"),
        ({"width": float("nan")}, "width = nan"),
        ({"font_size": 100}, "font_size = 100: must be between 3 and 40 points"),
        ({"show": "queues"}, "the figures are overview, queue, utilization, rates"),
    ],
)
def test_a_page_that_cannot_be_is_refused(result: Result, tmp_path: Path, asked: dict[str, object], said: str) -> None:
    with pytest.raises(PenstockError, match=re.escape(said)):
        result.plot(tmp_path / "figure.png", **asked)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_a_pdf_has_the_same_bytes_again(result: Result, tmp_path: Path) -> None:
    for name in ("a.pdf", "b.pdf"):
        save(result.plot(show="queue"), tmp_path / name)
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()


def test_a_page_holds_for_figures_of_theory() -> None:
    from penstock.theory.jiang2015_figures import DRAWINGS

    with on(Page(width_in=4.0, title=False)):
        figure = DRAWINGS["figure-7"]()
    assert figure.get_figwidth() == 4.0
    assert figure.get_suptitle() == ""


def test_flows_have_no_rate_before_their_start(many: Result) -> None:
    late = [flow for flow in flow_series(many) if flow.name == "answer800"]
    assert late[0].start_s > 0.001


def test_explanations_of_a_narrow_page_stand_side_by_side_where_they_fit() -> None:
    text = SMALL.replace("hosts = 3", "hosts = 5").replace("h0..h1", "h0..h3").replace('"h2"', '"h4"')
    figure = Scenario.from_toml(text).set("duration", "2 ms").run().plot(width=3.3, font_size=8, title=False)
    found = figure.axes[-1].get_legend()
    assert found is not None
    words = [entry.get_text() for entry in found.get_texts()]
    assert words == ["f0", "f1", "f2", "f3", "max-min fair share"]
    # Two lines of type, and within the page.
    extent = found.get_window_extent()
    assert extent.height * 72 / figure.dpi < 3 * 1.5 * 8
    assert extent.x1 < figure.bbox.x1
