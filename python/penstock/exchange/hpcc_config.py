"""The configuration of HPCC's simulator and its kin: ``config.txt``, as far as a scenario can say it.

Source of the keys: ``simulation/mix/config_doc.txt`` and the reader in ``simulation/scratch/third.cc`` of
https://github.com/alibaba-edu/High-Precision-Congestion-Control; ``ENABLE_PFC`` and ``ENABLE_IRN`` are ConWeave's
(``run.py`` of https://github.com/conweave-project/conweave-ns3). A line has a key and its values; text in braces is a
remark, as in ``config_doc.txt``.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise

from penstock import catalogue
from penstock.exchange.hpcc import RATE, Flow, Flows, Link, Topology
from penstock.exchange.line_reader import NUMBER, WHOLE, ExchangeError, Lines, cut
from penstock.exchange.networks import base_rtt_ps, rate_bps, rate_text

_KEY = re.compile(r"[A-Z][A-Z0-9_]*")

SCHEMES = {1: "dcqcn", 3: "hpcc", 7: "timely", 8: "dctcp", 10: "hpcc"}
"""Values of ``CC_MODE``."""

POOL_MB = 32
"""``BUFFER_SIZE`` of the configuration that HPCC's simulator ships, 2^20 octets a switch."""

PAYLOAD = 1000
"""``PACKET_PAYLOAD_SIZE`` of all of them: octets of data in a full packet."""

_AGREES = {
    "ENABLE_QCN": "1",
    "USE_DYNAMIC_PFC_THRESHOLD": "1",
    "ERROR_RATE_PER_LINK": "0",
    "L2_ACK_INTERVAL": "1",
    "L2_BACK_TO_ZERO": "0",
    "L2_CHUNK_SIZE": "4000",
    "RATE_BOUND": "1",
    "ACK_HIGH_PRIO": "1",
    "INT_MULTI": "1",
    "MULTI_RATE": "0",
    "SAMPLE_FEEDBACK": "0",
    "LINK_DOWN": "0 0 0",
    "LB_MODE": "0",
}
"""Values that say what a scenario does as well; other values are named in a note."""

_WINDOWS = ("HAS_WIN", "VAR_WIN", "FAST_REACT", "GLOBAL_T")
_AGREES_UNDER = {
    "hpcc": dict.fromkeys(_WINDOWS, "1"),
    "dctcp": {"HAS_WIN": "1", "VAR_WIN": "1", "FAST_REACT": "0", "GLOBAL_T": "1"},
    "dcqcn": {"HAS_WIN": "0", "VAR_WIN": "0", "FAST_REACT": "0", "GLOBAL_T": "1"},
    "timely": {"HAS_WIN": "0", "VAR_WIN": "0", "FAST_REACT": "0", "GLOBAL_T": "1"},
}
"""The same under a scheme: windows of HPCC and DCTCP, none of the others."""

_SILENT = re.compile(
    r".*_FILE|.*_MON_.*|MON_.*|QLEN_.*|ENABLE_TRACE|SIMULATOR_STOP_TIME|APP_ST(ART|OP)_TIME|FLOWGEN_.*|LOAD|RANDOM_SEED|"
    r"CONWEAVE_.*|PINT_.*|SW_MONITORING_INTERVAL"
)
"""Keys of files, records and traffic that a scenario has elsewhere, or that another key turns on."""

MAPS = ("KMIN_MAP", "KMAX_MAP", "PMAX_MAP")
"""The keys that map a rate to a value, in KB or as a probability."""

_OF_SCHEMES = {
    "ALPHA_RESUME_INTERVAL",
    "RATE_DECREASE_INTERVAL",
    "CLAMP_TARGET_RATE",
    "RP_TIMER",
    "EWMA_GAIN",
    "FAST_RECOVERY_TIMES",
    "RATE_AI",
    "RATE_HAI",
    "MIN_RATE",
    "DCTCP_RATE_AI",
    "U_TARGET",
    "MI_THRESH",
    "KMAX_MAP",
    "KMIN_MAP",
    "PMAX_MAP",
}
"""Keys of one scheme or another, which say nothing where that scheme does not run."""


MAPS = ("KMIN_MAP", "KMAX_MAP", "PMAX_MAP")
"""The keys that map a rate to a value, in KB or as a probability."""

_ALONE_OCTETS = 10_000_000
"""The size of a flow where no file has any."""


@dataclass
class Config:
    """A configuration: each key with its line and its values; ``used`` are the keys that were followed."""

    name: str
    values: Mapping[str, tuple[int, list[str]]] = field(default_factory=dict)
    used: list[str] = field(default_factory=list)

    def error(self, key: str, reason: str) -> ExchangeError:
        """Return an error at a key's line."""
        return ExchangeError(self.name, self.values[key][0], f"{key}: {reason}")

    def word(self, key: str, pattern: re.Pattern[str], what: str) -> str | None:
        """Return the one word of a key; ``None`` where the file has no such key."""
        if key not in self.values:
            return None
        words = self.values[key][1]
        if len(words) != 1 or not pattern.fullmatch(words[0]):
            raise self.error(key, f"{cut(' '.join(words))!r} is not {what}")
        self.used.append(key)
        return words[0]

    def number(self, key: str, default: int) -> int:
        """Return a whole number."""
        word = self.word(key, WHOLE, "a whole number of 0 or more")
        return default if word is None else int(word)

    def real(self, key: str) -> Decimal | None:
        """Return a number."""
        word = self.word(key, NUMBER, "a number of 0 or more")
        return None if word is None else Decimal(word)

    def rate(self, key: str) -> int | None:
        """Return a rate, bit/s."""
        word = self.word(key, RATE, "a rate such as 50Mb/s")
        rate = None if word is None else rate_bps(word)
        if word is not None and rate is None:
            raise self.error(key, f"the rate is {word}; write a whole number of bit/s")
        return rate

    def per_rate(self, key: str) -> dict[int, Decimal]:
        """Return a map from the rate of a link, bit/s, to a value; empty where the file has none."""
        if key not in self.values:
            return {}
        words = self.values[key][1]
        right = len(words) > 2 and all(map(NUMBER.fullmatch, words))
        if not right or len(words) != 1 + 2 * int(Decimal(words[0])):
            raise self.error(key, "this is not a map; write the number of pairs, then pairs of bit/s and value")
        self.used.append(key)
        return {int(Decimal(rate)): Decimal(value) for rate, value in zip(words[1::2], words[2::2], strict=True)}

    def falls(self) -> list[str]:
        """Return a sentence for each map whose values do not rise with the rate throughout, with the rates."""
        found = []
        for key in MAPS:
            values = sorted(self.per_rate(key).items())
            falls = [
                f"from {before:f} at {rate_text(slower)} to {value:f} at {rate_text(rate)}"
                for (slower, before), (rate, value) in pairwise(values)
                if value < before
            ]
            if falls:
                rule = "as a rule such values rise with the rate, or stay"
                found.append(f"{self.name}: {key} falls {', and '.join(falls)}; {rule}")
        return found

    @property
    def transport(self) -> dict[str, dict[str, str]] | None:
        """The transport that it asks for, if it says one."""
        if not {"PACKET_PAYLOAD_SIZE", "ENABLE_IRN"} & set(self.values):
            return None
        payload, selective = self.number("PACKET_PAYLOAD_SIZE", PAYLOAD), self.number("ENABLE_IRN", 0)
        return {"selective" if selective else "go-back-n": {"mtu": f"{payload} octets"}}

    @property
    def scheme(self) -> str | None:
        """The scheme of its ``CC_MODE``."""
        if "CC_MODE" not in self.values:
            return None
        mode = self.number("CC_MODE", 0)
        if mode not in SCHEMES:
            known = ", ".join(f"{number} ({scheme})" for number, scheme in SCHEMES.items())
            raise self.error("CC_MODE", f"the mode is {mode}; write one of {known}, or take the line out")
        return SCHEMES[mode]

    def note(self, scheme: str | None) -> str:
        """Return a sentence on what was followed, and what was not."""
        names = dict.fromkeys(self.used)
        left = []
        agrees_here = _AGREES | _AGREES_UNDER.get(scheme or "", {})
        for key, (_, words) in self.values.items():
            value = " ".join(words)
            same = agrees_here.get(key)
            agrees = same is not None and (value == same or [*map(_plain, words)] == same.split())
            if key not in names and not agrees and not _SILENT.fullmatch(key) and not (key in _OF_SCHEMES and scheme):
                left.append(f"{key} {value}")
        followed = f"{self.name}: followed are {', '.join(names) or 'no keys'}"
        if "BYTE_COUNTER" in self.values and "CC_MODE" not in self.values:
            followed += "; it is that of ns3-rdma, whose scheme is DCQCN: --scheme dcqcn, with its profile ns3-rdma"
        return f"{followed}; not followed: {', '.join(left)}" if left else followed


def incast_of(config: Config) -> tuple[Topology, Flows]:
    """Return a network and flows for a configuration that comes without any: two hosts send 10 MB each to a third.

    The links have the fastest rate of the configuration's maps, and 1 us each.

    Raises:
        ExchangeError: the maps have no rate in common.
    """
    maps = [set(config.per_rate(key)) for key in MAPS if key in config.values]
    rates = set.intersection(*maps) if maps else set()
    if not rates:
        reason = f"{', '.join(MAPS)} have no rate in common that links could have; give a topology and flows beside it"
        raise ExchangeError(config.name, None, reason)
    rate = f"{max(rates)}bps"
    links = tuple(Link(host, 3, rate, "1us", "0") for host in range(3))
    flows = tuple(Flow(host, 2, 3, 100 + host, _ALONE_OCTETS, "0") for host in range(2))
    return Topology(4, (3,), links), Flows(flows)


def _plain(word: str) -> str:
    """Return a number without zeros behind its point."""
    return f"{Decimal(word).normalize():f}" if NUMBER.fullmatch(word) else word


def parse(text: str, name: str) -> Config:
    """Read a configuration from its text; ``name`` stands in messages.

    Raises:
        ExchangeError: a line is none of it; the message has it.
    """
    lines = Lines(re.sub(r"\{[^{}\n]*\}", "", text), name)
    values: dict[str, tuple[int, list[str]]] = {}
    while (words := lines.next_words()) is not None:
        key, *rest = words
        if not _KEY.fullmatch(key) or not rest:
            raise lines.error(f"{cut(key)!r} begins no line of a configuration; write a key and its value")
        if key in values:
            raise lines.error(f"{key} appears twice; write it once")
        values[key] = lines.at, rest
    return Config(name, values)


def scheme_lines(config: Config, scheme: str, topology: Topology, nic_bps: int) -> tuple[list[str], list[str]]:
    """Return the keys ``[schemes.…]`` of the configuration's own scheme, as lines of TOML, and notes.

    Args:
        config: the configuration.
        scheme: the scheme that runs, which is its own.
        topology: the network, from whose links the base round-trip time follows.
        nic_bps: the rate of the hosts' links, bit/s.

    Raises:
        ExchangeError: a value is none of its key.
    """
    keys: list[tuple[str, object]] = []
    notes: list[str] = []
    if scheme == "dcqcn":
        # A host answers each marked packet, in its acknowledgement. A stage is counted before the rate rises here, and
        # after it there: one time of fast recovery is f = 2.
        keys = [("profile", "hpcc-mlx"), ("cnp_interval", "0 s")]
        keys += _number(config, "FAST_RECOVERY_TIMES", "f", 1)
        for key, own in (("ALPHA_RESUME_INTERVAL", "alpha_time"), ("RATE_DECREASE_INTERVAL", "decrease_time")):
            keys += _us(config, key, own)
        keys += _us(config, "RP_TIMER", "time_reset") + _gain(config)
        keys += _rate(config, "RATE_AI", "r_ai") + _rate(config, "RATE_HAI", "r_hai")
        if "CLAMP_TARGET_RATE" in config.values:
            # The target takes the rate before each cut, or before the first one after a rise (CheckRateDecreaseMlx).
            always = config.number("CLAMP_TARGET_RATE", 0) != 0
            keys.append(("rt_update", "every-cut" if always else "after-increase"))
        keys += _marks(
            config, topology, nic_bps, notes, {"k_min": "KMIN_MAP", "k_max": "KMAX_MAP", "p_max": "PMAX_MAP"}
        )
    elif scheme == "hpcc":
        rtt_ps = base_rtt_ps(topology, config.number("PACKET_PAYLOAD_SIZE", PAYLOAD))
        keys = [("base_rtt", f"{rtt_ps} ps")]
        if (rate := config.rate("RATE_AI")) is not None:
            keys.append(("w_ai", f"{max(1, round(rate * rtt_ps / 8e12))} octets"))
        if (target := config.real("U_TARGET")) is not None:
            keys.append(("eta", float(target)))
        keys += _number(config, "MI_THRESH", "max_stage", 0) + _number(config, "INT_MULTI", "unit_factor", 0)
        if config.values["CC_MODE"][1] == ["10"]:
            keys.append(("telemetry", "pint"))
    elif scheme == "timely":
        # Its rules, once a round trip and counting every rise, are those of the profile, whose steps RATE_AI replaces.
        keys = [("profile", "hpcc-100g"), *_rate(config, "RATE_AI", "delta")]
        if config.number("HAS_WIN", 0):
            rtt_ps = base_rtt_ps(topology, config.number("PACKET_PAYLOAD_SIZE", PAYLOAD))
            keys.append(("window_time", f"{rtt_ps} ps"))
    elif scheme == "dctcp":
        payload = config.number("PACKET_PAYLOAD_SIZE", PAYLOAD)
        rtt_ps = base_rtt_ps(topology, payload)
        # A rate rises by DCTCP_RATE_AI a round trip there: its window by what that sends in one.
        rate = config.rate("DCTCP_RATE_AI")
        step = payload if rate is None else max(64, round(rate * rtt_ps / 8e12))
        if config.number("HAS_WIN", 0):
            keys = [("profile", "hpcc-ns3")]
            keys += [("base_rtt", f"{rtt_ps} ps")] if config.number("GLOBAL_T", 1) else []
        keys += [("segment", f"{step} octets"), *_gain(config)]
        keys += _marks(config, topology, nic_bps, notes, {"k": "KMIN_MAP"})
    if scheme != "dctcp":
        keys += _rate(config, "MIN_RATE", "min_rate")
    return [f"[schemes.{scheme}]", *(f"{key} = {_toml(value)}" for key, value in keys)], notes


Keys = list[tuple[str, object]]


def _number(config: Config, key: str, own: str, more: int) -> Keys:
    return [(own, config.number(key, 0) + more)] if key in config.values else []


def _us(config: Config, key: str, own: str) -> Keys:
    value = config.real(key)
    return [] if value is None else [(own, f"{value:f} us")]


def _rate(config: Config, key: str, own: str) -> Keys:
    value = config.rate(key)
    return [] if value is None else [(own, rate_text(value))]


def _gain(config: Config) -> Keys:
    value = config.real("EWMA_GAIN")
    if value is None:
        return []
    if value == 0:
        raise config.error("EWMA_GAIN", "the gain is 0; write one above 0")
    return [("g_inverse", round(1 / value))]


def _marks(config: Config, topology: Topology, nic_bps: int, notes: list[str], of: Mapping[str, str]) -> Keys:
    """Return thresholds of marks: those of the hosts' links, in proportion at others or with a note."""
    keys: Keys = []
    rates = {rate for link in topology.links if (rate := rate_bps(link.rate)) is not None and rate != nic_bps}
    maps = {own: config.per_rate(key) for own, key in of.items()}
    lengths = [values for own, values in maps.items() if own != "p_max" and nic_bps in values]
    other = [(values[nic_bps] * rate, values[rate] * nic_bps) for values in lengths for rate in rates & set(values)]
    scaled = bool(other) and all(ours == theirs for ours, theirs in other)
    for own, key in of.items():
        values = maps[own]
        if not values:
            continue
        if nic_bps not in values:
            raise config.error(
                key, f"it has no value for {rate_text(nic_bps)}, the rate of the hosts' links; add a pair"
            )
        value = values[nic_bps]
        keys.append((own, float(value) if own == "p_max" else f"{int(value * 1000)} octets"))
        others = [
            f"{values[rate]:f} at {rate_text(rate)}" for rate in sorted(rates & set(values)) if values[rate] != value
        ]
        if others and (own == "p_max" or not scaled):
            one = f"{own} is that of {rate_text(nic_bps)} for all ports, as the scheme has one"
            notes.append(f"{config.name}: {one}; {key} has {', '.join(others)}")
    if scaled:
        keys.append(("thresholds_at", rate_text(nic_bps)))
    return keys


def _toml(value: object) -> str:
    return (
        str(value).lower()
        if isinstance(value, bool)
        else repr(value)
        if isinstance(value, int | float)
        else f'"{value}"'
    )


def switch_lines(config: Config, topology: Topology, scheme: str, pfc: bool) -> Sequence[str]:
    """Return the switches of HPCC's simulator, as lines of TOML: marks, flow control, memory.

    A frame is marked when its transmission starts, by the queue behind it (``switch-node.cc``). A line may hold an
    eighth of the memory that is free, beside 4 KB that are kept for it, before its far end is stopped; headroom is kept
    beside. (``simulation/src/point-to-point/model/switch-mmu.cc``)
    """
    acts = (action["name"] for known in catalogue.schemes() if known["name"] == scheme for action in known["actions"])
    marks = "marks" in acts
    marked = ["", "[network]", *(['ecn_at = "departure"'] if marks else []), "in_service_counts = false"]
    pool = pool_octets(config)
    ports = Counter(node for link in topology.links for node in (link.first, link.second))
    most = max((ports[switch] for switch in topology.switches), default=1)
    # All lines of a switch may wait at one queue, and 2^32 octets are the most there.
    room = min(pool, (2**32 - 1 - pool) // max(1, most))
    lines = [*marked, *(["", "[pfc]", *([f'buffer = "{room} octets"'] if room < pool else [])] if pfc else [])]
    lines += ["", "[[buffer]]", f'size = "{pool} octets"', 'alpha = "none"']
    return [*lines, 'ingress_reserve = "4096 octets"', "ingress_alpha = 0.125"]


def pool_octets(config: Config) -> int:
    """Return the memory of a switch, octets."""
    size = config.number("BUFFER_SIZE", POOL_MB)
    if not 0 < size <= 2000:
        raise config.error("BUFFER_SIZE", f"the size is {size}; write 1 to 2000 (times 2^20 octets)")
    return size * 2**20
