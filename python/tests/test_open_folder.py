"""Any folder of results is opened by one function, and a changed scenario is a new one."""

from pathlib import Path

import pytest
from conftest import SMALL

import penstock
from penstock import OutputError, Scenario, arena, compare, sweep

ARENA = """\
[[workload]]
name = "shared"
scenario = "small.toml"
judge = "queue_mean_octets"
set = { topology.star.buffer = "70 KB" }

[[competitor]]
name = "deep"
scheme = "qcn"
set = { schemes.qcn.q_eq = "50 KB" }
"""


def test_each_folder_is_opened_as_what_it_holds(tmp_path: Path) -> None:
    scenario = Scenario.from_toml(SMALL).with_({"duration": "2 ms"})
    scenario.run(out=tmp_path / "run")
    compare([scenario], schemes=["none", "qcn"], out=tmp_path / "comparison")
    sweep(scenario, vary={"schemes.qcn.q_eq": ["20 KB", "33 KB"]}, out=tmp_path / "sweep")
    (tmp_path / "small.toml").write_text(scenario.to_toml(), encoding="utf-8")
    (tmp_path / "arena.toml").write_text(ARENA, encoding="utf-8")
    run = arena(tmp_path / "arena", file=tmp_path / "arena.toml", competitors=["none", "deep"], seeds=[3, 5])
    (tmp_path / "arena.toml").unlink()
    (tmp_path / "small.toml").unlink()
    opened = {name: penstock.open(tmp_path / name) for name in ("run", "comparison", "sweep", "arena")}
    assert {name: type(of).__name__ for name, of in opened.items()} == {
        "run": "Result",
        "comparison": "Comparison",
        "sweep": "Sweep",
        "arena": "Arena",
    }
    assert isinstance(opened["arena"], penstock.Arena)
    assert opened["arena"].document == run.document
    assert opened["arena"].table() == run.table()
    (tmp_path / "arena" / "entries.json").write_text("{}", encoding="utf-8")
    with pytest.raises(OutputError, match=r"entries\.json is damaged, or not one of `penstock arena`: 'entries'"):
        penstock.open(tmp_path / "arena")
    assert isinstance(opened["run"], penstock.Result)
    assert opened["run"].summary["duration_s"] == 2e-3
    with pytest.raises(OutputError, match="nothing"):
        penstock.open(tmp_path / "nothing")


def test_a_scenario_with_other_settings_is_a_new_one() -> None:
    scenario = Scenario.from_toml(SMALL)
    other = scenario.with_({"schemes.qcn.q_eq": "20 KB", "topology.star.link_rate": "2 Gbps"})
    assert 'q_eq = "33 KB"' in scenario.to_toml()
    assert 'q_eq = "20 KB"' in other.to_toml()
    assert 'link_rate = "2 Gbps"' in other.to_toml()
