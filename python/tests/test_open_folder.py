"""Any folder of results is opened by one function, and a changed scenario is a new one."""

from pathlib import Path

import pytest
from conftest import SMALL

import penstock
from penstock import OutputError, Scenario, compare, sweep


def test_each_folder_is_opened_as_what_it_holds(tmp_path: Path) -> None:
    scenario = Scenario.from_toml(SMALL).with_({"duration": "2 ms"})
    scenario.run(out=tmp_path / "run")
    compare([scenario], schemes=["none", "qcn"], out=tmp_path / "comparison")
    sweep(scenario, vary={"schemes.qcn.q_eq": ["20 KB", "33 KB"]}, out=tmp_path / "sweep")
    opened = {name: penstock.open(tmp_path / name) for name in ("run", "comparison", "sweep")}
    assert {name: type(of).__name__ for name, of in opened.items()} == {
        "run": "Result",
        "comparison": "Comparison",
        "sweep": "Sweep",
    }
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
