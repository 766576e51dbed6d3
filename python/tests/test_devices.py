"""Configurations of devices: exported from a fabric, read again, and checked with faults planted in them."""

import csv
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from penstock import Scenario
from penstock.cli import app
from penstock.devices import (
    FORMATS,
    ConfigurationError,
    Finding,
    check,
    configurations,
    devices,
    read,
    sonic,
    sonic_yang,
)
from penstock.devices.checking import detect, module_of
from penstock.devices.json_lines import JsonFaultError, read_json
from penstock.devices.meaning import examine, headroom_needed, surroundings
from penstock.devices.model import percentages
from penstock.errors import ArgumentError

SCENARIOS = (
    "fabric/leaf-spine-200g",
    "priorities/roce-and-storage",
    "shared-buffer/lossless-pool",
    "deadlock/ring-watchdog",
)

FABRIC = """
question = "?"
duration = "1 ms"
scheme = "dcqcn"
[schemes.dcqcn]
k_min = "4 KB per Gbps"
k_max = "16 KB per Gbps"
p_max = 0.2
[topology.graph]
hosts = "h0..h3"
switches = ["leaf0"]
link = [{ ends = ["h0..h3", "leaf0"], rate = "100 Gbps", cable = "40 m" }]
[network]
wire_overhead = "20 octets"
[[switch]]
memory = "32 MB"
cell = "256 octets"
[[buffer]]
alpha = "none"
ingress_alpha = { 0 = 8, 3 = "1/8" }
[pfc]
priorities = [3]
mtu = "9216 octets"
[pfc.watchdog]
after = "400 ms"
restoration = "400 ms"
poll = "200 ms"
[[priority]]
priority = 3
weight = 60
dscp = [26]
[[priority]]
priority = 0
weight = 40
[[flow]]
from = "h1"
to = "h0"
priority = 3
"""

Tables = dict[str, dict[str, dict[str, str]]]


def fabric() -> Scenario:
    return Scenario.from_toml(FABRIC)


def exported() -> Tables:
    """Return SONiC's tables of the fabric's switch."""
    written = configurations(fabric(), to="sonic")["leaf0"]
    tables: Tables = json.loads(written.files["leaf0.config_db.json"])
    return tables


def findings(tables: Tables | str, chip: str | None = None, of: Scenario | None = None) -> list[Finding]:
    text = tables if isinstance(tables, str) else json.dumps(tables, indent=1)
    return [one for one in check(read(text), fabric=of or fabric(), chip=chip) if one.severity != "note"]


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("name", SCENARIOS)
def test_what_is_exported_is_read_again(name: str, to: str) -> None:
    module = module_of(to)
    for written in configurations(Scenario.named(name), to=to).values():
        (text, *_) = written.files.values()
        assert detect(text) == to
        reading = module.read(text)
        assert reading.device == written.expressed
        assert not [one for one in reading.findings if one.severity != "note"]
        assert written.lost


def test_all_of_the_switch_is_expressed_in_sonics_tables() -> None:
    written = configurations(fabric(), to="sonic")["leaf0"]
    own = next(device for device in devices(fabric(), sonic.port_name) if device.name == "leaf0")
    assert written.expressed == own
    assert len(written.lost) == 1
    assert "port_config.ini" in written.lost[0]
    reasons = written.files["leaf0.reasons.md"]
    # 100 Gb/s, 40 m: `penstock show` has the same number.
    (kind, *_) = {link["flow_control"]["pools"][0]["headroom_needed_octets"] for link in fabric().outline()["links"]
                  if link["flow_control"]}  # fmt: skip
    assert f"xoff` {kind}: " in reasons
    assert "as short frames in cells of 256" in reasons


def test_the_exported_configuration_has_no_fault() -> None:
    assert findings(exported()) == []


def test_values_of_the_tables() -> None:
    tables = exported()
    # 4 and 16 KB a Gb/s at 100 Gb/s.
    assert tables["WRED_PROFILE"]["WRED_3_100G"]["green_min_threshold"] == "400000"
    assert tables["WRED_PROFILE"]["WRED_3_100G"]["green_max_threshold"] == "1600000"
    assert tables["WRED_PROFILE"]["WRED_3_100G"]["green_drop_probability"] == "20"
    profile = tables["BUFFER_PROFILE"]["pg_lossless_100000_40m_profile"]
    # Alpha 1/8 is 2^-3; the pool is dynamic, so that no octets stand there.
    assert profile["dynamic_th"] == "-3"
    assert "static_th" not in profile
    pool = tables["BUFFER_POOL"]["ingress_lossless_pool"]
    assert int(pool["xoff"]) == 4 * int(profile["xoff"])
    assert 32_000_000 - 256 < int(pool["size"]) + int(pool["xoff"]) <= 32_000_000
    assert tables["PFC_WD"]["Ethernet0"] == {"action": "drop", "detection_time": "400", "restoration_time": "400"}
    assert tables["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] == "3"
    assert tables["DSCP_TO_TC_MAP"]["PENSTOCK"] == {"0": "0", "26": "3"}
    assert tables["CABLE_LENGTH"]["PENSTOCK"]["Ethernet0"] == "40m"
    assert tables["SCHEDULER"]["scheduler.3"] == {"type": "DWRR", "weight": "60"}


def test_a_static_pool_has_octets() -> None:
    written = configurations(Scenario.named("priorities/roce-and-storage"), to="sonic")["sw0"]
    tables = json.loads(written.files["sw0.config_db.json"])
    assert tables["BUFFER_POOL"]["ingress_lossless_pool"]["mode"] == "static"
    profile = tables["BUFFER_PROFILE"]["pg_lossless_100000_profile"]
    assert profile["static_th"] == "1935302"
    assert "dynamic_th" not in profile


def _set(table: str, key: str, field: str, value: str) -> Callable[[Tables], None]:
    def plant(tables: Tables) -> None:
        tables.setdefault(table, {}).setdefault(key, {})[field] = value

    return plant


def _without(table: str, key: str, field: str | None = None) -> Callable[[Tables], None]:
    def plant(tables: Tables) -> None:
        if field is None:
            del tables[table][key]
        else:
            del tables[table][key][field]

    return plant


PROFILE, WRED, PORT = "pg_lossless_100000_40m_profile", "WRED_3_100G", "Ethernet0"

PLANTED = [
    # Syntax.
    ("syntax", _set("BUFFER_PROFILE", PROFILE, "xoff", "much"), f"BUFFER_PROFILE|{PROFILE}|xoff"),
    ("syntax", _set("BUFFER_PROFILE", PROFILE, "xoff", "1e6"), f"BUFFER_PROFILE|{PROFILE}|xoff"),
    ("syntax", _set("CABLE_LENGTH", "PENSTOCK", PORT, "40"), f"CABLE_LENGTH|PENSTOCK|{PORT}"),
    ("syntax", _set("PORT_QOS_MAP", PORT, "pfc_enable", "3;4"), f"PORT_QOS_MAP|{PORT}|pfc_enable"),
    ("syntax", _set("BUFFER_PG", f"{PORT}|x", "profile", PROFILE), f"BUFFER_PG|{PORT}|x"),
    ("syntax", _set("BUFFER_PG", PORT, "profile", PROFILE), f"BUFFER_PG|{PORT}"),
    ("syntax", _without("BUFFER_PROFILE", PROFILE, "pool"), f"BUFFER_PROFILE|{PROFILE}"),
    ("syntax", _without("BUFFER_POOL", "ingress_lossless_pool", "mode"), "BUFFER_POOL|ingress_lossless_pool"),
    ("syntax", _set("WRED_PROFILE", "a b", "ecn", "ecn_all"), "WRED_PROFILE|a b"),
    ("syntax", _set("PFC_WD", "GLOBAL", "detection_time", "400"), "PFC_WD|GLOBAL|detection_time"),
    ("syntax", _set("DSCP_TO_TC_MAP", "PENSTOCK", "EF", "3"), "DSCP_TO_TC_MAP|PENSTOCK|EF"),
    # References.
    ("reference", _set("BUFFER_PROFILE", PROFILE, "pool", "ingress_pool"), f"BUFFER_PROFILE|{PROFILE}|pool"),
    ("reference", _set("BUFFER_PG", f"{PORT}|3", "profile", "nosuch"), f"BUFFER_PG|{PORT}|3|profile"),
    ("reference", _set("BUFFER_QUEUE", f"{PORT}|3", "profile", "nosuch"), f"BUFFER_QUEUE|{PORT}|3|profile"),
    ("reference", _set("BUFFER_PG", "Ethernet999|3", "profile", PROFILE), "BUFFER_PG|Ethernet999|3"),
    ("reference", _set("QUEUE", f"{PORT}|3", "wred_profile", "AZURE"), f"QUEUE|{PORT}|3|wred_profile"),
    ("reference", _set("QUEUE", f"{PORT}|3", "scheduler", "s"), f"QUEUE|{PORT}|3|scheduler"),
    ("reference", _set("PORT_QOS_MAP", PORT, "dscp_to_tc_map", "AZURE"), f"PORT_QOS_MAP|{PORT}|dscp_to_tc_map"),
    ("reference", _set("PORT_QOS_MAP", PORT, "tc_to_pg_map", "AZURE"), f"PORT_QOS_MAP|{PORT}|tc_to_pg_map"),
    ("reference", _set("PFC_WD", "Ethernet7", "action", "drop"), "PFC_WD|Ethernet7"),
    ("reference", _set("CABLE_LENGTH", "PENSTOCK", "Ethernet7", "5m"), "CABLE_LENGTH|PENSTOCK|Ethernet7"),
    # Ranges.
    ("range", _set("BUFFER_PROFILE", PROFILE, "dynamic_th", "8"), f"BUFFER_PROFILE|{PROFILE}|dynamic_th"),
    ("range", _set("BUFFER_PROFILE", PROFILE, "dynamic_th", "-9"), f"BUFFER_PROFILE|{PROFILE}|dynamic_th"),
    ("range", _set("BUFFER_PROFILE", PROFILE, "xoff", str(2**64)), f"BUFFER_PROFILE|{PROFILE}|xoff"),
    ("range", _set("BUFFER_PROFILE", PROFILE, "static_th", "9000"), f"BUFFER_PROFILE|{PROFILE}|static_th"),
    (
        "range",
        _set("WRED_PROFILE", WRED, "green_drop_probability", "101"),
        f"WRED_PROFILE|{WRED}|green_drop_probability",
    ),
    ("range", _set("WRED_PROFILE", WRED, "green_max_threshold", "1"), f"WRED_PROFILE|{WRED}|green_max_threshold"),
    ("range", _set("PFC_WD", PORT, "detection_time", "99"), f"PFC_WD|{PORT}|detection_time"),
    ("range", _set("PFC_WD", PORT, "restoration_time", "150"), f"PFC_WD|{PORT}|restoration_time"),
    ("range", _set("PFC_WD", "GLOBAL", "POLL_INTERVAL", "2000"), "PFC_WD|GLOBAL|POLL_INTERVAL"),
    ("range", _set("BUFFER_PG", f"{PORT}|8", "profile", PROFILE), f"BUFFER_PG|{PORT}|8"),
    ("range", _set("SCHEDULER", "scheduler.3", "weight", "0"), "SCHEDULER|scheduler.3|weight"),
    ("range", _set("BUFFER_POOL", "ingress_lossless_pool", "mode", "fixed"), "BUFFER_POOL|ingress_lossless_pool|mode"),
    ("range", _set("DSCP_TO_TC_MAP", "PENSTOCK", "64", "3"), "DSCP_TO_TC_MAP|PENSTOCK|64"),
    # Sums: 32 MB of memory.
    ("sum", _set("BUFFER_POOL", "ingress_lossless_pool", "size", "32000000"), "BUFFER_POOL|ingress_lossless_pool"),
    ("sum", _set("BUFFER_POOL", "ingress_lossless_pool", "xoff", "9000000"), "BUFFER_POOL|ingress_lossless_pool"),
    ("sum", _set("BUFFER_POOL", "ingress_lossless_pool", "xoff", "65536"), "BUFFER_POOL|ingress_lossless_pool"),
    ("sum", _set("BUFFER_POOL", "egress_lossless_pool", "size", "32000001"), "BUFFER_POOL|egress_lossless_pool"),
    ("sum", _set("BUFFER_POOL", "egress_lossy_pool", "size", str(10**18)), "BUFFER_POOL|egress_lossy_pool"),
    ("sum", _set("BUFFER_PROFILE", PROFILE, "size", "9000000"), "BUFFER_POOL|ingress_lossless_pool"),
    ("sum", _set("BUFFER_PROFILE", "ingress_lossy_profile", "size", "9000000"), "BUFFER_POOL|ingress_lossless_pool"),
    ("sum", _set("BUFFER_PROFILE", "egress_lossy_profile", "size", "9000000"), "BUFFER_POOL|egress_lossy_pool"),
    ("sum", _set("BUFFER_PROFILE", "egress_lossless_profile", "size", "9000000"), "BUFFER_POOL|egress_lossless_pool"),
    ("sum", _set("BUFFER_POOL", "egress_lossless_pool", "size", str(2**63)), "BUFFER_POOL|egress_lossless_pool"),
    # Meaning.
    ("meaning", _set("BUFFER_PROFILE", PROFILE, "xoff", "65536"), f"BUFFER_PROFILE|{PROFILE}"),
    ("meaning", _set("CABLE_LENGTH", "PENSTOCK", PORT, "300m"), f"BUFFER_PROFILE|{PROFILE}"),
    ("meaning", _set("PORT", PORT, "speed", "400000"), f"BUFFER_PROFILE|{PROFILE}"),
    ("meaning", _set("BUFFER_PROFILE", PROFILE, "xon_offset", "255"), f"BUFFER_PROFILE|{PROFILE}"),
    ("meaning", _without("BUFFER_PG", f"{PORT}|3"), f"PORT_QOS_MAP|{PORT}|pfc_enable"),
    ("meaning", _set("PORT_QOS_MAP", PORT, "pfc_enable", "3,4"), f"PORT_QOS_MAP|{PORT}|pfc_enable"),
    ("meaning", _set("BUFFER_PG", f"{PORT}|3", "profile", "ingress_lossy_profile"), f"PORT_QOS_MAP|{PORT}|pfc_enable"),
    ("meaning", _set("WRED_PROFILE", WRED, "ecn", "ecn_none"), f"WRED_PROFILE|{WRED}"),
    ("meaning", _set("WRED_PROFILE", WRED, "green_max_threshold", "400001"), f"WRED_PROFILE|{WRED}"),
    ("meaning", _set("PORT", PORT, "mtu", "9216"), f"BUFFER_PROFILE|{PROFILE}"),
]


@pytest.mark.parametrize(("kind", "plant", "where"), PLANTED)
def test_a_planted_fault_is_found(kind: str, plant: Callable[[Tables], None], where: str) -> None:
    tables = exported()
    plant(tables)
    found = findings(tables)
    mine = next((one for one in found if (one.severity, one.kind, one.where) == ("error", kind, where)), None)
    assert mine is not None, found
    assert mine.message
    if mine.line is not None:
        # The line has the key that is named, or the entry of it.
        line = json.dumps(tables, indent=1).split("\n")[mine.line - 1]
        assert any(f'"{part}"' in line for part in (where.rpartition("|")[2], *mine.where.split("|", 1), "xoff", "size",
                                                   "green_min_threshold"))  # fmt: skip


def test_marks_that_never_come_before_pauses() -> None:
    tables = exported()
    # Three other lines at alpha 1/8 of 31.3 MB: 3/8 / (1 + 3/8) = 27 % of it, 8.5 MB; two lines: 20 %, 6.3 MB.
    size = int(tables["BUFFER_POOL"]["ingress_lossless_pool"]["size"])
    for low, text in ((9_000_000, "it is never marked"), (7_000_000, "with fewer than 3 lines pauses come first")):
        tables["WRED_PROFILE"][WRED] |= {"green_min_threshold": str(low), "green_max_threshold": "20000000"}
        (found,) = findings(tables)
        assert (found.where, found.kind, found.severity) == (f"WRED_PROFILE|{WRED}", "meaning", "error")
        assert text in found.message
        assert f"{round(size * 0.25 / 1.25)}" in found.message + found.remedy
        assert found.scenario is not None
    tables["WRED_PROFILE"][WRED] |= {"green_min_threshold": "6000000"}
    assert findings(tables) == []


def test_a_watchdog_shorter_than_congestion() -> None:
    tables = exported()
    # 31 MB through 100 Gb/s take 2.5 ms, through 1 Gb/s 250 ms; headroom of 1 Gb/s is less.
    tables["PORT"]["Ethernet0"]["speed"] = "1000"
    tables["PFC_WD"]["Ethernet0"]["detection_time"] = "200"
    (found,) = findings(tables)
    assert (found.where, found.kind) == ("PFC_WD|Ethernet0|detection_time", "meaning")
    assert "detection after 200 ms" in found.message
    assert found.scenario is not None


def test_a_watchdog_shorter_than_stops_under_load() -> None:
    reading = read(json.dumps(exported()))
    around = surroundings(Scenario.from_toml(FABRIC), None)
    # FABRIC's watchdog detects after 400 ms.
    assert not [one for one in examine(reading, replace(around, longest_stop_s=0.399)) if "storm" in one.message]
    (found,) = examine(reading, replace(around, longest_stop_s=0.5))
    assert "detection after 400 ms; under the fabric's own load a line is stopped for 500 ms" in found.message
    assert found.remedy == "write 501 or more"
    with pytest.raises(ArgumentError, match="there is no fabric that could run"):
        check(reading, load=True)


def test_the_fabric_runs_for_its_watchdogs() -> None:
    # The interface of h0 takes 100 kb/s of what h1 sends: a stop lasts for hundreds of milliseconds.
    slow = FABRIC.replace('"1 ms"', '"500 ms"') + '[[host]]\nnames = "h0"\ndrain_rate = "100 kbps"\nbuffer = "100 KB"\n'
    tables = exported()
    for port in tables["PFC_WD"]:
        if port != "GLOBAL":
            tables["PFC_WD"][port]["detection_time"] = "200"
    found = check(read(json.dumps(tables)), fabric=Scenario.from_toml(slow), load=True)
    assert any("under the fabric's own load a line is stopped for" in one.message for one in found), found


WATCHED = """[pfc.watchdog]
ports = ["leaf0->h0", "leaf0->h1", "leaf0->h3"]
[[pfc.watchdog.port]]
ports = ["leaf0->h1"]
after = "800 ms"
action = "alert"
"""


def test_ports_have_their_own_watchdogs() -> None:
    scenario = Scenario.from_toml(
        FABRIC.replace("[pfc.watchdog]\n", WATCHED.partition("[[")[0]) + WATCHED[WATCHED.index("[[") :]
    )
    written = configurations(scenario, to="sonic")["leaf0"]
    text = written.files["leaf0.config_db.json"]
    tables: Tables = json.loads(text)
    rows = tables["PFC_WD"]
    assert {port: row["detection_time"] for port, row in rows.items() if port != "GLOBAL"} == {
        "Ethernet0": "400",
        "Ethernet8": "800",
        "Ethernet24": "400",
    }
    assert rows["Ethernet8"]["action"] == "alert" and rows["GLOBAL"] == {"POLL_INTERVAL": "200"}
    assert "pfcwd_sw_enable" not in tables["PORT_QOS_MAP"]["Ethernet16"]
    assert module_of("sonic").read(text).device == written.expressed
    (found,) = findings(text, of=scenario)
    assert found.severity == "warning" and "PFC without a watchdog at Ethernet16" in found.message
    # A system with one watchdog for all its ports has that of most.
    lost = configurations(scenario, to="eos")["leaf0"].lost
    assert "watchdogs of single ports: Ethernet2, Ethernet3" in lost


@pytest.mark.parametrize("kind", ["headroom", "marks"])
def test_a_scenario_shows_the_fault(kind: str, tmp_path: Path, penstock: Any) -> None:
    tables = exported()
    if kind == "headroom":
        tables["BUFFER_PROFILE"][PROFILE]["xoff"] = "65536"
    else:
        tables["WRED_PROFILE"][WRED] |= {"green_min_threshold": "9000000", "green_max_threshold": "20000000"}
    (tmp_path / "config_db.json").write_text(json.dumps(tables, indent=1))
    (tmp_path / "fabric.toml").write_text(FABRIC)
    ended = penstock("check", "config_db.json", "--fabric", "fabric.toml", "--scenarios", "shown", cwd=tmp_path)
    assert ended.returncode == 1
    (file,) = [path.name for path in (tmp_path / "shown").iterdir()]
    assert f"shown/{file}" in ended.stdout
    run = penstock("run", f"shown/{file}", "--no-figures", cwd=tmp_path)
    assert run.returncode == 1, run.stderr
    assert ("lossless" if kind == "headroom" else "require_action") in run.stderr


def test_a_class_that_is_lossless_on_one_side() -> None:
    one, other = exported(), exported()
    other["DSCP_TO_TC_MAP"]["PENSTOCK"]["26"] = "0"
    found = check(read(json.dumps(one)), fabric=fabric(), other=read(json.dumps(other)))
    (error,) = [each for each in found if each.severity == "error"]
    assert error.where == "DSCP_TO_TC_MAP|PENSTOCK|26"
    assert error.message == "DSCP 26 is lossless here (priority 3) and lossy at leaf0 (priority 0)"
    host = configurations(fabric(), to="mlnx_qos")["h0"].files["h0.mlnx_qos.sh"]
    assert [each for each in check(read(json.dumps(one)), other=read(host)) if each.severity == "error"] == []
    lossy = host.replace("--pfc 0,0,0,1,", "--pfc 0,0,0,0,")
    found = check(read(json.dumps(one)), other=read(lossy))
    assert {each.where for each in found if each.severity == "error"} >= {"PORT_QOS_MAP|Ethernet0|pfc_enable"}


EXAMPLE = """\
{
 "sonic-port:sonic-port":{"sonic-port:PORT":{"PORT_LIST":[{"name":"Ethernet0","lanes":"0,1,2,3","speed":100000,"mtu":9100}]}},
 "sonic-cable-length:sonic-cable-length":{"sonic-cable-length:CABLE_LENGTH":{"CABLE_LENGTH_LIST":[{"name":"AZURE",
  "CABLE_LENGTH":[{"port":"Ethernet0","length":"40m"}]}]}},
 "sonic-buffer-pool:sonic-buffer-pool":{"sonic-buffer-pool:BUFFER_POOL":{"BUFFER_POOL_LIST":[
  {"name":"ingress_lossless_pool","type":"ingress","mode":"dynamic","size":"28000000","xoff":"4194112"},
  {"name":"egress_lossless_pool","type":"egress","mode":"static","size":"32768000"}]}},
 "sonic-buffer-profile:sonic-buffer-profile":{"sonic-buffer-profile:BUFFER_PROFILE":{"BUFFER_PROFILE_LIST":[
  {"name":"pg","pool":"ingress_lossless_pool","size":"19456","xon":"19456","xoff":"65536","xon_offset":"2496","dynamic_th":0}]}},
 "sonic-buffer-pg:sonic-buffer-pg":{"sonic-buffer-pg:BUFFER_PG":{"BUFFER_PG_LIST":[
  {"port":"Ethernet0","pg_num":"3-4","profile":"pg"}]}},
 "sonic-port-qos-map:sonic-port-qos-map":{"sonic-port-qos-map:PORT_QOS_MAP":{"PORT_QOS_MAP_LIST":[
  {"ifname":"Ethernet0","pfc_enable":"3,4"}]}},
 "sonic-pfcwd:sonic-pfcwd":{"sonic-pfcwd:PFC_WD":{"PFC_WD_LIST":[{"ifname":"GLOBAL","POLL_INTERVAL":200},
  {"ifname":"Ethernet0","action":"drop","detection_time":400,"restoration_time":400}]}}
}
"""


def test_the_form_of_yang_is_read() -> None:
    reading = read(EXAMPLE)
    assert reading.findings == []
    (port,) = reading.device.ports
    assert (port.rate_bps, port.cable_m, port.pfc) == (100_000_000_000, 40, (3, 4))
    assert port.ingress[4].xoff_octets == 65_536
    # 394 quanta of 64 octets, twice 202 ns, three frames of 9122 and some: less than 65 536 octets, in no cells.
    assert not [one for one in check(reading) if one.severity == "error"]
    # In cells of 256 octets, short frames need more than twice that.
    (error,) = [one for one in check(reading, chip="64MB/256B") if one.severity == "error"]
    assert (error.line, error.kind) == (9, "meaning")
    assert "xoff 65536 < 138752 needed" in error.message


POOLS = """\
path,size,xoff,chip
arista_7050cx3_32s,32732160,1622016,trident-3
dellemc_s5232f,26284032,6291456,trident-3
arista_7260cx3_64,33329088,7827456,tomahawk-1
dell_z9864f,162539680,33374584,tomahawk-5
"""
"""Some pools of SONiC's `buffers_defaults_*.j2` (sonic-net/sonic-buildimage 086b03bd, Apache-2.0)."""


def test_pools_that_ask_for_more_than_the_chip() -> None:
    outcome = {}
    for row in csv.DictReader(StringIO(POOLS)):
        pool = {"type": "ingress", "mode": "dynamic", "size": row["size"], "xoff": row["xoff"]}
        text = json.dumps({"BUFFER_POOL": {"ingress_lossless_pool": pool}})
        outcome[row["path"]] = [one.message for one in check(read(text), chip=row["chip"]) if one.kind == "sum"]
    # 33 004 032, 33 004 032 and 15 982 720 octets; the last fits its 165 MB only without its headroom.
    assert "= 34354176 octets; the chip has 33004032" in outcome["arista_7050cx3_32s"][0]
    assert outcome["dellemc_s5232f"] == []
    assert outcome["arista_7260cx3_64"]
    assert outcome["dell_z9864f"]


BAD = [
    ("", 1, "empty"),
    ("   \n", 1, "empty"),
    ("{", 1, "a key in double quotes"),
    ('{"PORT": {"Ethernet0": {"speed": "1"}}', 1, "a comma or }"),
    ('{"PORT":\n {"Ethernet0" {}}}', 2, "a colon"),
    ("[1, 2", 1, "a comma or ]"),
    ("[]", 1, "no object of tables"),
    ('{"PORT": tru}', 1, "a value is expected"),
    ('{"a": ' + "[" * 1000, 1, "nested deeper"),
    ('{"PORT": ' + "9" * 100 + "}", 1, "100 digits"),
    ('{"a": "x\n"}', 1, "control character"),
    ("{} {}", 1, "more text"),
    ("hello", 1, "no format is known"),
]


@pytest.mark.parametrize(("text", "line", "message"), BAD)
def test_what_is_no_configuration(text: str, line: int, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read(text)
    assert caught.value.line == line
    assert message in str(caught.value)


def test_json_has_lines_and_keys_that_stand_twice() -> None:
    document = read_json('{"a": 1,\n\n "b": {"c": "x",\n "c": "y"}}')
    assert document.lines == {"a": 1, "b": 3}
    assert document["b"].repeated == [("c", 3, 4)]
    with pytest.raises(JsonFaultError):
        read_json("NaN")
    reading = read('{"PORT": {"Ethernet0": {"speed": "1000", "speed": "10"}}}')
    assert [one.where for one in reading.findings] == ["PORT|Ethernet0|speed"]


def test_other_tables_are_named_and_huge_numbers_refused() -> None:
    text = json.dumps({"VLAN": {"Vlan1": {}}, "PORT": {"Ethernet0": {"speed": "9" * 400}}, "BUFFER_POOLS": {}})
    reading = read(text)
    assert {(one.severity, one.where) for one in reading.findings} == {
        ("note", "tables"),
        ("error", "PORT|Ethernet0|speed"),
        ("warning", "BUFFER_POOLS"),
    }
    assert "VLAN" in next(one.message for one in reading.findings if one.where == "tables")


def test_percentages_add_up() -> None:
    assert percentages({0: 1, 1: 1, 2: 1}) == {0: 34, 1: 33, 2: 33}
    assert percentages({3: 60, 4: 30, 0: 10}) == {3: 60, 4: 30, 0: 10}
    assert sum(percentages({0: 1, 1: 10_000, 2: 1}).values()) == 100


def test_headroom_is_that_of_show() -> None:
    for link in Scenario.named("fabric/leaf-spine-200g").outline()["links"]:
        about = link["flow_control"]
        if about is not None and link["cable_m"] is not None:
            needed = headroom_needed(link["rate_bps"], int(link["cable_m"]), 9216, 256, about["response_s"])
            assert needed == about["pools"][0]["headroom_needed_octets"]


def test_the_commands(tmp_path: Path) -> None:
    (tmp_path / "fabric.toml").write_text(FABRIC)
    runner = CliRunner()
    out = tmp_path / "out"
    ended = runner.invoke(app, ["export", str(tmp_path / "fabric.toml"), str(out), "--to", "sonic"])
    assert ended.exit_code == 0
    assert {path.name for path in out.iterdir()} == {"leaf0.config_db.json", "leaf0.reasons.md"}
    assert "port_config.ini" in ended.stderr
    config = str(out / "leaf0.config_db.json")
    assert runner.invoke(app, ["export", str(tmp_path / "fabric.toml"), str(out), "--to", "sonic"]).exit_code == 2
    ended = runner.invoke(app, ["check", config, "--fabric", str(tmp_path / "fabric.toml"), "--json"])
    assert (ended.exit_code, json.loads(ended.stdout)["findings"]) == (0, [])
    ended = runner.invoke(app, ["check", config, "--chip", "trident-2", "--json"])
    document = json.loads(ended.stdout)
    assert ended.exit_code == 1
    assert document["errors"] >= 1
    assert {"line", "where", "severity", "kind", "message", "remedy"} <= set(document["findings"][0])
    for wrong in (
        ["check", str(tmp_path / "none.json")],
        ["check", config, "--format", "ios"],
        ["check", config, "--chip", "nosuch"],
        ["check", config, "--fabric", "nosuch"],
        ["check", config, "--format", "dcb"],
        ["export", str(tmp_path / "fabric.toml"), str(tmp_path / "o"), "--to", "ios"],
        ["export", str(tmp_path / "fabric.toml"), str(tmp_path / "o"), "--to", "sonic", "--seed", "2"],
    ):
        assert runner.invoke(app, wrong).exit_code == 2, wrong
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    assert runner.invoke(app, ["check", str(tmp_path / "binary")]).exit_code == 2
    assert not (tmp_path / "o").exists()


def test_a_format_that_is_not_known() -> None:
    with pytest.raises(ArgumentError, match="format=ios: unknown format"):
        configurations(fabric(), to="ios")


@pytest.mark.skipif(
    "PENSTOCK_SONIC_YANG" not in os.environ or shutil.which("yanglint") is None,
    reason="PENSTOCK_SONIC_YANG names no folder of SONiC's YANG models, or yanglint is not installed",
)
@pytest.mark.machine
def test_sonics_models_accept_what_is_exported(tmp_path: Path) -> None:
    models = Path(os.environ["PENSTOCK_SONIC_YANG"])
    for name in SCENARIOS:
        (written, *_) = configurations(Scenario.named(name), to="sonic").values()
        (text, *_) = written.files.values()
        assert sonic_yang.validate(sonic.tables_of(text), models) == []
    tables = exported()
    tables["BUFFER_PROFILE"][PROFILE]["dynamic_th"] = "8"
    assert sonic_yang.validate(tables, models)
