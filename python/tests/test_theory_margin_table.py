"""The table of all schemes' margins, and flow control in the fluid: cells by other ways, pauses against packets."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from penstock import Scenario
from penstock.cli import app
from penstock.errors import ArgumentError
from penstock.theory.configuration import Pause, UnsuitedScenarioError, configuration
from penstock.theory.margin import report
from penstock.theory.margin_table import Case, margin_table
from penstock.theory.models import DELAYED, model_of
from penstock.theory.packet_oscillation import PacketOscillation, simulate
from penstock.theory.pauses import Pauses, bind, pauses


def test_a_cell_is_what_the_report_says() -> None:
    table = margin_table([4], ["10g"], [10e-6])
    assert table.cases == (Case(4, 10e9, 10e-6),)
    assert set(table.rows) == set(DELAYED)
    # Four flows of baseline/ten-gig: 10 us a link, 10 Gb/s, and the defaults, as on the page of Fast CNP.
    assert math.degrees(table.rows["dcqcn"][0].phase_rad) == pytest.approx(2.7, abs=0.06)
    assert math.degrees(table.rows["fast-cnp"][0].phase_rad) == pytest.approx(9.5, abs=0.06)
    assert math.degrees(table.rows["rocc"][0].phase_rad) == pytest.approx(30, abs=0.1)
    assert table.rows["powertcp"][0].phase_rad == math.inf
    for name in ("smcc", "dctcp"):
        assert (table.rows[name][0].kind, table.rows[name][0].reason == "") == ("cycle", False)
    assert all(cell.reason == "" for cells in table.rows.values() for cell in cells if cell.kind == "margin")


def test_the_command_prints_draws_and_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    given = ["theory", "table", "--flows", "2", "--rate", "100g", "--delay", "1 us"]
    done = CliRunner().invoke(app, [*given, "--out", "margins.svg"])
    assert done.exit_code == 0, done.output
    assert "ndp: no model; windows are constant" in done.stdout
    assert Path("margins.svg").read_text().count("<svg") == 1
    document = json.loads(CliRunner().invoke(app, [*given, "--json"]).stdout)
    assert document["cases"] == [{"flows": 2, "rate_bps": 100e9, "delay_s": 1e-6}]
    assert document["schemes"]["swift"][0]["phase_margin_degrees"] is None
    with pytest.raises(ArgumentError, match="no arena has this rate"):
        margin_table([2], ["40g"], [1e-6])
    for wrong, says in ((["--rate", "40g"], "no arena has this rate"), (["--delay", "3"], "unit")):
        refused = CliRunner().invoke(app, ["theory", "table", *wrong])
        assert refused.exit_code == 2
        assert says in refused.output


def _paused(flows: int, xoff: str, scheme: str = "dcqcn", **settings: str) -> Scenario:
    """Return sources at 100 Gb/s with HPCC's thresholds of marks, and links that are stopped at ``xoff``."""
    scenario = Scenario.named("baseline/ten-gig").set("scheme", scheme)
    keys: dict[str, str | int] = {
        "topology.star.hosts": flows + 1,
        "topology.star.link_rate": "100 Gbps",
        "topology.star.link_delay": "5 us",
        "topology.star.buffer": "8 MB",
        "flow.0.from": f"h0..h{flows - 1}",
        "flow.0.to": f"h{flows}",
        "flow.0.stagger": "10 us",
        "duration": "20 ms",
        "warmup": "10 ms",
        "pfc.xoff": xoff,
        "pfc.buffer": "2 MB",
    }
    marks = {"k_min": "400 KB", "k_max": "1600 KB", "p_max": "0.2", "r_ai": "40 Mbps"} if scheme == "dcqcn" else {}
    for key, value in (
        keys | {f"schemes.{scheme}.{name}": value for name, value in (marks | settings).items()}
    ).items():
        scenario.set(key, value)
    return scenario


def test_thresholds_of_all_links_add_up() -> None:
    given = configuration(_paused(2, "100 KB"))
    pause = given.pause
    assert isinstance(pause, Pause)
    assert pause.xoff_octets == 200_000
    # There 64 octets and 5 us, 2 us of response and a frame, and 5 us back.
    assert 10e-6 < pause.delay_s < 15e-6
    model = model_of(given)
    assert float(model.state_at_rest()[0]) == pytest.approx(402_000, rel=0.01)
    assert bind(given, model)
    assert not bind(configuration(_paused(2, "300 KB")), model)
    assert configuration(Scenario.named("baseline/ten-gig")).pause is None


@pytest.mark.science
@pytest.mark.parametrize("xoff", ["100 KB", "50 KB"])
def test_two_sources_under_pauses_never_come_to_the_marks(xoff: str) -> None:
    fluid, queue = _both(_paused(2, xoff))
    assert queue["mean_octets"] == pytest.approx(fluid.mean_octets, rel=0.1)
    assert queue["std_octets"] == pytest.approx(fluid.std_octets, rel=0.1)
    assert queue["utilization"] == pytest.approx(fluid.utilization, abs=0.03)
    # Both limiters are at line rate.
    assert fluid.rate_bps == pytest.approx(100e9)
    # The control: without flow control the queue is where marks have it.
    free = _paused(2, "300 KB").run(seed=1).summary["queues"]
    assert max(queue["mean_octets"] for queue in free) > 1.5 * fluid.mean_octets


@pytest.mark.science
@pytest.mark.parametrize(("flows", "xoff"), [(4, "60 KB"), (8, "40 KB"), (16, "20 KB")])
def test_more_sources_are_stopped_in_turn_and_the_queue_stays_at_the_marks(flows: int, xoff: str) -> None:
    fluid, queue = _both(_paused(flows, xoff))
    assert queue["mean_octets"] == pytest.approx(fluid.mean_octets, rel=0.03)
    assert queue["std_octets"] < 20_000
    assert fluid.std_octets < 20_000
    assert fluid.mean_octets > 1.2 * fluid.xoff_octets
    # Limiters are at two or three fair shares, and stopped for the rest of the time.
    assert fluid.rate_bps * (1 - fluid.held_share) == pytest.approx(100e9 / flows, rel=0.1)


def _both(scenario: Scenario) -> tuple[Pauses, Any]:
    """Return the fluid under pauses, and the longest queue of packets."""
    given = configuration(scenario)
    queues = scenario.run(seed=1).summary["queues"]
    return pauses(given, model_of(given)), max(queues, key=lambda queue: queue["mean_octets"])


def test_the_report_has_pauses_instead_of_a_margin() -> None:
    scenario = _paused(2, "100 KB")
    found = report(configuration(scenario))
    assert found.pauses is not None and not found.sides and not found.stable
    seen = simulate(scenario, found)
    assert isinstance(seen, PacketOscillation)
    assert seen.verdict == "confirm"
    assert report(configuration(_paused(2, "300 KB"))).sides


def test_sources_of_windows_have_no_model_of_pauses() -> None:
    given = configuration(_paused(2, "2 KB", "theta-powertcp"))
    model = model_of(given)
    with pytest.raises(UnsuitedScenarioError, match="theta-powertcp have windows"):
        pauses(given, model)
    # The margin is that without flow control.
    assert not bind(given, model)
