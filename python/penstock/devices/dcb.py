"""``dcb`` of iproute2: its commands written, commands and output read (dcb-pfc(8), dcb-buffer(8), dcb-app(8))."""

import re
from dataclasses import replace

from penstock.devices.findings import ConfigurationError, Finding, Reading
from penstock.devices.hosts import Interface, device_of, fault, note, with_buffers
from penstock.devices.model import Device, Written

_DELAY_MOST = 65_535
_SIZE = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)(b|k|kb|m|mb|g|gb|kbit|mbit|gbit)?", re.ASCII)
_UNITS = {"b": 1, "k": 2**10, "m": 2**20, "g": 2**30}


def port_name(index: int, rate_bps: int) -> str:
    """Return the name of an interface."""
    return f"eth{index}"


def write(device: Device) -> Written:
    """Return the commands for a host as ``NAME.dcb.sh``; the delay of PFC is in bit times, as its manual has it."""
    expressed, lost = with_buffers(device)
    ports = []
    for port in expressed.ports:
        delay = port.delay_bits
        if delay is not None and delay > _DELAY_MOST:
            lost.append(f"{port.name}: a round trip of {delay} bit times; dcb has {_DELAY_MOST} at the most")
            delay = None
        ports.append(replace(port, cable_m=None, delay_bits=delay if port.pfc else None))
    expressed = Device(kind="nic", ports=tuple(ports), dscp=dict(expressed.dscp))
    lost += device.beyond
    lost.append("the settings are gone after a restart: run these commands at each start")
    lines = ["#!/bin/sh", f"# {device.name}: quality of service of its interfaces."]
    lines += [f"# Not expressed: {sentence}" for sentence in lost]
    for port, source in zip(expressed.ports, device.ports, strict=True):
        lines += [
            "",
            f"# {source.link}: {device.why(f'xoff|{port.name}') or 'the switch pauses it; it pauses nobody'}.",
        ]
        pfc = " ".join(f"{priority}:on" for priority in port.pfc)
        command = f"dcb pfc set dev {port.name} prio-pfc all:off {pfc}".rstrip()
        if port.delay_bits is not None:
            lines.append(
                f"# The delay is in bit times; the driver of ConnectX takes metres: delay {source.cable_m} there."
            )
            command += f" delay {port.delay_bits}"
        lines.append(command)
        if port.ingress:
            buffers = " ".join(f"{p}:{port.ingress[p].pool.removeprefix('buffer')}" for p in port.pfc[:7])
            sizes = {int(each.pool.removeprefix("buffer")): each.limit_octets for each in port.ingress.values()}
            listed = " ".join(f"{number}:{size}" for number, size in sorted(sizes.items()))
            lines.append(
                "# Sizes in octets: the driver's xoff with a frame and a cell, or the headroom with two frames."
            )
            lines.append(f"dcb buffer set dev {port.name} prio-buffer all:0 {buffers} buffer-size all:0 {listed}")
        if expressed.dscp:
            codes = " ".join(f"{code}:{tc}" for code, tc in sorted(expressed.dscp.items()))
            lines.append(f"dcb app replace dev {port.name} dscp-prio {codes}")
    text = "\n".join(lines) + "\n"
    return Written(files={f"{device.name or 'host'}.dcb.sh": text}, expressed=expressed, lost=tuple(lost))


def read(text: str, file: str = "dcb.sh") -> Reading:
    """Return the interfaces that commands set, or that the tool's output shows.

    Raises:
        ConfigurationError: neither commands nor output of dcb are in the text.
    """
    reader = _Reader()
    for number, line in enumerate(text.split("\n"), start=1):
        reader.line(number, line.strip())
    if not reader.interfaces:
        raise ConfigurationError(file, None, "no dcb in it; write, for instance, dcb pfc set dev eth0 prio-pfc 3:on")
    device, places, findings = device_of(reader.interfaces, "dcb")
    return Reading(device=device, places=places, findings=[*reader.findings, *findings])


class _Reader:
    def __init__(self) -> None:
        self.interfaces: dict[str, Interface] = {}
        self.findings: list[Finding] = []

    def fault(self, line: int, where: str, kind: str, message: str, remedy: str = "") -> None:
        self.findings.append(fault(line, f"dcb {where}", kind, message, remedy))  # type: ignore[arg-type]

    def line(self, number: int, text: str) -> None:
        words = text.partition("#")[0].split()
        words = words[1:] if words[:1] == ["sudo"] else words
        if not words:
            return
        if words[0] in ("prio-pfc", "prio-buffer", "buffer-size", "pfc-cap", "dscp-prio", "total-size"):
            self.settings(number, "interface", words)
            return
        if words[0].rpartition("/")[2] != "dcb" or len(words) < 2:
            self.findings.append(note(number, "line", f"not looked at: {text[:40]}"))
            return
        kind, *rest = words[1:]
        if kind not in ("pfc", "buffer", "app", "ets", "maxrate"):
            self.fault(
                number, kind[:20], "syntax", "the tool has no such object", "write pfc, buffer, app, ets or maxrate"
            )
            return
        if kind in ("ets", "maxrate"):
            self.findings.append(note(number, f"dcb {kind}", "not looked at"))
            return
        if "dev" not in rest[:-1]:
            self.fault(number, kind, "syntax", "no dev", "write, for instance, dev eth0")
            return
        at = rest.index("dev")
        actions = ("add", "del", "replace", "show", "flush") if kind == "app" else ("set", "show")
        if at != 1 or rest[0] not in actions:
            self.fault(number, kind, "syntax", "no such action", f"write {' or '.join(actions)}")
            return
        if rest[0] not in ("show", "flush", "del"):
            self.settings(number, rest[at + 1], rest[at + 2 :])

    def settings(self, line: int, name: str, words: list[str]) -> None:
        interface = self.interfaces.setdefault(name, Interface())
        interface.lines.setdefault("port", line)
        keys = (
            "prio-pfc",
            "prio-buffer",
            "buffer-size",
            "dscp-prio",
            "delay",
            "macsec-bypass",
            "pfc-cap",
            "total-size",
        )
        given: list[tuple[str, list[str]]] = []
        for word in words:
            if word in keys:
                given.append((word, []))
            elif not given or (":" not in word and given[-1][1]):
                self.fault(line, word[:20], "syntax", "no such setting", f"write {', '.join(keys[:5])}")
                return
            else:
                given[-1][1].append(word)
        for key, values in given:
            self.setting(line, interface, key, values)

    def setting(self, line: int, interface: Interface, key: str, values: list[str]) -> None:
        if key == "delay":
            text = values[0] if values else ""
            if not re.fullmatch(r"\d{1,9}|0x[0-9a-fA-F]{1,8}", text):
                self.fault(line, "delay", "syntax", f"{text[:20]}: no whole number", "write bit times, 0 to 65535")
            elif int(text, 0) > _DELAY_MOST:
                self.fault(line, "delay", "range", f"{text}: out of range", "write bit times, 0 to 65535")
            else:
                interface.delay_bits = int(text, 0)
                interface.lines["cable"] = line
        elif key == "prio-pfc":
            on = self.mapping(line, key, values, r"on|off", "on or off")
            if on is not None:
                was = [False] * 8 if interface.pfc is None else interface.pfc
                interface.pfc = [on[p] == "on" if p in on else was[p] for p in range(8)]
                interface.lines["pfc"] = line
        elif key == "prio-buffer":
            numbers = self.mapping(line, key, values, r"\d{1,9}", "a buffer, 0 to 7")
            if numbers is not None and any(int(number) > 7 for number in numbers.values()):
                self.fault(line, key, "range", "a buffer beyond 7", "write 0 to 7")
            elif numbers is not None:
                before = interface.buffers or [0] * 8
                interface.buffers = [int(numbers.get(p, before[p])) for p in range(8)]
                interface.lines["buffers"] = line
        elif key == "buffer-size":
            sizes = self.mapping(line, key, values, _SIZE.pattern, "a size, as in 64K", lower=True)
            if sizes is not None:
                old = interface.sizes or [0] * 8
                interface.sizes = [_octets(sizes[n]) if n in sizes else old[n] for n in range(8)]
                interface.lines["sizes"] = line
        elif key == "dscp-prio":
            self.dscp(line, interface, values)

    def dscp(self, line: int, interface: Interface, values: list[str]) -> None:
        for value in values:
            found = re.fullmatch(r"(\d{1,3}):(\d{1,3})", value)
            if found is None:
                self.fault(line, "dscp-prio", "syntax", f"{value[:20]}: not of the form", "write, for instance, 26:3")
            elif int(found[1]) > 63 or int(found[2]) > 7:
                self.fault(line, "dscp-prio", "range", f"{value}: out of range", "DSCP 0 to 63, priority 0 to 7")
            else:
                interface.dscp[int(found[1])] = int(found[2])
                interface.lines[f"dscp {int(found[1])}"] = line

    def mapping(
        self, line: int, key: str, values: list[str], pattern: str, what: str, *, lower: bool = False
    ) -> dict[int, str] | None:
        found: dict[int, str] = {}
        if not values:
            self.fault(line, key, "syntax", "no value", f"write {what} for each number, as in 3:…")
            return None
        for value in values:
            of, colon, text = value.partition(":")
            text = text.lower() if lower else text
            if not colon or not re.fullmatch(r"all|\d{1,3}", of) or not re.fullmatch(pattern, text, re.ASCII):
                self.fault(line, key, "syntax", f"{value[:20]}: not of the form", f"write all: or 0: to 7:, and {what}")
                return None
            if of == "all":
                found |= dict.fromkeys(range(8), text)
            elif int(of) > 7:
                self.fault(line, key, "range", f"{value[:20]}: out of range", "write 0 to 7 before the colon")
                return None
            else:
                found[int(of)] = text
        return found


def _octets(text: str) -> int:
    """Return a size as tc(8) has it: K, M and G count by 1024, and a unit with ``bit`` by eighths."""
    found = _SIZE.fullmatch(text)
    assert found is not None
    unit = found[2] or "b"
    return round(float(found[1]) * _UNITS[unit[0]] / (8 if unit.endswith("bit") else 1))
