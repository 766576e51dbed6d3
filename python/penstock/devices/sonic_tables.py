"""The tables of SONiC's configuration that concern quality of service: keys, fields and limits.

The limits are those of sonic-yang-models in sonic-net/sonic-buildimage, commit 086b03bd.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

_U64 = 2**64 - 1
_U32 = 2**32 - 1
NAME = r"[a-zA-Z0-9][-a-zA-Z0-9_]{0,31}"


@dataclass(frozen=True)
class Field:
    """A field of a table: a number from ``low`` to ``high``, one of ``values``, a reference, or a pattern.

    Attributes:
        low: the least number; ``None`` if it is no number.
        high: the largest.
        values: the values of an enumeration.
        refers: the table whose keys it names.
        besides: values that a reference may have besides.
        pattern: the regular expression of a text.
        example: a value that is right.
    """

    low: int | None = None
    high: int | None = None
    values: tuple[str, ...] = ()
    refers: str = ""
    besides: tuple[str, ...] = ()
    pattern: str = ""
    example: str = ""


@dataclass(frozen=True)
class Table:
    """A table: its YANG module, the names of its keys, its fields, or the one list inside each entry.

    Attributes:
        module: the YANG module.
        keys: the names of its keys; those called ``port`` and ``ifname`` are ports.
        fields: the fields by name.
        mandatory: those that each entry needs.
        inner: names and rules of key and value of the list inside each entry.
        ports_besides: what may stand for a port.
    """

    module: str
    keys: tuple[str, ...]
    fields: Mapping[str, Field] = field(default_factory=dict)
    mandatory: tuple[str, ...] = ()
    inner: tuple[tuple[str, Field], tuple[str, Field]] | None = None
    ports_besides: tuple[str, ...] = ()


def _number(low: int, high: int) -> Field:
    return Field(low=low, high=high)


def _one_of(*values: str) -> Field:
    return Field(values=values)


def _to(table: str, *besides: str) -> Field:
    return Field(refers=table, besides=besides)


_BYTES = _number(0, _U64)
_PERCENT = _number(0, 100)
_PRIORITIES = Field(pattern=r"([0-7](,[0-7])*)?", example="3,4")
_TC = _number(0, 15)
_EIGHT = _number(0, 7)
_ECN = _one_of(
    "ecn_none",
    "ecn_green",
    "ecn_yellow",
    "ecn_red",
    "ecn_green_yellow",
    "ecn_green_red",
    "ecn_yellow_red",
    "ecn_all",
)
_COLOURS = ("green", "yellow", "red")


def _map(module: str, key: str, keys: Field, value: str, values: Field) -> Table:
    return Table(module, ("name",), inner=((key, keys), (value, values)))


TABLES: Mapping[str, Table] = {
    "PORT": Table(
        "sonic-port",
        ("name",),
        {"speed": _number(1, 1_600_000), "mtu": _number(68, 9216), "admin_status": _one_of("up", "down")},
        mandatory=("speed",),
    ),
    "CABLE_LENGTH": Table(
        "sonic-cable-length",
        ("name",),
        inner=(("port", _to("PORT")), ("length", Field(pattern="[0-9]+m", example="40m"))),
    ),
    "BUFFER_POOL": Table(
        "sonic-buffer-pool",
        ("name",),
        {
            "type": _one_of("ingress", "egress", "both"),
            "mode": _one_of("static", "dynamic"),
            "size": _BYTES,
            "xoff": _BYTES,
            "percentage": _number(0, 255),
        },
        mandatory=("type", "mode"),
    ),
    "BUFFER_PROFILE": Table(
        "sonic-buffer-profile",
        ("name",),
        {
            "pool": _to("BUFFER_POOL"),
            "size": _BYTES,
            "xon": _BYTES,
            "xoff": _BYTES,
            "xon_offset": _BYTES,
            "dynamic_th": _number(-8, 7),
            "static_th": _BYTES,
            "headroom_type": _one_of("static", "dynamic"),
            "packet_discard_action": _one_of("drop", "trim"),
        },
        mandatory=("pool", "size"),
    ),
    "BUFFER_PG": Table("sonic-buffer-pg", ("port", "pg_num"), {"profile": _to("BUFFER_PROFILE", "NULL")}),
    "BUFFER_QUEUE": Table("sonic-buffer-queue", ("port", "qindex"), {"profile": _to("BUFFER_PROFILE")}),
    "WRED_PROFILE": Table(
        "sonic-wred-profile",
        ("name",),
        {"ecn": _ECN}
        | {f"wred_{colour}_enable": _one_of("true", "false") for colour in _COLOURS}
        | {f"{colour}_{end}_threshold": _BYTES for colour in _COLOURS for end in ("min", "max")}
        | {f"{colour}_drop_probability": _PERCENT for colour in _COLOURS},
    ),
    "SCHEDULER": Table(
        "sonic-scheduler",
        ("name",),
        {
            "type": _one_of("DWRR", "WRR", "STRICT"),
            "weight": _number(1, 100),
            "priority": _number(0, 9),
            "meter_type": _one_of("packets", "bytes"),
            "cir": _BYTES,
            "pir": _BYTES,
            "cbs": _number(0, _U32),
            "pbs": _number(0, _U32),
        },
    ),
    "QUEUE": Table(
        "sonic-queue",
        ("ifname", "qindex"),
        {"scheduler": _to("SCHEDULER"), "wred_profile": _to("WRED_PROFILE")},
        ports_besides=("CPU",),
    ),
    "DSCP_TO_TC_MAP": _map("sonic-dscp-tc-map", "dscp", _number(0, 63), "tc", _TC),
    "DOT1P_TO_TC_MAP": _map("sonic-dot1p-tc-map", "dot1p", _EIGHT, "tc", _TC),
    "TC_TO_PRIORITY_GROUP_MAP": _map("sonic-tc-priority-group-map", "tc", _TC, "pg", _EIGHT),
    "TC_TO_QUEUE_MAP": _map("sonic-tc-queue-map", "tc", _TC, "qindex", _number(0, 9)),
    "TC_TO_DSCP_MAP": _map("sonic-tc-dscp-map", "tc", _TC, "dscp", _number(0, 63)),
    "MAP_PFC_PRIORITY_TO_QUEUE": _map("sonic-pfc-priority-queue-map", "pfc_priority", _EIGHT, "qindex", _EIGHT),
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": _map(
        "sonic-pfc-priority-priority-group-map", "pfc_priority", _EIGHT, "pg", _EIGHT
    ),
    "PORT_QOS_MAP": Table(
        "sonic-port-qos-map",
        ("ifname",),
        {
            "pfc_enable": _PRIORITIES,
            "pfcwd_sw_enable": _PRIORITIES,
            "tc_to_pg_map": _to("TC_TO_PRIORITY_GROUP_MAP"),
            "tc_to_queue_map": _to("TC_TO_QUEUE_MAP"),
            "pfc_to_queue_map": _to("MAP_PFC_PRIORITY_TO_QUEUE"),
            "pfc_to_pg_map": _to("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"),
            "dscp_to_tc_map": _to("DSCP_TO_TC_MAP"),
            "tc_to_dscp_map": _to("TC_TO_DSCP_MAP"),
            "dot1p_to_tc_map": _to("DOT1P_TO_TC_MAP"),
            "scheduler": _to("SCHEDULER"),
        },
        ports_besides=("global",),
    ),
    "PFC_WD": Table(
        "sonic-pfcwd",
        ("ifname",),
        {
            "action": _one_of("drop", "forward", "alert"),
            "detection_time": _number(100, 5000),
            "restoration_time": _number(100, 60_000),
            "POLL_INTERVAL": _number(100, 1000),
            "pfc_stat_history": _one_of("enable", "disable"),
        },
        ports_besides=("GLOBAL",),
    ),
    "LOSSLESS_TRAFFIC_PATTERN": Table(
        "sonic-lossless-traffic-pattern",
        ("name",),
        {"mtu": _number(1, 9216), "small_packet_percentage": _PERCENT},
        mandatory=("mtu", "small_packet_percentage"),
    ),
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": Table(
        "sonic-default-lossless-buffer-parameter",
        ("name",),
        {"default_dynamic_th": _number(-8, 7), "over_subscribe_ratio": _number(0, 65_535)},
        mandatory=("default_dynamic_th",),
    ),
}
"""The tables by name."""

NAMES_OF_32 = (
    "WRED_PROFILE",
    "CABLE_LENGTH",
    "LOSSLESS_TRAFFIC_PATTERN",
    *(name for name in TABLES if "MAP" in name and name != "PORT_QOS_MAP"),
)
"""Tables whose names have 1 to 32 letters, digits, hyphens and underscores."""

SHORT_NUMBERS = {"speed", "mtu", "weight", "priority", "dynamic_th", "detection_time", "restoration_time"} | {
    "POLL_INTERVAL",
    "percentage",
    "cbs",
    "pbs",
    "small_packet_percentage",
    "default_dynamic_th",
    "over_subscribe_ratio",
    "tc",
}
"""Fields of 32 bits at the most, which RFC 7951 writes as numbers; longer ones are texts."""
