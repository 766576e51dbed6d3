"""Configurations of other simulators as text: that of HPCC's simulator, and that of Daytone."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from penstock.errors import ArgumentError, nearest
from penstock.exchange.hpcc import Flow, Topology
from penstock.exchange.networks import rate_bps

HPCC = {
    "ENABLE_QCN": "1",
    "USE_DYNAMIC_PFC_THRESHOLD": "1",
    "PACKET_PAYLOAD_SIZE": "1000",
    "TOPOLOGY_FILE": "topology.txt",
    "FLOW_FILE": "flow.txt",
    "TRACE_FILE": "trace.txt",
    "TRACE_OUTPUT_FILE": "trace.tr",
    "FCT_OUTPUT_FILE": "fct.txt",
    "PFC_OUTPUT_FILE": "pfc.txt",
    "SIMULATOR_STOP_TIME": "",
    "CC_MODE": "",
    "ALPHA_RESUME_INTERVAL": "1",
    "RATE_DECREASE_INTERVAL": "4",
    "CLAMP_TARGET_RATE": "0",
    "RP_TIMER": "300",
    "EWMA_GAIN": "0.00390625",
    "FAST_RECOVERY_TIMES": "1",
    "RATE_AI": "",
    "RATE_HAI": "",
    "MIN_RATE": "1000Mb/s",
    "DCTCP_RATE_AI": "1000Mb/s",
    "ERROR_RATE_PER_LINK": "0.0000",
    "L2_CHUNK_SIZE": "4000",
    "L2_ACK_INTERVAL": "1",
    "L2_BACK_TO_ZERO": "0",
    "HAS_WIN": "0",
    "GLOBAL_T": "1",
    "VAR_WIN": "0",
    "FAST_REACT": "0",
    "U_TARGET": "0.95",
    "MI_THRESH": "0",
    "INT_MULTI": "1",
    "MULTI_RATE": "0",
    "SAMPLE_FEEDBACK": "0",
    "PINT_LOG_BASE": "1.01",
    "PINT_PROB": "1.0",
    "RATE_BOUND": "1",
    "ACK_HIGH_PRIO": "0",
    "LINK_DOWN": "0 0 0",
    "ENABLE_TRACE": "0",
    "BUFFER_SIZE": "32",
    "QLEN_MON_FILE": "qlen.txt",
    "QLEN_MON_START": "0",
    "QLEN_MON_END": "0",
}
"""Keys of `config.txt` in the order of its authors' run.py, with the values that this has for 100 Gb/s."""

MARKS = "400 1600 0.20"
"""Thresholds of marks, KB, and the probability at the upper one, as run.py has them for DCQCN at 100 Gb/s."""


def hpcc_configuration(rates: Sequence[str], settings: Mapping[str, str], *, stop_s: float) -> str:
    """Return `config.txt`.

    Args:
        rates: those of all links, for instance "100Gbps": each has the same thresholds.
        settings: values of keys, and as `K` the thresholds.
        stop_s: when the simulation ends, s.

    Raises:
        ArgumentError: a key is unknown, or one without a default is missing.
    """
    for key in settings.keys() - HPCC.keys() - {"K"}:
        raise ArgumentError(f"{key}: config.txt has no such key", nearest(key, HPCC, "take it out"))
    values = {**HPCC, **settings, "SIMULATOR_STOP_TIME": f"{stop_s:.2f}"}
    low, high, most = values.pop("K", MARKS).split()
    for key, value in {"KMAX_MAP": high, "KMIN_MAP": low, "PMAX_MAP": most}.items():
        values[key] = " ".join([str(len(rates)), *(f"{rate_bps(rate)} {value}" for rate in rates)])
    for key, value in values.items():
        if not value:
            raise ArgumentError(f"{key}: has no value", f"write theirs.{key}")
    return "".join(f"{key} {value}\n" for key, value in values.items())


FIRST_NS = 1_000
"""When Daytone's first flow begins: at 0 it stops with InvalidScheduledTime."""


def daytone_configuration(topology: Topology, flows: Sequence[Flow], settings: Mapping[str, str]) -> str:
    """Return the configuration of Daytone, whose links have one rate and no delay.

    Args:
        topology: the network.
        flows: each is a source of its octets.
        settings: `rate_gbps` of each source, and `frame_octets`.

    Raises:
        ArgumentError: links differ in their rates.
    """
    rates = {rate_bps(at.rate) for at in topology.links}
    if len(rates) > 1:
        words = sorted({at.rate for at in topology.links})
        raise ArgumentError(f"topology: links of {' and '.join(words)}", "Daytone has one rate for all ports")
    frame = int(settings["frame_octets"])
    gap_ns = Decimal(frame * 8) / Decimal(settings["rate_gbps"])
    if gap_ns != gap_ns.to_integral_value():
        reason = f"a frame of {frame} octets each {gap_ns} ns"
        raise ArgumentError(f"rate_gbps: {reason}", "write a rate whose frames are whole nanoseconds apart")
    edges = ", ".join(f"[{at.first}, {at.second}]" for at in topology.links)
    hosts = [node for node in range(topology.nodes) if node not in topology.switches]
    lines = [
        "seed = 1",
        f"edges = [{edges}]",
        f"hosts = {hosts}",
        "duration = 1.0",
        "ui_interval = 1.0",
        "num_threads = 1",
        'log_path = "./output"',
        "",
        "[switch]",
        f"port_rate = {rates.pop()}",
        "capacity = 1000000",
        'discipline = "FIFO"',
        'drop = "TailDrop"',
    ]
    for number, flow in enumerate(flows):
        start = FIRST_NS + Decimal(flow.start) * 10**9
        lines += [
            "",
            "[[flow]]",
            f"flow_id = {number}",
            'flow_type = "PacketDistribution"',
            f"graph = [[{flow.source}, {flow.destination}]]",
            "[flow.traffic]",
            f"initial_delay = {_seconds(start)}",
            f"size = {flow.octets}",
            f'arr_dist = {{ type = "Uniform", low = {_seconds(gap_ns)}, high = {_seconds(gap_ns)} }}',
            f'pkt_size_dist = {{ type = "Uniform", low = {frame}, high = {frame} }}',
        ]
    return "\n".join(lines) + "\n"


def _seconds(nanoseconds: Decimal) -> str:
    """Return a time as a number of TOML, s."""
    return re.sub(r"0+$", "0", f"{nanoseconds / 10**9:.12f}")
