"""Tables of a run, a comparison, a sweep and an arena: a row a run or a sample, a column a number; single panels."""

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import SMALL
from matplotlib import pyplot

import penstock
from penstock import ArgumentError, Comparison, PenstockError, Result, Scenario, Sweep, arena, compare, sweep
from penstock.arenas.arena import Arena
from penstock.theory import compare_with_packets

ARENA = """\
title = "Two small workloads"

[[workload]]
name = "shared"
scenario = "small.toml"
judge = "queue_mean_octets"

[[workload]]
name = "deep"
scenario = "small.toml"
set = { topology.star.buffer = "120 KB" }
judge = "queue_mean_octets"
"""


def _small() -> Scenario:
    return Scenario.from_toml(SMALL, name="small").with_({"duration": "2 ms"})


def test_all_four_give_tables_alike() -> None:
    for kind in (Result, Comparison, Sweep, Arena):
        for name, parameter in (("table", "name"), ("to_pandas", "table"), ("to_polars", "table")):
            assert inspect.signature(getattr(kind, name)).parameters[parameter].default == "runs", (kind, name)


def test_a_run_is_one_row_and_its_tables_have_a_row_a_sample(result: Result) -> None:
    (row,) = result.to_polars().to_dicts()
    (queue,) = result.summary["queues"]
    assert (row["scenario"], row["scheme"], row["seed"]) == ("small", "qcn", 1)
    assert (row["queue"], row["queue_mean_octets"]) == ("sw0->h2", queue["mean_octets"])
    assert row["throughput_bps"] == pytest.approx(sum(flow["throughput_bps"] for flow in result.summary["flows"]))
    assert not any(isinstance(value, dict | list) for value in row.values())
    assert result.to_pandas("queues")["queue_octets"].tolist() == result.column("queues", "queue_octets").tolist()
    with pytest.raises(PenstockError, match="no recorded table is called 'pauses'"):
        result.to_pandas("pauses")


def test_a_comparison_has_a_row_a_run_in_memory_and_in_a_folder(tmp_path: Path) -> None:
    compared = compare(_small(), ["none", "qcn"], seeds=2, out=tmp_path / "out")
    read = penstock.open(tmp_path / "out")
    assert isinstance(read, Comparison)
    rows = [[scheme, scheme, seed] for scheme in ("none", "qcn") for seed in (1, 2)]
    for frame in (compared.to_pandas(), read.to_pandas(), compare(_small(), ["none", "qcn"], seeds=2).to_pandas()):
        assert frame[["label", "scheme", "seed"]].values.tolist() == rows
        mean = compared.document["schemes"][1]["queue_mean_octets"]["mean"]
        assert frame.groupby("label", observed=True)["queue_mean_octets"].mean()["qcn"] == pytest.approx(mean)
    # Two flows and one queue in each of four runs.
    assert (compared.table("flows").num_rows, compared.table("queues").num_rows) == (8, 4)
    with pytest.raises(PenstockError, match="no table is called 'rates'; the tables are runs, "):
        compared.table("rates")


def test_a_sweep_is_a_dataset_with_a_dimension_a_key(tmp_path: Path) -> None:
    pytest.importorskip("xarray")
    vary: list[dict[str, Any]] = [
        {"topology.star.buffer": ["60 KB", "120 KB"], "warmup": ["0 s", "1 ms"]},
        {"schemes.qcn.w": [1, 2, 4]},
    ]
    swept = sweep(_small(), vary, schemes=["qcn"], seeds=[3, 5], out=tmp_path / "out")
    data = swept.to_xarray()
    assert dict(data.sizes) == {"buffer_octets": 2, "w": 3, "scheme": 1, "seed": 2}
    assert data["seed"].values.tolist() == [3, 5]
    alone = _small().with_({"topology.star.buffer": "120 KB", "warmup": "1 ms", "schemes.qcn.w": 4}).run(seed=5)
    found = data["queue_mean_octets"].sel(buffer_octets=120e3, w=4, scheme="qcn", seed=5)
    assert float(found) == alone.summary["queues"][0]["mean_octets"]


def test_an_arena_has_a_row_a_run_of_each_workload(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(_small().to_toml(), encoding="utf-8")
    (tmp_path / "arena.toml").write_text(ARENA, encoding="utf-8")
    found = arena(tmp_path / "out", file=tmp_path / "arena.toml", competitors=["none", "qcn"], seeds=[2, 4])
    frame = found.to_pandas()
    rows = [[w, s, n] for w in ("shared", "deep") for s in ("none", "qcn") for n in (2, 4)]
    assert frame[["workload", "scheme", "seed"]].values.tolist() == rows
    assert found.seeds == 2
    own = _small().with_({"topology.star.buffer": "120 KB"}).run(scheme="none", seed=4)
    assert frame["queue_mean_octets"][5] == own.summary["queues"][0]["mean_octets"]
    assert found.table("flows").num_rows == 16
    with pytest.raises(PenstockError, match="no table is called 'nothing'"):
        found.table("nothing")


def test_seeds_are_a_number_or_themselves() -> None:
    named = compare(_small(), ["none", "qcn"], seeds=[7, 2])
    assert named.document["schemes"][1]["seeds"] == [7, 2]
    assert [run.summary["seed"] for run in named.runs["qcn"]] == [7, 2]
    counted = compare(_small(), ["none", "qcn"], seeds=2)
    assert named.runs["qcn"][1].fingerprint() == counted.runs["qcn"][1].fingerprint()
    short = Scenario.named("sliding-mode/three-sources").with_({"duration": "20 ms", "warmup": "0 s"})
    assert compare_with_packets(short, seeds=(5, 9)).seeds == (5, 9)
    for seeds, message in (
        ([], "is a list of 0 seeds"),
        ([1, 1], "1 appears twice"),
        ([-1], "-1 is not a seed"),
        (True, "True is neither"),
        (2.0, "2.0 is neither"),
    ):
        with pytest.raises(ArgumentError, match=f"seeds: {message}"):
            compare(_small(), ["none", "qcn"], seeds=seeds)  # type: ignore[arg-type]


def test_panels_are_drawn_into_axes_of_the_caller(result: Result) -> None:
    figure, (left, right) = pyplot.subplots(1, 2)
    assert result.plot.queue(ax=left) is left
    assert result.plot.rates(ax=right) is right
    shown = {name: axes.get_ylabel() for name, axes in (("queue", left), ("rates", right))}
    assert shown == {"queue": "queue length (KB)", "rates": "delivered rate (Mb/s)"}
    time_s, octets = (np.asarray(values) for values in left.get_lines()[0].get_data())
    assert octets.max() * 1000 == result.column("queues", "queue_octets").max()
    assert time_s[-1] == pytest.approx(result.end_s)
    # Without axes: the current ones.
    pyplot.sca(left)
    assert result.plot.utilization() is left
    pyplot.close(figure)
