"""Commands of devices: faults planted in those of hosts and switches, output of tools, and their traps."""

import pytest

from penstock import Scenario
from penstock.devices import configurations, dcb, mlnx_qos, read
from penstock.devices.hosts import connectx_xoff

FABRIC = """
question = "?"
duration = "1 ms"
scheme = "none"
[topology.star]
hosts = 4
link_rate = "100 Gbps"
link_delay = "40 m"
buffer = "1 MB"
[pfc]
priorities = [3]
mtu = "9216 octets"
[[flow]]
from = "h1"
to = "h0"
priority = 3
"""


def fabric() -> Scenario:
    return Scenario.from_toml(FABRIC)


@pytest.mark.parametrize(
    ("command", "kind", "message"),
    [
        ("mlnx_qos -i eth0 --cable_len 5", "meaning", "alone it switches PFC off"),
        ("mlnx_qos -i eth0 --pfc 0,0,0,1", "syntax", "4 items"),
        ("mlnx_qos -i eth0 --pfc 0,0,0,2,0,0,0,0", "range", "out of range"),
        ("mlnx_qos -i eth0 --pfc 0,0,0,x,0,0,0,0", "syntax", "not whole numbers"),
        ("mlnx_qos -i eth0 --pfc 0,0,0,1,0,0,0,0 --cable_len 65536", "range", "out of range"),
        ("mlnx_qos -i eth0 --prio2buffer 0,0,0,8,0,0,0,0", "range", "out of range"),
        ("mlnx_qos -i eth0 --trust dscp --dscp2prio set,26,3", "syntax", "excludes"),
        ("mlnx_qos -i eth0 --dscp2prio set,64,3", "range", "out of range"),
        ("mlnx_qos -i eth0 --dscp2prio 26,3", "syntax", "not of the form"),
        ("mlnx_qos --pfc 0,0,0,1,0,0,0,0", "syntax", "no interface"),
        ("mlnx_qos -i eth0 --pfcs 0", "syntax", "no such option"),
        ("mlnx_qos -i eth0 --tcbw 50,40,0,0,0,0,0,0", "sum", "90 per cent"),
        ("mlnx_qos -i eth0 --pfc 0,0,0,1,0,0,0,0 --prio2buffer 0,0,0,0,0,0,0,0", "meaning", "shares buffer 0"),
    ],
)
def test_faults_of_mlnx_qos(command: str, kind: str, message: str) -> None:
    reading = mlnx_qos.read(f"mlnx_qos -i eth1 --trust dscp\n{command}\n")
    assert [(one.kind, one.line) for one in reading.findings if message in one.message] == [(kind, 2)]


def test_the_output_of_mlnx_qos() -> None:
    text = (
        "DCBX mode: OS controlled\nPriority trust state: dscp\ndscp2prio mapping:\n\tprio:0 dscp:07,06,\n"
        "\tprio:3 dscp:26,\nReceive buffer size (bytes): 20016,156096,0,0,0,0,0,0,max_buffer_size=1027728\n"
        "Cable len: 7\nPFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n"
        "\tenabled     0   0   0   1   0   0   0   0   \n\tbuffer      0   0   0   1   0   0   0   0   \n"
    )
    reading = mlnx_qos.read(text)
    assert reading.findings == []
    (port,) = reading.device.ports
    assert (port.pfc, port.cable_m, port.ingress[3].limit_octets) == ((3,), 7, 156_096)
    assert reading.device.dscp == {7: 0, 6: 0, 26: 3}
    assert mlnx_qos.read(text.replace("buffer      0   0   0   1", "buffer      0   0   0   0")).findings


def test_one_call_of_mlnx_qos_writes_all() -> None:
    text = configurations(fabric(), to="mlnx_qos")["h0"].files["h0.mlnx_qos.sh"]
    calls = [line for line in text.split("\n") if "--cable_len" in line and not line.startswith("#")]
    assert len(calls) == 1
    assert all(option in calls[0] for option in ("--pfc 0,0,0,1,0,0,0,0", "--cable_len 40", "--buffer_size"))


@pytest.mark.parametrize(
    ("command", "kind", "message"),
    [
        ("dcb pfc set dev eth0 prio-pfc 3:on delay 65536", "range", "out of range"),
        ("dcb pfc set dev eth0 prio-pfc 8:on", "range", "out of range"),
        ("dcb pfc set dev eth0 prio-pfc 3:yes", "syntax", "not of the form"),
        ("dcb pfc set eth0 prio-pfc 3:on", "syntax", "no dev"),
        ("dcb pfc change dev eth0 prio-pfc 3:on", "syntax", "no such action"),
        ("dcb pfx set dev eth0 prio-pfc 3:on", "syntax", "no such object"),
        ("dcb buffer set dev eth0 prio-buffer 3:8", "range", "beyond 7"),
        ("dcb buffer set dev eth0 buffer-size 0:64Q", "syntax", "not of the form"),
        ("dcb app replace dev eth0 dscp-prio 64:3", "range", "out of range"),
        ("dcb pfc set dev eth0 delays 3", "syntax", "no such setting"),
        ("dcb buffer set dev eth1 prio-buffer all:0", "meaning", "shares buffer 0"),
    ],
)
def test_faults_of_dcb(command: str, kind: str, message: str) -> None:
    reading = dcb.read(f"dcb pfc set dev eth1 prio-pfc all:off 3:on\n{command}\n")
    assert [(one.kind, one.line) for one in reading.findings if message in one.message] == [(kind, 2)]


def test_the_output_of_dcb() -> None:
    # The example of dcb-pfc(8), and sizes as dcb-buffer(8) has them: K is 1024.
    text = (
        "pfc-cap 8 macsec-bypass off delay 4096\nprio-pfc 0:off 1:off 2:off 3:off 4:off 5:off 6:on 7:on\n"
        "prio-buffer 0:0 1:0 2:0 3:0 4:0 5:0 6:6 7:7\nbuffer-size 0:10Kb 1:0b 2:0b 3:0b 4:0b 5:0b 6:1Mb 7:10Kb\n"
        "total-size 1222Kb\n"
    )
    reading = dcb.read(text)
    assert reading.findings == []
    (port,) = reading.device.ports
    assert (port.pfc, port.delay_bits) == ((6, 7), 4096)
    assert (port.ingress[6].limit_octets, port.ingress[7].limit_octets) == (1_048_576, 10_240)


def test_a_long_cable_is_beyond_dcb() -> None:
    long = Scenario.from_toml(FABRIC.replace('"40 m"', '"400 m"'))
    written = configurations(long, to="dcb")["h0"]
    # Twice 400 m at 5.05 ns a metre and 100 Gb/s.
    assert any("404000 bit times" in sentence for sentence in written.lost)
    assert "delay" not in next(line for line in written.files["h0.dcb.sh"].split("\n") if line.startswith("dcb pfc"))


def test_the_xoff_of_connectx() -> None:
    # (301 + 216 * 7 / 100) * 100 + 272 * 9216 / 100 in whole numbers, and below 40 Gb/s as at 40.
    assert connectx_xoff(100_000_000_000, 7, 9216) == 316 * 100 + 25_067
    assert connectx_xoff(10_000_000_000, 5, 1500) == 311 * 40 + 4080


@pytest.mark.parametrize(
    ("command", "kind", "message"),
    [
        ("nv set qos pfc p switch-priority 8", "range", "out of range"),
        ("nv set qos pfc p cable-length 0", "range", "out of range"),
        ("nv set qos pfc p cable 40", "syntax", "no such setting"),
        ("nv set qos mapping default-global dscp 64 switch-priority 3", "range", "out of range"),
        ("nv set qos mapping default-global trust dscp", "range", "no such trust"),
        ("nv set qos congestion-control q traffic-class 3 probability 101", "range", "out of range"),
        ("nv set qos congestion-control q traffic-class 3 max-threshold 1000", "range", "below the minimum"),
        ("nv set qos egress-scheduler q traffic-class 3 mode wrr", "range", "no such mode"),
        ("nv set qos egress-scheduler q traffic-class 0-2 bw-percent 40", "sum", "120 per cent"),
        ("nv set qos traffic-pool default-lossy memory-percent 101", "range", "out of range"),
        ("nv set interface swp1 qos pfc profile other", "reference", "no pfc of this name"),
        ("nv set interface swp1 qos congestion-control profile other", "reference", "no queues of this name"),
        ("nv set interface swp1 link speed fast", "syntax", "no speed"),
        ("nv set interface swp1 link mtu 9217", "range", "out of range"),
    ],
)
def test_faults_of_nvue(command: str, kind: str, message: str) -> None:
    before = (
        "nv set qos pfc p switch-priority 3\nnv set qos congestion-control q traffic-class 3 min-threshold 150000\n"
    )
    before += "nv set qos congestion-control q traffic-class 3 max-threshold 1500000\n"
    found = [one for one in read(f"{before}{command}\n").findings if message in one.message]
    assert [(one.kind, one.line) for one in found] == [(kind, 4)]


EOS = """\
qos profile Q
   priority-flow-control priority 3 no-drop
   uc-tx-queue 3
      random-detect ecn minimum-threshold 150 kbytes maximum-threshold 1500 kbytes max-mark-probability 100 weight 0
interface Ethernet1
   service-profile Q
"""

NXOS = """\
class-map type qos match-any R
  match dscp 26
policy-map type queuing OUT
  class type queuing c-out-8q-q3
    random-detect minimum-threshold 150 kbytes maximum-threshold 3000 kbytes drop-probability 7 weight 0 ecn
policy-map type network-qos NQ
  class type network-qos c-8q-nq3
    pause pfc-cos 3
    mtu 9216
system qos
  service-policy type network-qos NQ
interface Ethernet1/1
  service-policy type queuing output OUT
  priority-flow-control mode on
"""

JUNOS = """\
set class-of-service forwarding-classes class NO-LOSS queue-num 4 no-loss pfc-priority 3
set class-of-service classifiers dscp D forwarding-class NO-LOSS loss-priority low code-points 011010
set class-of-service congestion-notification-profile cnp input dscp code-point 011010 pfc
set class-of-service congestion-notification-profile cnp output ieee-802.1 code-point 011 flow-control-queue 4
set class-of-service drop-profiles dp1 interpolate fill-level 10 fill-level 50 drop-probability 0 drop-probability 20
set class-of-service schedulers s1 drop-profile-map loss-priority any protocol any drop-profile dp1
set class-of-service schedulers s1 explicit-congestion-notification
set class-of-service scheduler-maps m forwarding-class NO-LOSS scheduler s1
set class-of-service interfaces et-0/0/0 scheduler-map m
set class-of-service interfaces et-0/0/0 congestion-notification-profile cnp
"""


@pytest.mark.parametrize(
    ("text", "queue", "low", "high", "percent"),
    [(EOS, 3, 150_000, 1_500_000, 100), (NXOS, 3, 150_000, 3_000_000, 7), (JUNOS, 4, 10, 50, 20)],
)
def test_public_examples_are_read(text: str, queue: int, low: int, high: int, percent: int) -> None:
    reading = read(text)
    assert [one for one in reading.findings if one.severity != "note"] == []
    (port,) = reading.device.ports
    wred = port.queues[queue].wred
    assert wred is not None
    assert port.pfc == (queue,)
    assert (wred.min_octets, wred.max_octets, wred.percent, wred.ecn) == (low, high, percent, True)


@pytest.mark.parametrize(
    ("text", "old", "new", "kind", "message"),
    [
        (EOS, "priority 3 no-drop", "priority 8 no-drop", "range", "out of range"),
        (EOS, "priority 3 no-drop", "priority 3 lossless", "range", "no action"),
        (EOS, "uc-tx-queue 3", "uc-tx-queue 9", "range", "out of range"),
        (EOS, "probability 100", "probability 101", "range", "out of range"),
        # pyavd 6.4.0 accepts it.
        (EOS, "maximum-threshold 1500", "maximum-threshold 15", "range", "below the minimum"),
        (EOS, "maximum-threshold 1500 kbytes", "maximum-threshold 1500 bytes", "syntax", "not one unit"),
        (EOS, "minimum-threshold 150 ", "minimum-threshold 0 ", "range", "out of range"),
        (EOS, "service-profile Q", "service-profile R", "reference", "of this name"),
        (EOS, "interface", "qos map dscp 64 to traffic-class 3\ninterface", "range", "out of range"),
        (EOS, "interface", "priority-flow-control pause watchdog default timeout 61\ninterface", "range", "61: out of"),
        (NXOS, "match dscp 26", "match dscp 64", "range", "out of range"),
        (NXOS, "c-out-8q-q3", "c-out-3", "reference", "no such class"),
        (NXOS, "nq3", "nq-roce", "reference", "no such class"),
        (NXOS, "pfc-cos 3", "pfc-cos 8", "range", "out of range"),
        (NXOS, "    pause pfc-cos 3\n", "", "meaning", "no class of the network-qos policy is paused"),
        (NXOS, "probability 7", "probability 0", "range", "out of range"),
        (NXOS, "3000 kbytes", "100 kbytes", "range", "below the minimum"),
        (NXOS, "3000 kbytes", "3000 packs", "syntax", "no unit"),
        (NXOS, "network-qos NQ\ninterface", "network-qos N\ninterface", "reference", "no policy-map"),
        (NXOS, "output OUT", "output IN", "reference", "no queues of this name"),
        (NXOS, "mode on", "mode always", "range", "no mode"),
        (JUNOS, "queue-num 4", "queue-num 8", "range", "out of range"),
        (JUNOS, "code-points 011010", "code-points 26", "syntax", "no 6 bits"),
        (JUNOS, "input dscp code-point 011010 pfc\n", "input dscp code-point 011010 pfc\nset class-of-service "
         "congestion-notification-profile cnp input ieee-802.1 code-point 011 pfc\n", "meaning", "do not stand in one"),
        (JUNOS, "flow-control-queue 4", "flow-control-queue 3", "meaning", "no flow-control-queue"),
        (JUNOS, "fill-level 50", "fill-level 5", "range", "5 after 10"),
        (JUNOS, "fill-level 50", "fill-level 101", "range", "out of range"),
        (JUNOS, " drop-probability 20", "", "syntax", "2 fill levels and 1"),
        (JUNOS, "drop-profile dp1", "drop-profile dp2", "reference", "no drop profile"),
        (JUNOS, "scheduler s1", "scheduler s2", "reference", "no scheduler"),
        (JUNOS, "scheduler-map m", "scheduler-map n", "reference", "of this name"),
        (JUNOS, "et-0/0/0 congestion-notification-profile cnp", "et-0/0/0 congestion-notification-profile c",
         "reference", "of this name"),
    ],
)  # fmt: skip
def test_faults_of_switches(text: str, old: str, new: str, kind: str, message: str) -> None:
    assert old in text
    found = [one for one in read(text.replace(old, new)).findings if message in one.message]
    assert kind in {one.kind for one in found}
    assert all(one.line is not None for one in found)


def test_pyavd_renders_the_lines_that_are_written() -> None:
    pyavd = pytest.importorskip("pyavd", reason="pyavd is not installed (pip install pyavd==6.4.0)")
    written = configurations(Scenario.named("priorities/roce-and-storage"), to="eos")["sw0"]
    device = written.expressed
    queues = [
        {"id": number}
        | ({"priority": "priority strict"} if queue.weight is None else {"priority": "no priority"})
        | ({} if queue.weight is None else {"bandwidth_percent": queue.weight})
        | ({} if queue.max_rate_bps is None else {"shape": {"rate": f"{queue.max_rate_bps // 1000} kbps"}})
        | ({} if queue.wred is None else {"random_detect": {"ecn": {"threshold": {
            "units": "bytes", "min": queue.wred.min_octets, "max": queue.wred.max_octets,
            "max_probability": queue.wred.percent, "weight": 0}}}})
        for number, queue in sorted(device.ports[0].queues.items())
    ]  # fmt: skip
    structured = {
        "hostname": "sw0",
        "qos": {"map": {"dscp": [f"{code} to traffic-class {tc}" for code, tc in sorted(device.dscp.items())]}},
        "qos_profiles": [{"name": "QOS_100G", "trust": "dscp", "uc_tx_queues": queues, "priority_flow_control": {
            "enabled": True, "priorities": [{"priority": number, "no_drop": True} for number in device.ports[0].pfc]}}],
        "ethernet_interfaces": [{"name": port.name, "service_profile": "QOS_100G", "mtu": port.frame_octets - 22}
                                for port in device.ports],
    }  # fmt: skip
    pyavd.validate_structured_config(structured)
    rendered = pyavd.get_device_config(structured).split("\n")
    (text,) = written.files.values()
    own = [line for line in text.split("\n") if line.strip() and not line.strip().startswith("!")]
    skipped = ("   description", "qos map traffic-class", "priority-flow-control pause")
    assert [line for line in own if line not in rendered and not line.startswith(skipped)] == []
