"""Congestion notification domains: the kernel, one's own and the machine's, and plans of scenarios."""

import errno
import json
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import NEEDED, Command
from mock_kernel import MockKernel, running
from typer.testing import CliRunner

from penstock import ArgumentError, DeviceError, Scenario, dcb, schemes
from penstock.cli import app
from penstock.dcb import device as device_module
from penstock.document import Priority


def structure(priority: int = 3) -> bytes:
    """Return ``ieee_qcn`` with the MIB's defaults on one priority, in Linux's units."""
    values = [1, 15_000, 150_000, 5, 10_000, 5, 50, 7, 50, 5, 3]
    octets = bytearray(360)
    octets[priority] = 1
    for member, value in enumerate(values):
        struct.pack_into("=I", octets, 8 + 32 * member + 4 * priority, value)
    return bytes(octets)


def test_values_of_a_device_are_read() -> None:
    stats = struct.pack("=8Q8I", *range(8), *range(10, 18))
    with running(MockKernel({"eth0": structure()}, stats)) as channel:
        found = dcb.read("eth0", channel=channel)
    assert found.name == "eth0"
    assert list(found.qcn) == [member.name for member in dcb.members()]
    assert found.qcn["rpg_enable"] == [0, 0, 0, 1, 0, 0, 0, 0]
    assert found.qcn["rpg_time_reset"][3] == 15_000
    assert found.qcn["cndd_state_machine"][3] == 3
    assert found.stats == {"rppp_rp_centiseconds": list(range(8)), "rppp_created_rps": list(range(10, 18))}


def test_values_that_are_not_set_stay_as_they_are() -> None:
    kernel = MockKernel({"eth0": structure()})
    with running(kernel) as channel:
        values = {"rpg_time_reset": "300 us", "rpg_enable": "true", "rpg_max_rate": "10 Gbps"}
        found = dcb.write("eth0", values, priorities=[3, 4], channel=channel)
    assert kernel.commands == [21, 20, 21]
    assert found.qcn["rpg_time_reset"] == [0, 0, 0, 300, 300, 0, 0, 0]
    assert found.qcn["rpg_enable"] == [0, 0, 0, 1, 1, 0, 0, 0]
    assert found.qcn["rpg_max_rate"] == [0, 0, 0, 10_000, 10_000, 0, 0, 0]
    wanted = bytearray(structure())
    wanted[4] = 1
    for member, value in ((1, 300), (4, 10_000)):
        struct.pack_into("=II", wanted, 8 + 32 * member + 12, value, value)
    assert kernel.devices["eth0"] == bytes(wanted), "octet for octet"


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (MockKernel({"eth0": errno.EOPNOTSUPP}), ["eth0: its driver has no reaction points", "EOPNOTSUPP", "mlx4"]),
        (MockKernel({"eth0": None}), ["its driver has DCB, but no reaction points"]),
        (MockKernel({"eth0": structure()}, privileged=False), ["only an administrator", "EPERM", "CAP_NET_ADMIN"]),
        (MockKernel({"eth0": structure()}, refuses_set=errno.EINVAL), ["the kernel refuses", "EINVAL"]),
        (MockKernel({"eth0": errno.EBUSY}), ["the kernel refuses", "EBUSY"]),
        (MockKernel({"eth0": b"short"}), ["answer cannot be read", "Qcn has 5 octets, and should have 360"]),
        (MockKernel({"eth0": structure()}, mangle={0: 255, 1: 255}), ["the message at octet 0 is cut off"]),
        (MockKernel({"eth0": structure()}, mangle={8: 255}), ["answers request"]),
        (MockKernel({"eth0": structure()}, mangle={20: 1, 21: 0}), ["the attribute at octet 20 is cut off"]),
    ],
    ids=["no-ops", "no-qcn", "not-root", "refuses", "busy", "short", "cut-off", "another", "attribute"],
)
def test_refusals_become_messages(kernel: MockKernel, words: list[str]) -> None:
    with running(kernel) as channel, pytest.raises(DeviceError) as error:
        dcb.write("eth0", {"rpg_gd": "7"}, channel=channel)
    for word in words:
        assert word in str(error.value)


def test_a_kernel_that_is_silent_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_module, "PATIENCE_S", 0.05)
    with (
        running(MockKernel({"eth0": structure()}, silent=True)) as channel,
        pytest.raises(DeviceError, match=r"has not answered within 0\.05 s"),
    ):
        dcb.read("eth0", channel=channel)


def test_a_system_without_netlink_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(socket, "AF_NETLINK")
    with pytest.raises(DeviceError, match="this system has no rtnetlink"):
        dcb.read("lo")


@pytest.mark.parametrize(
    ("device", "values", "priorities", "words"),
    [
        ("eth9", {"rpg_gd": "7"}, [3], "eth9: unknown network interface"),
        ("a-name-of-sixteen", {"rpg_gd": "7"}, [3], "no interface can have this name"),
        ("", {"rpg_gd": "7"}, [3], "no interface can have this name"),
        ("eth0", {"rpg_gdd": "7"}, [3], "did you mean rpg_gd"),
        ("eth0", {"rpg_gd": "32"}, [3], "rpg_gd: 32 is out of range; its values are 0 to 31"),
        ("eth0", {"rpg_ai_rate": "5 ms"}, [3], "is a time, not a rate"),
        ("eth0", {"cndd_state_machine": "ready"}, [3], "the states are reset, edge, interior, interior-ready"),
        ("eth0", {"rpg_gd": "7"}, [8], "unknown priority 8"),
        ("eth0", {"rpg_gd": "7"}, [-1], "priority -1"),
        ("eth0", {}, [3], "no value is given"),
        ("eth0", {"rppp_created_rps": "1"}, [3], "unknown value of reaction points"),
    ],
)
def test_wrong_input_is_refused_before_the_kernel_is_asked_to_set(
    device: str, values: dict[str, str], priorities: list[int], words: str
) -> None:
    kernel = MockKernel({"eth0": structure()})
    with running(kernel) as channel, pytest.raises(ArgumentError) as error:
        dcb.write(device, values, priorities=priorities, channel=channel)
    assert words in str(error.value)
    assert 20 not in kernel.commands


def _has_netlink() -> bool:
    return sys.platform == "linux" and hasattr(socket, "AF_NETLINK")


@pytest.mark.skipif(not _has_netlink(), reason="only Linux has rtnetlink")
def test_this_kernel_refuses_the_loopback_with_a_clear_message(penstock: Command) -> None:
    for words in (["show", "lo"], ["set", "lo", "rpg_gd=7"]):
        done = penstock("dcb", *words)
        assert (done.returncode, done.stdout) == (1, "")
        error, hint = done.stderr.splitlines()
        assert error.startswith("error: lo: its driver has no reaction points for the kernel to set (EOPNOTSUPP: ")
        assert hint.startswith("hint: QCN needs a card whose driver has it, such as mlx4; `penstock dcb plan`")
    done = penstock("dcb", "show", "no-such-dev")
    assert done.returncode == 2
    assert "no-such-dev: unknown network interface" in done.stderr


def _namespaces() -> str | None:
    """Say why no namespace can be made; nothing if one can."""
    trial = ["unshare", "--net", "ip", "link", "add", "pdcb0", "type", "veth", "peer", "name", "pdcb1"]
    try:
        done = subprocess.run(trial, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None if done.returncode == 0 else done.stderr.strip() or f"status {done.returncode}"


def test_this_kernel_refuses_a_veth_in_a_namespace() -> None:
    refused = _namespaces()
    if refused is not None:
        if os.environ.get(NEEDED):
            pytest.fail(f"{NEEDED} is set, but no namespace can be made: {refused}")
        pytest.skip(f"no network namespace can be made: {refused}")
    # The namespace goes with its last process, however that ends.
    script = 'ip link add pdcb0 type veth peer name pdcb1 && exec "$0" -m penstock dcb show pdcb0'
    done = subprocess.run(
        ["unshare", "--net", "sh", "-c", script, sys.executable], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "pdcb0: its driver has no reaction points for the kernel to set (EOPNOTSUPP" in done.stderr


_AS_NOBODY = """
import json, os, socket
from penstock import _core
from penstock.dcb import device
os.setgid(65534)
os.setuid(65534)
asked = device._rtnetlink()
asked.settimeout(5)
try:
    device._ask("lo", asked, _core.dcb_set("lo", 9, {}), 9)
except device.DeviceError as error:
    print(error)
"""


@pytest.mark.skipif(not _has_netlink() or os.geteuid() != 0, reason="only root can become nobody")
def test_this_kernel_refuses_nobody_with_a_clear_message() -> None:
    done = subprocess.run([sys.executable, "-c", _AS_NOBODY], capture_output=True, text=True, timeout=60, check=True)
    assert "lo: the kernel lets only an administrator set reaction points (EPERM" in done.stdout
    assert "run the command as root, or with the capability CAP_NET_ADMIN" in done.stdout


def test_the_commands_print_what_a_device_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    with running(MockKernel({"eth0": structure()})) as channel:
        monkeypatch.setattr(device_module, "_rtnetlink", channel.dup)
        words = ["dcb", "set", "eth0", "rpg_gd=6", "rpg_time_reset=300us", "--priority", "3", "--priority", "5"]
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.output
        shown = CliRunner().invoke(app, ["dcb", "show", "eth0"])
        document = json.loads(CliRunner().invoke(app, ["dcb", "show", "eth0", "--json"]).stdout)
    assert shown.stdout == done.stdout
    rows = {line.split()[0]: line.split()[1:] for line in shown.stdout.splitlines() if line}
    assert rows["rpg_gd"] == ["0", "0", "0", "6", "0", "6", "0", "0"]
    assert rows["rpg_time_reset"] == ["0", "us"] * 3 + ["300", "us", "0", "us", "300", "us"] + ["0", "us"] * 2
    assert rows["cndd_state_machine"] == ["reset"] * 3 + ["interior-ready"] + ["reset"] * 4
    assert rows["rppp_created_rps"] == ["0"] * 8
    assert document["qcn"]["rpg_gd"] == [0, 0, 0, 6, 0, 6, 0, 0]


def test_objects_are_those_of_the_mib() -> None:
    found = {entry.name: entry for table in dcb.tables() for entry in table.objects}
    assert len(found) == 39
    set_point = found["ieee8021CnCpQueueSizeSetPoint"]
    assert (set_point.default, set_point.values) == ("26000 octets", "100 to 4294967295 octets")
    assert (set_point.variable, set_point.clause, set_point.parameter) == ("cpQSp", "32.8.3", "q_eq")
    assert found["ieee8021CnRpgTimeReset"].default == "15 ms"
    assert found["ieee8021CnPortPriDefModeChoice"].default == "cpcComp"
    assert found["ieee8021CnGlobalMasterEnable"].default_origin == "own"
    assert not found["ieee8021CnCpTransmittedCnms"].writable
    assert [table.clause for table in dcb.tables()] == [f"12.21.{number}" for number in range(1, 7)]


def test_every_parameter_that_an_object_names_is_one_of_qcn() -> None:
    (qcn,) = (scheme for scheme in schemes() if scheme["name"] == "qcn")
    known = {parameter["name"] for parameter in qcn["parameters"]}
    named = {entry.parameter for table in dcb.tables() for entry in table.objects} - {None}
    assert named <= known
    assert len(named) == 12


def test_the_standards_profile_needs_no_value_but_the_defaults() -> None:
    """The profile of the standard is the MIB's defaults: each object that a parameter sets has its default."""
    planned = dcb.plan(Scenario.named("baseline/ten-gig"), profile="ieee-2010")
    (points,) = planned.points
    for setting in [*points.congestion_point, *points.reaction_point]:
        assert setting.exact
        if setting.key != "rpg_max_rate":
            assert setting.value == setting.default, setting.key


def test_ports_of_a_domain_are_interior_ready_and_its_border_is_an_edge() -> None:
    scenario = Scenario.named("baseline/ten-gig")
    inside = dcb.plan(scenario)
    assert {port.mode for port in inside.ports} == {"cptInteriorReady"}
    assert {port.cn_tag for port in inside.ports if port.node.startswith("h")} == {"added"}
    assert {port.cn_tag for port in inside.ports if port.node == "sw0"} == {"kept"}
    planned = dcb.plan(scenario, outside=["h0"])
    modes = {port.port: (port.mode, port.cn_tag, port.announces_ready) for port in planned.ports}
    assert modes["sw0->h0"] == ("cptEdge", "removed", False)
    assert "h0->sw0" not in modes
    assert modes["sw0->h1"] == ("cptInteriorReady", "kept", True)
    assert "h0->sw0" not in planned.points[0].reaction_points
    (edge,) = (port for port in planned.ports if port.mode == "cptEdge")
    assert edge.alternate_priority == 1, "priority 0 has none below it"
    # A switch in the middle that takes no part makes edges of all its neighbours.
    assert {port.mode for port in dcb.plan(scenario, outside=["sw0"]).ports} == {"cptEdge"}


def test_values_that_no_object_holds_are_told() -> None:
    planned = dcb.plan(Scenario.named("netfpga/one-source-100us"))
    (points,) = planned.points
    by_key = {setting.key: setting for setting in [*points.congestion_point, *points.reaction_point]}
    ai = by_key["rpg_ai_rate"]
    assert (ai.value, ai.wanted, ai.exact) == ("1 Mb/s", "500 kbps", False)
    assert by_key["rpg_time_reset"].value == "25 ms"
    assert points.without_object["efr"] == "neither-fired"
    assert "efr" not in dcb.plan(Scenario.named("baseline/ten-gig")).points[0].without_object


def test_a_planned_command_is_one_that_the_kernel_takes() -> None:
    scenario = Scenario.named("baseline/ten-gig").set("schemes.qcn.rpg_time_reset", "300 us")
    (points,) = dcb.plan(scenario).points
    assert "rpg_time_reset=300us" in points.command, "the MIB counts ms, Linux us"
    words = points.command.split()
    assert words[:6] == ["penstock", "dcb", "set", "DEVICE", "--priority", "0"]
    values = dict(word.split("=") for word in words[6:])
    with running(MockKernel({"eth0": structure()})) as channel:
        found = dcb.write("eth0", values, priorities=[0], channel=channel)
    assert {name: found.qcn[name][0] for name in ("rpg_time_reset", "rpg_byte_reset", "rpg_gd", "rpg_min_rate")} == {
        "rpg_time_reset": 300,
        "rpg_byte_reset": 150_000,
        "rpg_gd": 7,
        "rpg_min_rate": 5,
    }


def test_variants_of_qcn_are_planned_with_a_note() -> None:
    planned = dcb.plan(Scenario.named("baseline/ten-gig"), scheme="af-qcn")
    assert any("af-qcn: devices of 802.1Qau run QCN" in note for note in planned.notes)
    assert not any("af-qcn" in note for note in dcb.plan(Scenario.named("baseline/ten-gig")).notes)


def _with_priorities(qcn: int, none: int) -> Scenario:
    assigned: list[Priority] = [{"priority": priority, "scheme": "qcn"} for priority in range(qcn)]
    assigned += [{"priority": priority, "scheme": "none"} for priority in range(qcn, qcn + none)]
    return Scenario(
        question="Which priorities?",
        duration="1 ms",
        scheme="qcn",
        topology={"star": {"hosts": 9, "link_rate": "10 Gbps", "link_delay": "1 us", "buffer": "150 KB"}},
        flow=[{"from": f"h{priority}", "to": "h8", "priority": priority} for priority in range(8)],
        priority=assigned,
    )


def test_seven_priorities_are_the_most() -> None:
    planned = dcb.plan(_with_priorities(7, 1), outside=["h0"])
    assert planned.priorities == list(range(7))
    edges = [port for port in planned.ports if port.port == "sw0->h0"]
    assert {port.alternate_priority for port in edges} == {7}
    assert any("priority 6 by default, which is a congestion notification priority" in note for note in planned.notes)
    with pytest.raises(ArgumentError, match="all eight priorities have congestion notification"):
        dcb.plan(_with_priorities(8, 0))


def test_a_scenario_without_qcn_has_no_domain(penstock: Command) -> None:
    with pytest.raises(ArgumentError, match=r"runs none, which has no congestion points of 802\.1Qau"):
        dcb.plan(Scenario.named("victim-flow/none"))
    done = penstock("dcb", "plan", "victim-flow/none")
    assert done.returncode == 2
    assert "such as --scheme qcn" in done.stderr


def test_the_commands_print_tables_and_json(penstock: Command) -> None:
    done = penstock("dcb", "plan", "baseline/ten-gig", "--outside", "h0")
    assert done.returncode == 0, done.stderr
    assert "sw0->h0" in done.stdout
    assert "cptEdge" in done.stdout
    assert "ieee8021CnCpQueueSizeSetPoint" in done.stdout
    assert "penstock dcb set DEVICE --priority 0 rpg_time_reset=15ms" in done.stdout
    document = json.loads(penstock("dcb", "plan", "baseline/ten-gig", "--outside", "h0", "--json").stdout)
    assert document == json.loads(json.dumps(dcb.plan(Scenario.named("baseline/ten-gig"), outside=["h0"]).to_dict()))
    shown = penstock("dcb", "show", "baseline/ten-gig")
    assert "ieee8021CnRpgTimeReset" in shown.stdout
    assert json.loads(penstock("dcb", "show", "baseline/ten-gig", "--json").stdout)[0]["scheme"] == "qcn"
    listed = penstock("dcb", "show")
    assert "cnpdDefModeChoice" in listed.stdout
    assert len(json.loads(penstock("dcb", "show", "--json").stdout)) == 6


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["plan", "nowhere"], "neither a file nor a scenario"),
        (["plan", "baseline/ten-gig", "--outside", "h"], "h: unknown node"),
        (["show", "nowhere.toml"], "nowhere.toml: neither a file nor a scenario"),
        (["set", "lo", "rpg_gd"], "rpg_gd: not of the form KEY=VALUE"),
        (["set", "lo", "rpg_gd=7", "rpg_gd=8"], "rpg_gd has two values"),
        (["set", "lo", "rpg_gd=7", "--priority", "8"], "Invalid value for '--priority'"),
        (["set", "lo"], "Missing argument"),
    ],
)
def test_wrong_words_are_refused(penstock: Command, words: list[str], part: str, tmp_path: Path) -> None:
    done = penstock("dcb", *words)
    assert done.returncode == 2
    assert part in done.stderr
    assert list(tmp_path.iterdir()) == []
