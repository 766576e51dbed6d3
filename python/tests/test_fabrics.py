"""Fabrics: written from options, shown as tables and as a picture."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock import Scenario
from penstock.cli import app
from penstock.errors import ArgumentError
from penstock.fabrics import fabric_template, memory, names_in_short, port_kinds
from penstock.figures.fabric import fabric_figure
from penstock.scenario_template import template

RACKS = {"leaves": 4, "spines": 2, "hosts": 8, "cable": "host=5m,spine0=40m,spine1=300m"}


def test_options_make_the_fabric() -> None:
    scenario = Scenario.from_toml(fabric_template(uplink="2x400G", **RACKS))  # type: ignore[arg-type]
    outline = scenario.outline()
    found = {(kind.nodes, kind.peers): kind for kind in port_kinds(outline)}
    up = found["h0..h31", "leaf0..leaf3"]
    assert (len(up.ports), up.rate_bps, up.cable_m) == (32, 200_000_000_000, 5)
    assert up.latency_s == pytest.approx(25.25e-9)
    far = found["leaf0..leaf3", "spine1"]
    assert (len(far.ports), far.cable_m, far.ports[1]) == (8, 300, "leaf0->spine1.2")
    # A longer cable needs more headroom, and a host none: it pauses nobody.
    near = found["leaf0..leaf3", "spine0"]
    assert far.headroom_octets > near.headroom_octets > 0  # type: ignore[operator]
    assert found["leaf0..leaf3", "h0..h31"].headroom_octets is None
    # 8 x 200 Gb/s to hosts, 2 x 2 x 400 Gb/s to spines.
    leaf, *spines = memory(outline)
    assert (leaf.switches, leaf.oversubscription) == ("leaf0..leaf3", 1.0)
    assert [(spine.switches, spine.oversubscription) for spine in spines] == [("spine0", None), ("spine1", None)]
    for chip in (leaf, *spines):
        parts = ("headroom_octets", "reserved_octets", "shared_octets")
        taken = sum(pool[part] for pool in chip.pools for part in parts)  # type: ignore[literal-required]
        assert chip.memory_octets is not None
        assert 0 <= chip.memory_octets - taken < 256


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("leaves", 0, "leaves=0: out of range"),
        ("speed", "200", "speed=200: not a rate"),
        ("speed", "2x200G", "a host has one link"),
        ("uplink", "0x400G", "not a rate"),
        ("cable", "host=5m", "not one cable for each spine"),
        ("cable", "spine=5m", "hosts have no cable"),
        ("cable", "host=5m,spine0..2=40m", "not one cable for each spine"),
        ("cable", "host=5m,rail=40m", "no such tier"),
        ("cable", "host=-5m,spine=4m", "not a length"),
        ("chip", "much", "no memory"),
    ],
)
def test_what_cannot_be_built_is_refused(option: str, value: object, message: str) -> None:
    with pytest.raises(ArgumentError, match=message) as caught:
        fabric_template(**(RACKS | {option: value}))  # type: ignore[arg-type]
    assert caught.value.hint


def test_names_are_ranges() -> None:
    assert names_in_short(["h2", "h10", "h1", "h3", "sw", "h3"]) == "h1..h3, h10, sw"


def test_a_fabric_is_drawn(tmp_path: Path) -> None:
    for text in (fabric_template(**RACKS), template("qcn", "dragonfly")):  # type: ignore[arg-type]
        figure = fabric_figure(Scenario.from_toml(text).outline())
        figure.savefig(tmp_path / "fabric.png")
        assert (tmp_path / "fabric.png").stat().st_size > 10_000


def test_the_commands_write_and_show_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        done = CliRunner().invoke(app, list(arguments))
        return done.exit_code, done.stdout, done.stderr

    code, out, _ = run("new", "rack", "--fabric", "--leaves", "2", "--spines", "2", "--hosts", "4", "--cable", "10m")
    assert (code, out) == (0, "rack.toml\n")
    code, out, err = run("show", "rack.toml")
    assert code == 0, err
    assert "h0..h7" in out
    assert "memory of leaf0..leaf1: 64 MB = " in out
    assert (tmp_path / "results" / "rack-fabric.svg").is_file()
    document = json.loads(run("show", "rack.toml", "--json")[1])
    assert len(document["ports"]) == 2 * (8 + 4)
    code, _, err = run("new", "other", "--leaves", "2")
    assert (code, "--leaves: options of --fabric" in err) == (2, True)
