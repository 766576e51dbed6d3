"""``mlnx_qos``, NVIDIA's tool for ConnectX interfaces: its commands written, commands and output read.

Options and limits are those of Mellanox/mlnx-tools, python/mlnx_qos.
"""

import re
import shlex
from dataclasses import replace

from penstock.devices.findings import ConfigurationError, Finding, Reading
from penstock.devices.hosts import Interface, device_of, fault, note, warning, with_buffers
from penstock.devices.model import Device, Written

_OPTIONS = {
    "-i": "interface",
    "--interface": "interface",
    "-f": "pfc",
    "--pfc": "pfc",
    "--cable_len": "cable_len",
    "--prio2buffer": "prio2buffer",
    "--buffer_size": "buffer_size",
    "--trust": "trust",
    "--dscp2prio": "dscp2prio",
    "-p": "prio_tc",
    "--prio_tc": "prio_tc",
    "-s": "tsa",
    "--tsa": "tsa",
    "-t": "tcbw",
    "--tcbw": "tcbw",
    "-r": "ratelimit",
    "--ratelimit": "ratelimit",
    "-d": "dcbx",
    "--dcbx": "dcbx",
}
_OUTPUT = re.compile(r"^(DCBX mode|Priority trust state|PFC configuration):")


def port_name(index: int, rate_bps: int) -> str:
    """Return the name of an interface."""
    return f"eth{index}"


def write(device: Device) -> Written:
    """Return the commands for a host as ``NAME.mlnx_qos.sh``.

    One call writes PFC, cable and buffers: releases of the tool set to 0 what a call leaves out.
    """
    expressed, lost = with_buffers(device)
    expressed = Device(
        kind="nic", ports=tuple(replace(port, delay_bits=None) for port in expressed.ports), dscp=dict(expressed.dscp)
    )
    lost += device.beyond
    lost.append("the settings are gone after a restart: run these commands at each start")
    lines = ["#!/bin/sh", f"# {device.name}: quality of service of its interfaces."]
    lines += [f"# Not expressed: {sentence}" for sentence in lost]
    for port, source in zip(expressed.ports, device.ports, strict=True):
        name = port.name
        lines += ["", f"# {source.link}: {device.why(f'xoff|{name}') or 'the switch pauses it; it pauses nobody'}."]
        pfc = ",".join("1" if priority in port.pfc else "0" for priority in range(8))
        command = f"mlnx_qos -i {name} --pfc {pfc}"
        lines.append("# One call for all: a call with --cable_len alone switches PFC off in some releases.")
        if port.cable_m is not None:
            command += f" --cable_len {port.cable_m}"
        if port.ingress:
            sizes = [0] * 8
            for threshold in port.ingress.values():
                sizes[int(threshold.pool.removeprefix("buffer"))] = threshold.limit_octets or 0
            buffers = ",".join(port.ingress[p].pool.removeprefix("buffer") for p in range(8))
            command += f" --buffer_size {','.join(map(str, sizes))} --prio2buffer {buffers}"
            lines.append("# Sizes: the driver's xoff with a frame and a cell, or the headroom with two frames.")
            lines.append(command)
            lines.append("# Drivers with sysfs ignore --prio2buffer beside --buffer_size.")
            command = f"mlnx_qos -i {name} --prio2buffer {buffers}"
        lines.append(command)
        lines.append("# --trust and --dscp2prio exclude each other in a call.")
        lines.append(f"mlnx_qos -i {name} --trust dscp")
        lines += [f"mlnx_qos -i {name} --dscp2prio set,{code},{tc}" for code, tc in sorted(expressed.dscp.items())]
    text = "\n".join(lines) + "\n"
    return Written(files={f"{device.name or 'host'}.mlnx_qos.sh": text}, expressed=expressed, lost=tuple(lost))


def read(text: str, file: str = "mlnx_qos.sh") -> Reading:
    """Return the interfaces that commands set, or that the tool's output shows.

    Raises:
        ConfigurationError: neither commands nor output of mlnx_qos are in the text.
    """
    reader = _Reader()
    lines = text.split("\n")
    if any(_OUTPUT.match(line) for line in lines):
        reader.output(lines)
    else:
        for number, line in enumerate(lines, start=1):
            reader.command(number, line)
    if not reader.interfaces:
        raise ConfigurationError(file, None, "no mlnx_qos in it; write, for instance, mlnx_qos -i eth0 --pfc …")
    reader.over()
    device, places, findings = device_of(reader.interfaces, "mlnx_qos")
    return Reading(device=device, places=places, findings=[*reader.findings, *findings])


class _Reader:
    def __init__(self) -> None:
        self.interfaces: dict[str, Interface] = {}
        self.findings: list[Finding] = []
        self.lone_buffers: dict[str, int] = {}

    def fault(self, line: int, where: str, kind: str, message: str, remedy: str = "") -> None:
        self.findings.append(fault(line, f"mlnx_qos {where}", kind, message, remedy))  # type: ignore[arg-type]

    def command(self, line: int, text: str) -> None:
        text = text.strip()
        if not text or text.startswith("#"):
            return
        try:
            words = shlex.split(text, comments=True)
        except ValueError as error:
            self.fault(line, "", "syntax", f"no line of a shell: {error}", "close the quotes")
            return
        words = words[1:] if words and words[0] == "sudo" else words
        if not words or words[0].rpartition("/")[2] != "mlnx_qos":
            self.findings.append(note(line, "line", f"not looked at: {text[:40]}"))
            return
        given: dict[str, list[str]] = {}
        rest = iter(words[1:])
        for word in rest:
            name, equals, value = word.partition("=")
            if word == "-a":
                continue
            option = _OPTIONS.get(name)
            if option is None:
                self.fault(line, name, "syntax", "the tool has no such option", "see mlnx_qos --help")
                return
            given.setdefault(option, []).append(value if equals else next(rest, ""))
        if not given.get("interface", [""])[-1]:
            self.fault(line, "-i", "syntax", "no interface", "write, for instance, -i eth0")
            return
        self.apply(line, given.pop("interface")[-1], given)

    def apply(self, line: int, name: str, given: dict[str, list[str]]) -> None:
        interface = self.interfaces.setdefault(name, Interface())
        interface.lines.setdefault("port", line)
        one = {option: values[-1] for option, values in given.items()}
        if "pfc" in one:
            bits = self.numbers(line, "--pfc", one["pfc"], 0, 1, whole=True)
            if bits is not None:
                interface.pfc = [bit == 1 for bit in bits]
                interface.lines["pfc"] = line
            if interface.cable_m is not None and "cable_len" not in one:
                self.findings.append(
                    warning(
                        line,
                        "mlnx_qos --pfc",
                        "without --cable_len some releases set the cable to 0 m",
                        f"add --cable_len {interface.cable_m}",
                    )
                )
        if "cable_len" in one:
            cable = self.numbers(line, "--cable_len", one["cable_len"], 0, 65_535, most=1)
            if cable is not None:
                interface.cable_m = cable[0]
                interface.lines["cable"] = line
            if "pfc" not in one:
                text = "alone it switches PFC off: releases of the tool write both in one call"
                self.fault(line, "--cable_len", "meaning", text, "add --pfc with all eight priorities")
        if "prio2buffer" in one:
            buffers = self.numbers(line, "--prio2buffer", one["prio2buffer"], 0, 7)
            if buffers is not None:
                interface.buffers = buffers + (interface.buffers or [0] * 8)[len(buffers) :]
                interface.lines["buffers"] = line
            self.lone_buffers.pop(name, None)
        if "buffer_size" in one:
            sizes = self.numbers(line, "--buffer_size", one["buffer_size"], 0, 2**32 - 1)
            if sizes is not None:
                interface.sizes = sizes + (interface.sizes or [0] * 8)[len(sizes) :]
                interface.lines["sizes"] = line
            if "prio2buffer" in one:
                self.lone_buffers[name] = line
        if "trust" in one:
            if one["trust"] not in ("dscp", "pcp"):
                self.fault(line, "--trust", "range", f"{one['trust']}: no such state", "write dscp or pcp")
            interface.trust = one["trust"]
            if "dscp2prio" in one:
                self.fault(line, "--trust", "syntax", "excludes --dscp2prio in a call", "write two calls")
        for entry in given.get("dscp2prio", []):
            self.dscp(line, interface, entry)
        self.classes(line, one)

    def dscp(self, line: int, interface: Interface, entry: str) -> None:
        if entry == "flush":
            interface.dscp.clear()
            return
        found = re.fullmatch(r"(set|del),(\d{1,3}),(\d{1,3})", entry)
        if found is None:
            self.fault(line, "--dscp2prio", "syntax", f"{entry[:40]}: not of the form", "write, for instance, set,26,3")
        elif int(found[2]) > 63 or int(found[3]) > 7:
            self.fault(line, "--dscp2prio", "range", f"{entry}: out of range", "DSCP 0 to 63, priority 0 to 7")
        elif found[1] == "set":
            interface.dscp[int(found[2])] = int(found[3])
            interface.lines[f"dscp {int(found[2])}"] = line
        else:
            interface.dscp.pop(int(found[2]), None)

    def classes(self, line: int, one: dict[str, str]) -> None:
        if "prio_tc" in one:
            self.numbers(line, "--prio_tc", one["prio_tc"], 0, 7)
        kinds = one.get("tsa", "").split(",")
        wrong = [kind for kind in kinds if kind not in ("", "strict", "ets", "vendor")]
        if wrong:
            self.fault(line, "--tsa", "range", f"{wrong[0][:20]}: no such algorithm", "write strict, ets or vendor")
        if "tcbw" in one:
            shares = self.numbers(line, "--tcbw", one["tcbw"], 0, 100)
            if shares is not None and sum(shares) != 100:
                self.fault(line, "--tcbw", "sum", f"{sum(shares)} per cent in all", "write shares that add up to 100")

    def numbers(
        self, line: int, option: str, text: str, low: int, high: int, *, whole: bool = False, most: int = 8
    ) -> list[int] | None:
        parts = text.split(",")
        if len(parts) > most or (whole and len(parts) != most):
            self.fault(line, option, "syntax", f"{len(parts)} items", f"write {most}, separated by commas")
            return None
        if not all(re.fullmatch(r"-?\d{1,12}", part) for part in parts):
            self.fault(line, option, "syntax", f"{text[:40]}: not whole numbers", f"write numbers from {low} to {high}")
            return None
        wrong = [part for part in parts if not low <= int(part) <= high]
        if wrong:
            self.fault(line, option, "range", f"{wrong[0]}: out of range", f"write {low} to {high}")
            return None
        return [int(part) for part in parts]

    def over(self) -> None:
        for line in self.lone_buffers.values():
            text = "drivers with sysfs ignore --prio2buffer beside --buffer_size"
            self.findings.append(warning(line, "mlnx_qos --prio2buffer", text, "add a call with --prio2buffer alone"))

    def output(self, lines: list[str]) -> None:
        """Read what the tool prints of an interface."""
        interface = self.interfaces.setdefault("interface", Interface())
        for number, line in enumerate(lines, start=1):
            text = line.strip()
            if text.startswith("Priority trust state:"):
                interface.trust = text.partition(":")[2].strip()
            elif text.startswith("Cable len:"):
                given = self.numbers(number, "Cable len", text.partition(":")[2].strip(), 0, 65_535, most=1)
                interface.cable_m = None if given is None else given[0]
                interface.lines["cable"] = number
            elif text.startswith("Receive buffer size"):
                sizes = text.partition(":")[2].partition(",max_buffer_size")[0].strip().rstrip(",")
                interface.sizes = self.numbers(number, "Receive buffer size", sizes, 0, 2**32 - 1, whole=True)
                interface.lines["sizes"] = number
            elif found := re.match(r"(enabled|buffer)\s+([\d\s]+)$", text):
                values = self.numbers(number, found[1], ",".join(found[2].split()), 0, 7, whole=True)
                if values is not None and found[1] == "enabled":
                    interface.pfc = [bit == 1 for bit in values]
                    interface.lines["pfc"] = number
                elif values is not None:
                    interface.buffers = values
                    interface.lines["buffers"] = number
            elif found := re.match(r"prio:(\d) dscp:([\d,\s]+)$", text):
                for code in found[2].replace(" ", "").strip(",").split(","):
                    self.dscp(number, interface, f"set,{code},{found[1]}")
