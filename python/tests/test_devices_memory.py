"""Memory in the commands of switches: pools, alphas, reserves and headroom, written, read, and with faults planted."""

from dataclasses import replace

import pytest

from penstock import Scenario
from penstock.devices import Device, Pool, Port, Queue, Threshold, check, configurations, eos, junos, nvue, nxos, read

NVUE = """nv set qos mapping default-global dscp 26 switch-priority 3
nv set qos egress-scheduler Q traffic-class 0,3,5 mode strict
nv set qos advance-buffer-config default-global ingress-service-pool 0 memory-percent 60
nv set qos advance-buffer-config default-global ingress-service-pool 1 memory-percent 40
nv set qos advance-buffer-config default-global ingress-service-pool 1 mode static
nv set qos advance-buffer-config default-global ingress-lossy-buffer priority-group bulk service-pool 0
nv set qos advance-buffer-config default-global ingress-lossy-buffer priority-group bulk shared-alpha alpha_8
nv set qos advance-buffer-config default-global ingress-lossy-buffer priority-group service1 switch-priority 5
nv set qos advance-buffer-config default-global ingress-lossy-buffer priority-group service1 shared-alpha alpha_1_2
nv set qos advance-buffer-config default-global ingress-lossless-buffer service-pool 1
nv set qos advance-buffer-config default-global egress-lossy-buffer traffic-class 0 reserved 2048
nv set qos advance-buffer-config default-global egress-lossless-buffer shared-alpha alpha_infinity
nv set qos pfc P switch-priority 3
nv set qos pfc P port-buffer 50000
nv set qos pfc P xoff-threshold 20000
nv set qos pfc P xon-threshold 4000
nv set interface swp1 qos pfc profile P
nv set interface swp1 qos egress-scheduler profile Q
nv set interface swp1 qos congestion-control profile Q
"""

EOS = """platform trident mmu queue profile M
   ingress reserved bytes 2048
   ingress threshold 1/16
   ingress headroom bytes 165100
   egress unicast queue 3 threshold 8
   egress unicast queue 0 reserved 1664
platform trident mmu queue profile M apply
platform trident mmu headroom-pool limit bytes 1000000
qos profile Q
   priority-flow-control on
   priority-flow-control priority 3 no-drop
interface Ethernet1
   service-profile Q
"""

NXOS = """policy-map type queuing INQ
  class type queuing c-in-q3
    pause buffer-size 101920 pause-threshold 46800 resume-threshold 34320
  class type queuing c-in-q-default
policy-map type network-qos NQ
  class type network-qos c-8q-nq3
    pause pfc-cos 3
system qos
  service-policy type network-qos NQ
interface Ethernet1/1
  service-policy type queuing input INQ
  priority-flow-control mode on
interface Ethernet1/2
  priority-flow-control mode on
"""

JUNOS = """set class-of-service forwarding-classes class L queue-num 3 no-loss pfc-priority 3
set class-of-service forwarding-classes class B queue-num 0
set class-of-service classifiers dscp D forwarding-class L loss-priority low code-points 011010
set class-of-service shared-buffer ingress buffer-partition lossless percent 66
set class-of-service shared-buffer ingress buffer-partition lossless dynamic-threshold 6
set class-of-service shared-buffer ingress buffer-partition lossless-headroom percent 24
set class-of-service shared-buffer ingress buffer-partition lossy percent 10
set class-of-service shared-buffer egress buffer-partition lossless percent 66
set class-of-service shared-buffer egress buffer-partition lossy percent 10
set class-of-service congestion-notification-profile C input dscp code-point 011010 pfc mru 9212
set class-of-service congestion-notification-profile C output ieee-802.1 code-point 011 flow-control-queue 3
set class-of-service schedulers S0 buffer-dynamic-threshold 9
set class-of-service schedulers S3 priority strict-high
set class-of-service scheduler-maps M forwarding-class B scheduler S0
set class-of-service scheduler-maps M forwarding-class L scheduler S3
set interfaces et-0/0/0 mtu 9212
set class-of-service interfaces et-0/0/0 scheduler-map M
set class-of-service interfaces et-0/0/0 congestion-notification-profile C
"""

TEXTS = {"nvue": NVUE, "eos": EOS, "nxos": NXOS, "junos": JUNOS}


def port(text: str) -> Port:
    reading = read(text)
    assert not [one for one in reading.findings if one.severity == "error"]
    return reading.device.ports[0]


def test_nvue_has_regions_of_the_switch_and_octets_in_a_profile() -> None:
    reading = read(NVUE)
    assert reading.device.pools == {
        "ingress_0": Pool(direction="ingress", mode="dynamic", size_octets=None, percent=60),
        "ingress_1": Pool(direction="ingress", mode="static", size_octets=None, percent=40),
    }
    own = port(NVUE)
    assert own.ingress == {
        0: Threshold(pool="ingress_0", alpha_exponent=3),
        # 50 000 octets, of which 20 000 fill before the pause; it ends 4000 below.
        3: Threshold(limit_octets=20_000, xoff_octets=30_000, xon_offset_octets=4000),
        5: Threshold(alpha_exponent=-1),
    }
    assert own.egress == {0: Threshold(reserve_octets=2048), 3: Threshold(alpha_exponent=7)}


def test_eos_has_one_profile_for_the_switch() -> None:
    own = port(EOS)
    assert own.ingress == {3: Threshold(pool="shared", reserve_octets=2048, alpha_exponent=-4, xoff_octets=165_100)}
    assert own.egress == {
        0: Threshold(pool="shared", reserve_octets=1664),
        3: Threshold(pool="shared", alpha_exponent=3),
    }
    assert read(EOS).device.pools["shared"].xoff_octets == 1_000_000


def test_nxos_has_input_buffers_in_octets() -> None:
    first, second = read(NXOS).device.ports
    # A public configuration of Azure Stack: 101 920 - 46 800, and 46 800 - 34 320.
    assert first.ingress == {3: Threshold(limit_octets=46_800, xoff_octets=55_120, xon_offset_octets=12_480)}
    assert second.ingress == {}
    # Without a policy the switch has its own buffer: no fault.
    assert not [one for one in check(read(NXOS)) if one.severity == "error"]


def test_junos_numbers_alphas_from_an_eighth_of_a_sixteenth() -> None:
    own = port(JUNOS)
    # 6 is 1/2 and 9 is 4 in Juniper's table.
    assert own.ingress == {3: Threshold(pool="ingress_lossless", alpha_exponent=-1)}
    assert own.egress == {0: Threshold(pool="egress_lossy", alpha_exponent=2)}
    assert read(JUNOS).device.pools["ingress_lossless"] == Pool(
        direction="ingress", mode="dynamic", size_octets=None, percent=66, xoff_percent=24
    )


@pytest.mark.parametrize(
    ("form", "old", "new", "kind", "message"),
    [
        ("nvue", "alpha_1_2", "alpha_1_3", "range", "no such alpha"),
        ("nvue", "memory-percent 40", "memory-percent 41", "sum", "101 per cent in all ingress pools"),
        ("nvue", "memory-percent 40", "memory-percent 101", "range", "out of range"),
        ("nvue", "mode static", "mode fixed", "range", "no mode"),
        ("nvue", "lossless-buffer service-pool 1", "lossless-buffer service-pool 8", "range", "out of range"),
        ("nvue", "egress-lossless-buffer", "ingress-lossless-buffer", "meaning", "an alpha in a static pool"),
        ("nvue", "bulk shared-alpha alpha_8", "bulk shared-bytes 8", "meaning", "shared-bytes in a dynamic pool"),
        ("nvue", "group service1", "group service9", "range", "no such group"),
        ("nvue", "reserved 2048", "reserved -1", "range", "out of range"),
        ("nvue", "reserved 2048", "reserved 2K", "syntax", "no whole number"),
        ("nvue", "xoff-threshold 20000", "xoff-threshold 50000", "sum", "no octet beyond xoff-threshold"),
        ("eos", "threshold 1/16", "threshold 1/17", "range", "no such alpha"),
        ("eos", "queue 3 threshold 8", "queue 3 threshold 16", "range", "no such alpha"),
        ("eos", "queue 3", "queue 8", "range", "out of range"),
        ("eos", "headroom bytes 165100", "headroom bytes many", "syntax", "no whole number"),
        ("eos", "M apply", "N apply", "reference", "no profile of this name"),
        ("nxos", "buffer-size 101920", "buffer-size 46800", "sum", "no octet beyond pause-threshold"),
        ("nxos", "resume-threshold 34320", "resume-threshold 46801", "range", "above pause-threshold"),
        ("nxos", "buffer-size 101920", "buffer-size 100K", "syntax", "no whole number"),
        ("nxos", "input INQ", "input IN", "reference", "no buffers of this name"),
        ("junos", "lossless percent 66", "lossless percent 65", "sum", "99 per cent in all ingress partitions"),
        ("junos", "dynamic-threshold 6", "dynamic-threshold 11", "range", "out of range"),
        ("junos", "S0 buffer-dynamic-threshold 9", "S0 buffer-dynamic-threshold -1", "range", "out of range"),
        ("junos", "partition lossy", "partition lossful", "range", "no such partition"),
        ("junos", "lossy percent 10", "lossy share 10", "syntax", "no such setting"),
        ("junos", "egress buffer-partition lossless", "egress buffer-partition lossless-headroom", "range", "no such"),
        ("junos", "mru 9212", "mru 2500", "meaning", "headroom is computed for 2500"),
    ],
)
def test_faults_of_memory(form: str, old: str, new: str, kind: str, message: str) -> None:
    text = TEXTS[form]
    assert old in text
    found = [one for one in read(text.replace(old, new), form=form).findings if message in one.message]
    assert kind in {one.kind for one in found}
    assert all(one.line is not None and one.remedy for one in found)


def test_cells_of_eos_are_not_octets() -> None:
    reading = read(EOS.replace("headroom bytes 165100", "headroom cells 800"))
    assert [one.severity for one in reading.findings if "cells of a chip" in one.message] == ["warning"]
    assert reading.device.ports[0].ingress[3].xoff_octets == 0


def test_junos_without_mru_computes_headroom_for_short_frames() -> None:
    reading = read(JUNOS.replace(" mru 9212", ""))
    (found,) = [one for one in reading.findings if one.severity == "warning"]
    assert "frames of 9212 octets; without mru headroom is computed for 2500" in found.message


def switch(**changes: object) -> Device:
    """Return a switch with a lossless and a lossy priority in a pool each, and alphas."""
    ingress = {
        0: Threshold(pool="lossy", alpha_exponent=3),
        3: Threshold(pool="lossless", alpha_exponent=-3, xoff_octets=60_000, reserve_octets=1000),
    }
    ports = tuple(
        Port(name=f"p{n}", rate_bps=10**11, frame_octets=9216, cable_m=5, pfc=(3,), ingress=ingress,
             egress={0: Threshold(pool="leaving", alpha_exponent=0)}, queues={0: Queue(), 3: Queue()})
        for n in range(2)
    )  # fmt: skip
    pools = {
        "lossless": Pool(direction="ingress", mode="dynamic", size_octets=500_000, xoff_octets=100_000),
        "lossy": Pool(direction="ingress", mode="dynamic", size_octets=400_000),
        "leaving": Pool(direction="egress", mode="dynamic", size_octets=1_000_000),
    }
    device = Device(name="s", ports=ports, pools=pools, memory_octets=1_000_000, dscp={0: 0, 26: 3})
    return replace(device, **changes)  # type: ignore[arg-type]


def lines_of(module: object, device: Device) -> list[str]:
    written = module.write(device)  # type: ignore[attr-defined]
    (text,) = written.files.values()
    assert module.read(text).device == written.expressed  # type: ignore[attr-defined]
    return [line.strip() for line in text.split("\n")]


def test_values_of_a_switch_in_each_form() -> None:
    start = "nv set qos advance-buffer-config default-global"
    lines = lines_of(nvue, switch())
    for wanted in (
        "ingress-service-pool 0 memory-percent 50",
        "ingress-service-pool 1 memory-percent 40",
        "ingress-lossy-buffer priority-group bulk service-pool 1",
        "ingress-lossy-buffer priority-group bulk shared-alpha alpha_8",
        "ingress-lossless-buffer service-pool 0",
        "ingress-lossless-buffer shared-alpha alpha_1_8",
        "egress-lossy-buffer traffic-class 0 shared-alpha alpha_1",
    ):
        assert f"{start} {wanted}" in lines
    assert "# Not expressed: ingress-lossless-buffer: a reserve of 1000 octets: it has no such property" in lines
    lines = lines_of(eos, switch())
    for wanted in (
        "ingress reserved bytes 1000",
        "ingress threshold 1/8",
        "ingress headroom bytes 60000",
        "egress unicast queue 0 threshold 1",
        "platform trident mmu headroom-pool limit bytes 100000",
    ):
        assert wanted in lines
    assert "! Not expressed: ingress alphas of priorities 0: a profile has those of PFC alone" in lines
    lines = lines_of(junos, switch())
    for wanted in (
        "ingress buffer-partition lossless percent 50",
        "ingress buffer-partition lossless-headroom percent 10",
        "ingress buffer-partition lossy percent 40",
        "ingress buffer-partition lossless dynamic-threshold 4",
        "ingress buffer-partition lossy dynamic-threshold 10",
    ):
        assert f"set class-of-service shared-buffer {wanted}" in lines
    assert "set class-of-service schedulers Q_100G_0 buffer-dynamic-threshold 7" in lines
    assert any("queue-limit dynamic" in line for line in lines_of(nxos, switch()) if line.startswith("! Not expressed"))


def test_ports_that_differ_get_what_holds_no_more_than_any() -> None:
    device = switch()
    first, second = device.ports
    more = {**second.ingress, 3: replace(second.ingress[3], alpha_exponent=0, xoff_octets=90_000)}
    device = replace(device, ports=(first, replace(second, ingress=more)))
    lines = lines_of(eos, device)
    assert "ingress threshold 1/8" in lines and "ingress headroom bytes 90000" in lines
    assert any("priority 3, ingress: ports differ" in line for line in lines)


def test_octets_are_written_where_the_target_has_them() -> None:
    device = switch()
    own = {3: Threshold(pool="lossless", limit_octets=200_000, xoff_octets=60_000, xon_offset_octets=9000)}
    device = replace(device, ports=tuple(replace(port, ingress=own) for port in device.ports))
    assert "pause buffer-size 260000 pause-threshold 200000 resume-threshold 191000" in lines_of(nxos, device)
    lines = lines_of(nvue, device)
    for wanted in ("port-buffer 260000", "xoff-threshold 200000", "xon-threshold 9000"):
        assert f"nv set qos pfc pfc_5m {wanted}" in lines
    assert not [line for line in lines_of(eos, device) if line.startswith("ingress")]


def test_reserves_are_compared_with_a_share_of_the_chip() -> None:
    text = NVUE.replace("bulk shared-alpha alpha_8", "bulk reserved 700000")
    scenario = Scenario.from_toml("""
question = "?"
duration = "1 ms"
scheme = "none"
[topology.star]
hosts = 2
link_rate = "10 Gbps"
link_delay = "1 us"
[[switch]]
memory = "1 MB"
cell = "256 octets"
[[buffer]]
alpha = 1
[[flow]]
from = "h1"
to = "h0"
""")
    (found,) = [one for one in check(read(text), fabric=scenario) if "reserve" in one.message]
    # 60 per cent of 1 MB.
    assert "700000 octets; the pool has 600000" in found.message


def test_pyavd_renders_the_memory_that_is_written() -> None:
    pyavd = pytest.importorskip("pyavd", reason="pyavd is not installed (pip install pyavd==6.4.0)")
    written = configurations(Scenario.named("shared-buffer/lossless-pool"), to="eos")["sw0"]
    one = written.expressed.ports[0]
    own = one.ingress[3]
    queues = [{"id": number, "threshold": {-1: "1/2", 3: "8"}[each.alpha_exponent or 0]}
              | ({"reserved": each.reserve_octets, "unit": "bytes"} if each.reserve_octets else {})
              for number, each in one.egress.items()]  # fmt: skip
    structured = {"platform": {"trident": {"mmu": {
        "active_profile": "PENSTOCK",
        "headroom_pool": {"limit": written.expressed.pools["shared"].xoff_octets, "unit": "bytes"},
        "queue_profiles": [{"name": "PENSTOCK", "unicast_queues": queues, "ingress": {
            "threshold": "1/8", "reserved": {"unit": "bytes", "memory": own.reserve_octets},
            "headroom": {"unit": "bytes", "memory": own.xoff_octets}}}]}}}}  # fmt: skip
    pyavd.validate_structured_config(structured)
    rendered = [line.strip() for line in pyavd.get_device_config(structured).split("\n")]
    (text,) = written.files.values()
    memory = [
        line.strip() for line in text.split("\n") if "trident" in line or line.startswith(("   ing", "   egress"))
    ]
    assert memory and [line for line in memory if line not in rendered] == []
