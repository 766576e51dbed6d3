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
