"""SONiC's ``config_db.json``: written from a device, and read with the line of each setting."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from penstock.devices.findings import ConfigurationError, Finding, Place, Reading
from penstock.devices.json_lines import JsonFaultError, LinedDict, read_json
from penstock.devices.model import (
    Device,
    Pool,
    Port,
    Queue,
    Threshold,
    Watchdog,
    Wred,
    Written,
    percentages,
    watchdogs,
)
from penstock.devices.sonic_rules import check_tables
from penstock.devices.sonic_tables import TABLES
from penstock.devices.sonic_yang import is_rfc7951, of_rfc7951

_TAGGED = 22
"""Octets of a frame beyond SONiC's MTU: header, one tag and FCS."""

_LANE_BPS = 100_000_000_000
_MAP = "PENSTOCK"


def port_name(index: int, rate_bps: int) -> str:
    """Return the name of a port, as the number of its first lane of 8."""
    return f"Ethernet{8 * index}"


def write(device: Device) -> Written:
    """Return the tables of a switch as ``NAME.config_db.json``, and the reasons of their values beside it.

    Thresholds are alpha exponents in dynamic pools, octets in static ones. A pool's ``xoff`` is memory beyond its size.
    """
    expressed, lost = _expressed(device)
    tables = _tables(expressed)
    text = json.dumps(tables, indent=4) + "\n"
    stem = device.name or "switch"
    reasons = _reasons(expressed, tables, [*device.beyond, *lost])
    files = {f"{stem}.config_db.json": text, f"{stem}.reasons.md": reasons}
    return Written(files=files, expressed=expressed, lost=(*device.beyond, *lost))


def _expressed(device: Device) -> tuple[Device, list[str]]:
    """Return a device as the tables can have it, and what they cannot."""
    lost: dict[str, None] = {}

    def rounded(own: Watchdog) -> Watchdog:
        poll = _within(own.poll_ms or 100, 100, 1000, "POLL_INTERVAL", lost if own.poll_ms else {})
        detection = _within(own.detection_ms, max(100, poll), 5000, "detection_time", lost)
        restoration = _within(own.restoration_ms, max(100, poll), 60_000, "restoration_time", lost)
        return replace(own, detection_ms=detection, restoration_ms=restoration, poll_ms=poll)

    of_ports = {port.name: device.watchdog_of(port.name) for port in device.ports if port.pfc}
    common, others = watchdogs({name: own and rounded(own) for name, own in of_ports.items()})
    if common is None and of_ports:
        lost[f"PFC_WD: {device.why('watchdog')}"] = None
    lost["PORT: names, lanes and order follow no platform; take the rows of your own port_config.ini"] = None
    ports = []
    for port in device.ports:
        if port.rate_bps % 1_000_000:
            lost[f"PORT: {port.name} has {port.rate_bps} bit/s, and speed is in whole Mb/s"] = None
        frame = min(max(port.frame_octets, 68 + _TAGGED), 9216 + _TAGGED) if port.frame_octets else 0
        weights = {p: queue.weight for p, queue in port.queues.items() if queue.weight is not None}
        if weights and max(weights.values()) > 100:
            lost["SCHEDULER: weights above 100 are written in per cent"] = None
            weights = percentages(weights)
        queues = {
            p: replace(
                queue,
                weight=weights.get(p),
                # cir and pir are octets a second.
                max_rate_bps=None if queue.max_rate_bps is None else max(8, queue.max_rate_bps // 8 * 8),
            )
            for p, queue in port.queues.items()
        }
        ports.append(
            replace(
                port,
                rate_bps=port.rate_bps // 1_000_000 * 1_000_000,
                frame_octets=frame,
                queues=queues,
                delay_bits=None,
            )
        )
    return replace(device, ports=tuple(ports), watchdog=common, watchdogs=others), list(lost)


def _within(value: int, low: int, high: int, name: str, lost: dict[str, None]) -> int:
    if not low <= value <= high:
        lost[f"{name}: {value} ms is written as {min(max(value, low), high)}; SONiC has {low} to {high} ms"] = None
    return min(max(value, low), high)


def _tables(device: Device) -> dict[str, dict[str, Any]]:
    tables: dict[str, dict[str, Any]] = {name: {} for name in ("DEVICE_METADATA", *TABLES)}
    tables["DEVICE_METADATA"]["localhost"] = {"hostname": device.name, "buffer_model": "traditional"}
    lane = 1
    profiles, wreds, schedulers = _Names(), _Names(), _Names()
    for port in device.ports:
        lanes = max(1, min(8, -(-port.rate_bps // _LANE_BPS)))
        row = {"lanes": ",".join(str(lane + index) for index in range(lanes)), "speed": f"{port.rate_bps // 1_000_000}"}
        lane += 8
        if port.frame_octets:
            row["mtu"] = str(port.frame_octets - _TAGGED)
        tables["PORT"][port.name] = row | {"admin_status": "up", "description": port.link}
        if port.cable_m is not None:
            tables["CABLE_LENGTH"].setdefault(_MAP, {})[port.name] = f"{port.cable_m}m"
        speed = f"{port.rate_bps // 1_000_000}" + ("" if port.cable_m is None else f"_{port.cable_m}m")
        for priority, threshold in sorted(port.ingress.items()):
            kind = f"pg_lossless_{speed}_profile" if threshold.xoff_octets else "ingress_lossy_profile"
            name = profiles.name(kind, _profile(threshold))
            tables["BUFFER_PG"][f"{port.name}|{priority}"] = {"profile": name}
        for priority, threshold in sorted(port.egress.items()):
            name = profiles.name(f"{threshold.pool.removesuffix('_pool')}_profile", _profile(threshold))
            tables["BUFFER_QUEUE"][f"{port.name}|{priority}"] = {"profile": name}
        for priority, queue in sorted(port.queues.items()):
            row = {"scheduler": schedulers.name(f"scheduler.{priority}", _scheduler(queue))}
            if queue.wred is not None:
                row["wred_profile"] = wreds.name(f"WRED_{priority}_{port.rate_bps // 10**9}G", _wred(queue.wred))
            tables["QUEUE"][f"{port.name}|{priority}"] = row
        maps = {"tc_to_pg_map": _MAP, "tc_to_queue_map": _MAP, "dscp_to_tc_map": _MAP, "dot1p_to_tc_map": _MAP}
        if port.pfc:
            listed = ",".join(str(priority) for priority in port.pfc)
            maps |= {"pfc_to_queue_map": _MAP, "pfc_enable": listed}
            own = device.watchdog_of(port.name)
            if own is not None:
                maps["pfcwd_sw_enable"] = listed
                tables["PFC_WD"][port.name] = {
                    "action": own.action,
                    "detection_time": str(own.detection_ms),
                    "restoration_time": str(own.restoration_ms),
                }
        tables["PORT_QOS_MAP"][port.name] = maps
    if tables["PFC_WD"] and device.watchdog is not None:
        tables["PFC_WD"]["GLOBAL"] = {"POLL_INTERVAL": str(device.watchdog.poll_ms)}
    for name, pool in device.pools.items():
        tables["BUFFER_POOL"][name] = {"type": pool.direction, "mode": pool.mode, "size": str(pool.size_octets)}
        if pool.xoff_octets:
            tables["BUFFER_POOL"][name]["xoff"] = str(pool.xoff_octets)
    tables["BUFFER_PROFILE"], tables["WRED_PROFILE"] = profiles.rows, wreds.rows
    tables["SCHEDULER"] = schedulers.rows
    used = sorted({*device.dscp.values(), *device.pcp.values(), *(p for port in device.ports for p in port.ingress)})
    same = {str(priority): str(priority) for priority in used}
    for name in ("TC_TO_PRIORITY_GROUP_MAP", "TC_TO_QUEUE_MAP", "MAP_PFC_PRIORITY_TO_QUEUE"):
        tables[name][_MAP] = same
    tables["DSCP_TO_TC_MAP"][_MAP] = {str(code): str(tc) for code, tc in sorted(device.dscp.items())}
    tables["DOT1P_TO_TC_MAP"][_MAP] = {str(code): str(tc) for code, tc in sorted(device.pcp.items())}
    return {name: rows for name, rows in tables.items() if rows}


class _Names:
    """Rows that are named when they are first used; equal ones share a name."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, str]] = {}

    def name(self, wanted: str, row: dict[str, str]) -> str:
        name, number = wanted, 1
        while self.rows.setdefault(name, row) != row:
            number += 1
            name = f"{wanted}_{number}"
        return name


def _profile(threshold: Threshold) -> dict[str, str]:
    row = {"pool": threshold.pool, "size": str(threshold.reserve_octets)}
    for field, value in (
        ("xon", threshold.xon_octets),
        ("xoff", threshold.xoff_octets),
        ("xon_offset", threshold.xon_offset_octets),
    ):
        if value or (field == "xon" and threshold.xoff_octets):
            row[field] = str(value)
    if threshold.alpha_exponent is not None:
        row["dynamic_th"] = str(threshold.alpha_exponent)
    if threshold.limit_octets is not None:
        row["static_th"] = str(threshold.limit_octets)
    return row


def _wred(wred: Wred) -> dict[str, str]:
    return {
        "ecn": "ecn_all" if wred.ecn else "ecn_none",
        "wred_green_enable": "true",
        "green_min_threshold": str(wred.min_octets),
        "green_max_threshold": str(wred.max_octets),
        "green_drop_probability": str(wred.percent),
    }


def _scheduler(queue: Queue) -> dict[str, str]:
    row = {"type": "STRICT"} if queue.weight is None else {"type": "DWRR", "weight": str(queue.weight)}
    if queue.max_rate_bps is not None:
        octets = str(queue.max_rate_bps // 8)
        row |= {"meter_type": "bytes", "cir": octets, "pir": octets}
    return row


def _reasons(device: Device, tables: Mapping[str, Mapping[str, Any]], lost: list[str]) -> str:
    lines = [f"# {device.name}: why each value is as it is", ""]
    lines += [f"- `BUFFER_POOL|{name}`: {device.why(f'pool|{name}')}" for name in tables.get("BUFFER_POOL", {})]
    said: dict[str, None] = {}
    for port in device.ports:
        for priority, threshold in sorted(port.ingress.items()):
            if threshold.xoff_octets:
                profile = tables["BUFFER_PG"][f"{port.name}|{priority}"]["profile"]
                said[
                    f"- `BUFFER_PROFILE|{profile}|xoff` {threshold.xoff_octets}: {device.why(f'xoff|{port.name}')}"
                ] = None
            if threshold.alpha_exponent is not None:
                profile = tables["BUFFER_PG"][f"{port.name}|{priority}"]["profile"]
                why = device.why(f"alpha|{priority}")
                said[f"- `BUFFER_PROFILE|{profile}|dynamic_th` {threshold.alpha_exponent}: {why}"] = None
        for priority, queue in sorted(port.queues.items()):
            if queue.wred is not None:
                profile = tables["QUEUE"][f"{port.name}|{priority}"]["wred_profile"]
                why = device.why(f"wred|{priority}|{port.rate_bps}")
                ends = f"{queue.wred.min_octets} to {queue.wred.max_octets}, {queue.wred.percent} %"
                said[f"- `WRED_PROFILE|{profile}` {ends}: {why}"] = None
    lines += said
    if device.watchdog is not None:
        lines.append(f"- `PFC_WD`: {device.why('watchdog')}")
    if lost:
        lines += ["", "## What these tables cannot express", "", *(f"- {sentence}" for sentence in lost)]
    return "\n".join(lines) + "\n"


def read(text: str, file: str = "config_db.json") -> Reading:
    """Return the device that tables describe, with the faults of their syntax, references and limits.

    The text is a ``config_db.json``, or the same in the form of YANG (RFC 7951).

    Raises:
        ConfigurationError: the text is no JSON, or no object.
    """
    tables = tables_of(text, file)
    findings: list[Finding] = []
    known = check_tables(tables, findings)
    reader = _TableReader(known)
    return Reading(device=reader.device(), places=reader.places, findings=findings)


def tables_of(text: str, file: str = "config_db.json") -> LinedDict:
    """Return the tables of a text by name, with the lines of their keys.

    Raises:
        ConfigurationError: the text is no JSON, or no object.
    """
    try:
        document = read_json(text)
    except JsonFaultError as fault:
        raise ConfigurationError(file, fault.line, f"no JSON: {fault}") from None
    if not isinstance(document, LinedDict):
        raise ConfigurationError(file, 1, 'the file is no object of tables; write { "PORT": … }')
    return of_rfc7951(document) if is_rfc7951(document) else document


class _TableReader:
    """Builds the device of tables whose faults have been taken out."""

    def __init__(self, tables: Mapping[str, Mapping[str, LinedDict]]) -> None:
        self.tables = tables
        self.places: dict[tuple[object, ...], Place] = {}

    def rows(self, table: str) -> Iterator[tuple[str, LinedDict]]:
        yield from self.tables.get(table, {}).items()

    def line(self, table: str, key: str, field: str = "") -> int | None:
        entries = self.tables.get(table)
        row = None if entries is None else entries.get(key)
        own = None if row is None else row.lines.get(field)
        return own if own is not None else getattr(entries, "lines", {}).get(key)

    def device(self) -> Device:
        lengths: dict[str, int] = {}
        for key, row in self.rows("CABLE_LENGTH"):
            for port, length in row.items():
                lengths[port] = int(str(length)[:-1])
                self.places["cable", port] = Place(row.lines.get(port), f"CABLE_LENGTH|{key}|{port}")
        named = [key for table in ("BUFFER_PG", "BUFFER_QUEUE", "QUEUE") for key, _ in self.rows(table)]
        ports = dict.fromkeys([key for key, _ in self.rows("PORT")] + [key.split("|")[0] for key in named])
        ports |= dict.fromkeys(key for key, _ in self.rows("PORT_QOS_MAP") if key != "global")
        ports.pop("CPU", None)
        found = {name: self._port(name, lengths.get(name)) for name in ports}
        ingress, egress = self._memory("BUFFER_PG", "ingress"), self._memory("BUFFER_QUEUE", "egress")
        queues = self._queues()
        common, others = watchdogs({port.name: self._watchdog(port.name) for port in found.values() if port.pfc})
        if common is not None:
            first = next(name for name, port in found.items() if port.pfc and name not in others)
            self.places[("watchdog",)] = self.places["watchdog", first]
        metadata: Mapping[str, Any] = self.tables.get("DEVICE_METADATA", {}).get("localhost", {})
        return Device(
            name=str(metadata.get("hostname", "")),
            ports=tuple(
                replace(port, ingress=ingress.get(name, {}), egress=egress.get(name, {}), queues=queues.get(name, {}))
                for name, port in found.items()
            ),
            pools={key: self._pool(key, row) for key, row in self.rows("BUFFER_POOL")},
            dscp=self._classes("DSCP_TO_TC_MAP", "dscp_to_tc_map", "dscp"),
            pcp=self._classes("DOT1P_TO_TC_MAP", "dot1p_to_tc_map", "pcp"),
            watchdog=common,
            watchdogs=others,
        )

    def _port(self, name: str, cable_m: int | None) -> Port:
        row: Mapping[str, Any] = self.tables.get("PORT", {}).get(name, {})
        qos: Mapping[str, Any] = self.tables.get("PORT_QOS_MAP", {}).get(name, {})
        pfc = tuple(sorted(int(part) for part in str(qos.get("pfc_enable", "")).split(",") if part))
        self.places["port", name] = Place(self.line("PORT", name), f"PORT|{name}")
        self.places["pfc", name] = Place(
            self.line("PORT_QOS_MAP", name, "pfc_enable"), f"PORT_QOS_MAP|{name}|pfc_enable"
        )
        mtu = int(row.get("mtu", 0))
        return Port(
            name=name,
            link=str(row.get("description", "")),
            rate_bps=int(row.get("speed", 0)) * 1_000_000,
            frame_octets=mtu + _TAGGED if mtu else 0,
            cable_m=cable_m,
            pfc=pfc,
        )

    def _memory(self, table: str, direction: str) -> dict[str, dict[int, Threshold]]:
        found: dict[str, dict[int, Threshold]] = {}
        for key, row in self.rows(table):
            port, _, numbers = key.partition("|")
            name = _name(row.get("profile", ""))
            profile = self.tables.get("BUFFER_PROFILE", {}).get(name)
            for priority in numbers_of(numbers):
                if name == "NULL":
                    self.places["computed", port, priority] = Place(self.line(table, key), f"{table}|{key}")
                if profile is None:
                    continue
                found.setdefault(port, {})[priority] = Threshold(
                    pool=_name(profile.get("pool", "")),
                    reserve_octets=int(profile.get("size", 0)),
                    alpha_exponent=_whole(profile.get("dynamic_th")),
                    limit_octets=_whole(profile.get("static_th")),
                    xoff_octets=int(profile.get("xoff", 0)),
                    xon_octets=int(profile.get("xon", 0)),
                    xon_offset_octets=int(profile.get("xon_offset", 0)),
                )
                line = self.line("BUFFER_PROFILE", name, "xoff")
                self.places[direction, port, priority] = Place(line, f"BUFFER_PROFILE|{name}")
        return found

    def _queues(self) -> dict[str, dict[int, Queue]]:
        found: dict[str, dict[int, Queue]] = {}
        for key, row in self.rows("QUEUE"):
            port, _, numbers = key.partition("|")
            name = _name(row.get("wred_profile", ""))
            wred = self.tables.get("WRED_PROFILE", {}).get(name)
            scheduler: Mapping[str, Any] = self.tables.get("SCHEDULER", {}).get(_name(row.get("scheduler", "")), {})
            strict = scheduler.get("type", "WRR" if scheduler else "STRICT") == "STRICT"
            rate = scheduler.get("pir", scheduler.get("cir")) if scheduler.get("meter_type") != "packets" else None
            for priority in numbers_of(numbers):
                found.setdefault(port, {})[priority] = Queue(
                    wred=None if wred is None else _wred_of(wred),
                    weight=None if strict else int(scheduler.get("weight", 1)),
                    max_rate_bps=None if rate is None else int(rate) * 8,
                )
                line = self.line("WRED_PROFILE", name, "green_min_threshold")
                self.places["wred", port, priority] = Place(line, f"WRED_PROFILE|{name}")
        return found

    def _pool(self, key: str, row: Mapping[str, Any]) -> Pool:
        self.places["pool", key] = Place(self.line("BUFFER_POOL", key, "size"), f"BUFFER_POOL|{key}")
        return Pool(
            direction=row.get("type", "both"),
            mode=row.get("mode", "dynamic"),
            size_octets=_whole(row.get("size")),
            xoff_octets=int(row.get("xoff", 0)),
        )

    def _classes(self, table: str, field: str, place: str) -> dict[int, int]:
        """Return the map of the first port that has one: maps of single ports are beyond the model."""
        names = [_name(row[field]) for _, row in self.rows("PORT_QOS_MAP") if field in row]
        entries = self.tables.get(table, {})
        name = next(iter(names), next(iter(entries), None))
        row = entries.get(name) if name is not None else None
        if row is None:
            return {}
        for code in row:
            self.places[place, int(code)] = Place(row.lines.get(code), f"{table}|{name}|{code}")
        return {int(code): int(tc) for code, tc in row.items()}

    def _watchdog(self, port: str) -> Watchdog | None:
        table: Mapping[str, Any] = self.tables.get("PFC_WD", {})
        row: Mapping[str, Any] = table.get(port, {})
        if "detection_time" not in row:
            return None
        place = Place(self.line("PFC_WD", port, "detection_time"), f"PFC_WD|{port}|detection_time")
        self.places["watchdog", port] = place
        poll = table.get("GLOBAL", {}).get("POLL_INTERVAL", 200)
        detection = int(row["detection_time"])
        return Watchdog(
            detection_ms=detection,
            restoration_ms=int(row.get("restoration_time", detection)),
            poll_ms=int(poll),
            action=row.get("action", "drop"),
        )


def _wred_of(row: Mapping[str, Any]) -> Wred | None:
    if str(row.get("wred_green_enable", "false")).lower() != "true" or "green_min_threshold" not in row:
        return None
    least = int(row["green_min_threshold"])
    return Wred(
        min_octets=least,
        max_octets=int(row.get("green_max_threshold", least)),
        percent=int(row.get("green_drop_probability", 100)),
        ecn=row.get("ecn", "ecn_none") in ("ecn_all", "ecn_green", "ecn_green_yellow", "ecn_green_red"),
    )


def _whole(value: Any) -> int | None:
    return None if value is None else int(value)


def _name(reference: Any) -> str:
    """Return the name of a reference, which older releases write as ``[TABLE|name]``."""
    found = re.fullmatch(r"\[\w+\|(.*)\]", str(reference))
    return found[1] if found else str(reference)


def numbers_of(text: str) -> range:
    """Return the numbers of ``3`` or ``3-4``."""
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)
