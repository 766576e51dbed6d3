"""NVUE of Cumulus Linux: ``nv set`` commands written and read.

Source: NVIDIA, NVUE reference and Cumulus Linux user guide, Quality of Service. The PFC watchdog has an interval of 100
to 5000 ms, 100 without, and a robustness of 1 to 1000 intervals, 3 without (release notes of 5.6).
"""

import re
from dataclasses import replace
from typing import Any

from penstock.devices import nvue_memory
from penstock.devices.findings import Place, Reading
from penstock.devices.model import Device, Port, Watchdog, Written
from penstock.devices.switch_text import TAGGED, Draft, profile_names, queues_key, reasons_of, reduced, speed

_GLOBAL = "default-global"


def port_name(index: int, rate_bps: int) -> str:
    """Return the name of a port."""
    return f"swp{index + 1}"


def write(device: Device) -> Written:
    """Return the commands for a switch as ``NAME.nvue.txt``; the switch sizes headroom from lengths of cables."""
    lost: dict[str, None] = {}
    own = device.watchdog
    watchdog = None
    if own is not None:
        poll = min(max(own.poll_ms or 100, 100), 5000)
        robustness = min(max(round(own.detection_ms / poll), 1), 1000)
        watchdog = Watchdog(detection_ms=poll * robustness, restoration_ms=0, poll_ms=poll)
        if (own.detection_ms, own.action) != (watchdog.detection_ms, "drop"):
            lost[f"watchdog: {own.detection_ms} ms and {own.action} become {watchdog.detection_ms} ms and drop"] = None
        lost["watchdog: it has no restoration time"] = None
    expressed = reduced(device, lost, watchdog=watchdog, cable=True, rate=True, memory=True)
    of_memory, expressed = nvue_memory.write(device, expressed, lost)
    lines = [f"# {device.name}: quality of service. The last command applies it."]
    lines += [f"# Not expressed: {sentence}" for sentence in lost]
    lines.append("# Per ASIC: not together with `nv set qos roce`.")
    lines.append(f"nv set qos mapping {_GLOBAL} trust l3")
    lines += [
        f"nv set qos mapping {_GLOBAL} dscp {code} switch-priority {tc}" for code, tc in sorted(device.dscp.items())
    ]
    priorities = sorted({priority for port in device.ports for priority in port.queues})
    lines += [f"nv set qos egress-queue-mapping {_GLOBAL} switch-priority {p} traffic-class {p}" for p in priorities]
    lines += of_memory
    buffers = {port.name: nvue_memory.port_buffer(port) for port in device.ports}
    paused = profile_names(expressed, lambda port: (port.pfc, port.cable_m, buffers[port.name]), _pfc_name)
    queues = profile_names(device, queues_key, lambda port: f"qos_{speed(port)}")
    done: set[str] = set()
    for port, source in zip(expressed.ports, device.ports, strict=True):
        name, profile = paused[port.name], queues[port.name]
        if port.pfc and name not in done:
            done.add(name)
            buffer = buffers[port.name]
            computed = ": the switch computes headroom from the length" if buffer is None else ""
            lines += ["", f"# {device.why(f'xoff|{port.name}')}{computed}."]
            lines.append(f"nv set qos pfc {name} switch-priority {','.join(map(str, port.pfc))}")
            lines += [f"nv set qos pfc {name} {way} enable" for way in ("tx", "rx")]
            if port.cable_m is not None:
                lines.append(f"nv set qos pfc {name} cable-length {max(1, port.cable_m)}")
            if buffer is not None and buffer.limit_octets is not None:
                lines.append(f"nv set qos pfc {name} port-buffer {buffer.limit_octets + buffer.xoff_octets}")
                lines.append(f"nv set qos pfc {name} xoff-threshold {buffer.limit_octets}")
                lines.append(f"nv set qos pfc {name} xon-threshold {buffer.xon_offset_octets}")
        if profile not in done:
            done.add(profile)
            lines += ["", *reasons_of(device, source, "#"), *_queues(profile, port)]
        lines += ["", f"# {port.link}", f"nv set interface {port.name} link speed {speed(port).replace('_', '.')}"]
        if port.frame_octets:
            lines.append(f"nv set interface {port.name} link mtu {port.frame_octets - TAGGED}")
        lines.append(f"nv set interface {port.name} qos congestion-control profile {profile}")
        lines.append(f"nv set interface {port.name} qos egress-scheduler profile {profile}")
        if any(queue.max_rate_bps for queue in port.queues.values()):
            lines.append(f"nv set interface {port.name} qos egress-shaper profile {profile}")
        if port.pfc:
            lines.append(f"nv set interface {port.name} qos pfc profile {name}")
            if watchdog is not None:
                lines.append(f"nv set interface {port.name} qos pfc-watchdog state enable")
    if watchdog is not None:
        lines += ["", f"# {device.why('watchdog')}: detection is polling interval times robustness."]
        lines.append(f"nv set qos pfc-watchdog polling-interval {watchdog.poll_ms}")
        lines.append(f"nv set qos pfc-watchdog robustness {watchdog.detection_ms // watchdog.poll_ms}")
    text = "\n".join([*lines, "nv config apply"]) + "\n"
    return Written(files={f"{device.name or 'switch'}.nvue.txt": text}, expressed=expressed, lost=tuple(lost))


def _pfc_name(port: Port) -> str:
    return f"pfc_{'default' if port.cable_m is None else f'{port.cable_m}m'}"


def _queues(profile: str, port: Port) -> list[str]:
    lines = []
    for priority, queue in sorted(port.queues.items()):
        of = f"{profile} traffic-class {priority}"
        mode = "strict" if queue.weight is None else "dwrr"
        lines.append(f"nv set qos egress-scheduler {of} mode {mode}")
        if queue.weight is not None:
            lines.append(f"nv set qos egress-scheduler {of} bw-percent {queue.weight}")
        if queue.max_rate_bps is not None:
            lines.append(f"nv set qos egress-shaper {of} max-rate {queue.max_rate_bps // 1000}")
        if queue.wred is not None:
            lines.append(f"nv set qos congestion-control {of} min-threshold {queue.wred.min_octets}")
            lines.append(f"nv set qos congestion-control {of} max-threshold {queue.wred.max_octets}")
            lines.append(f"nv set qos congestion-control {of} probability {queue.wred.percent}")
            lines.append(f"nv set qos congestion-control {of} ecn {'enable' if queue.wred.ecn else 'disable'}")
            lines.append(f"nv set qos congestion-control {of} red {'disable' if queue.wred.ecn else 'enable'}")
    return lines


def read(text: str, file: str = "nvue.txt") -> Reading:
    """Return the switch that ``nv set`` commands configure.

    Raises:
        ConfigurationError: no command of quality of service is in the text.
    """
    reader = _Reader(Draft("NVUE"))
    for number, line in enumerate(text.split("\n"), start=1):
        reader.line(number, re.sub(r"^\S+[#$]\s+(?=nv\s)", "", line.strip()))
    return reader.over(file)


class _Reader:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.poll, self.robustness, self.watched = 100, 3, False
        self.pools: dict[str, int] = {}
        self.mapped: dict[str, dict[int, int]] = {}
        self.memory = nvue_memory.MemoryReader(draft)

    def line(self, line: int, text: str) -> None:
        words = text.partition("#")[0].split()
        if not words:
            return
        if words[:2] == ["nv", "config"]:
            return
        if words[:2] != ["nv", "set"]:
            self.draft.passed(line, text)
            return
        match words[2:]:
            case ["qos", *rest]:
                self.draft.seen = True
                self.qos(line, text, rest)
            case ["interface", names, *rest]:
                for name in names.split(","):
                    self.interface(line, text, name, rest)
            case _:
                self.draft.passed(line, text)

    def interface(self, line: int, text: str, name: str, words: list[str]) -> None:
        draft = self.draft
        match words:
            case ["link", "mtu", value]:
                mtu = draft.number(line, f"{name} mtu", value, 552, 9216)
                if mtu is not None:
                    draft.ports[name] = replace(draft.port(name, line), frame_octets=mtu + TAGGED)
            case ["link", "speed", value]:
                found = re.fullmatch(r"(\d{1,4}(?:\.\d)?)([GM])", value)
                if found is None:
                    draft.fault(line, f"{name} speed", "syntax", f"{value[:20]}: no speed", "write, for instance, 200G")
                else:
                    rate = round(float(found[1]) * (10**9 if found[2] == "G" else 10**6))
                    draft.ports[name] = replace(draft.port(name, line), rate_bps=rate)
            case ["qos", "pfc", "profile", profile]:
                draft.use(name, "pfc", profile, line)
            case ["qos", "congestion-control", "profile", profile]:
                draft.use(name, "queues", profile, line)
            case ["qos", ("egress-scheduler" | "egress-shaper") as kind, "profile", profile]:
                draft.use(name, kind, profile, line)
            case ["qos", "pfc-watchdog", "state", state]:
                self.watched |= state in ("enable", "enabled", "on")
                draft.port(name, line)
            case _:
                draft.passed(line, text)

    def qos(self, line: int, text: str, words: list[str]) -> None:
        draft = self.draft
        match words:
            case ["roce", *_]:
                draft.passed(line, text)
            case ["pfc-watchdog", ("polling-interval" | "robustness") as key, value]:
                low, high = (100, 5000) if key == "polling-interval" else (1, 1000)
                number = draft.number(line, f"pfc-watchdog {key}", value, low, high)
                draft.lines[("watchdog",)] = line
                if number is not None and key == "robustness":
                    self.robustness = number
                elif number is not None:
                    self.poll = number
            case ["mapping", _, "trust", value]:
                if value not in ("l2", "l3", "both", "port"):
                    draft.fault(line, "trust", "range", f"{value[:20]}: no such trust", "write l2, l3, both or port")
            case ["mapping", _, ("dscp" | "pcp") as kind, codes, "switch-priority", value]:
                priority = draft.number(line, f"mapping {kind}", value, 0, 7)
                for code in draft.numbers(line, f"mapping {kind}", codes, 63 if kind == "dscp" else 7):
                    if priority is not None and kind == "dscp":
                        draft.dscp[code] = priority
                        draft.lines["dscp", code] = line
            case ["egress-queue-mapping", _, "switch-priority", of, "traffic-class", value]:
                draft.numbers(line, "egress-queue-mapping", of, 7)
                draft.number(line, "egress-queue-mapping", value, 0, 7)
            case ["traffic-pool", name, "memory-percent", value]:
                percent = draft.number(line, f"traffic-pool {name}", value, 1, 100)
                self.pools[name] = percent or 0
                if sum(self.pools.values()) > 100:
                    text = f"{sum(self.pools.values())} per cent in all pools"
                    draft.fault(line, f"traffic-pool {name}", "sum", text, "write 100 per cent at the most")
            case ["advance-buffer-config", "default-global", *rest]:
                self.memory.read(line, text, rest)
            case ["pfc", profile, *rest]:
                self.pfc(line, text, profile, rest)
            case [("congestion-control" | "egress-scheduler" | "egress-shaper") as kind, profile, "traffic-class", of,
                  key, value]:  # fmt: skip
                for priority in draft.numbers(line, f"{kind} {profile}", of, 7):
                    self.traffic_class(line, kind, profile, priority, key, value)
            case _:
                draft.passed(line, text)

    def pfc(self, line: int, text: str, profile: str, words: list[str]) -> None:
        draft = self.draft
        draft.pfc.setdefault(profile, set())
        match words:
            case ["switch-priority", of]:
                draft.pfc[profile] |= set(draft.numbers(line, f"pfc {profile}", of, 7))
                draft.lines["pfc", profile] = line
            case ["cable-length", value]:
                cable = draft.number(line, f"pfc {profile} cable-length", value, 1, 100_000)
                if cable is not None:
                    draft.cables[profile] = cable
            case [("tx" | "rx") as way, value]:
                if value not in ("enable", "disable", "enabled", "disabled"):
                    draft.fault(
                        line, f"pfc {profile} {way}", "range", f"{value[:20]}: no state", "write enable or disable"
                    )
                elif value.startswith("disable"):
                    what = "sends no pauses" if way == "tx" else "obeys no pauses"
                    draft.warn(line, f"pfc {profile} {way}", f"the port {what}: a side of the link loses frames")
            case [("port-buffer" | "xoff-threshold" | "xon-threshold") as key, value]:
                self.memory.buffer(line, profile, key, value)
            case _:
                draft.fault(line, f"pfc {profile}", "syntax", f"{' '.join(words)[:40]}: no such setting",
                            "write switch-priority, cable-length, xoff-threshold, tx or rx")  # fmt: skip

    def traffic_class(self, line: int, kind: str, profile: str, priority: int, key: str, value: str) -> None:
        draft, where = self.draft, f"{kind} {profile} traffic-class {priority} {key}"
        queue = draft.queue(profile, priority)
        if kind == "egress-shaper" and key in ("max-rate", "min-rate"):
            rate = draft.number(line, where, value, 0, 2**31 - 1)
            if rate is not None and key == "max-rate":
                draft.set_queue(profile, priority, replace(queue, max_rate_bps=rate * 1000))
        elif kind == "egress-scheduler" and key == "mode":
            if value not in ("dwrr", "strict"):
                draft.fault(line, where, "range", f"{value[:20]}: no such mode", "write dwrr or strict")
            draft.set_queue(profile, priority, queue)
        elif kind == "egress-scheduler" and key == "bw-percent":
            share = draft.number(line, where, value, 0, 100)
            draft.lines["weight", profile, priority] = line
            draft.set_queue(profile, priority, replace(queue, weight=share))
        elif kind == "congestion-control" and key in ("min-threshold", "max-threshold", "probability"):
            number = draft.number(line, where, value, 0, 100 if key == "probability" else 2**32 - 1)
            names = {"min-threshold": "min_octets", "max-threshold": "max_octets", "probability": "percent"}
            if number is not None:
                draft.set_wred(profile, priority, line, where, **{names[key]: number})
        elif kind == "congestion-control" and key in ("ecn", "red"):
            if value not in ("enable", "disable", "enabled", "disabled"):
                draft.fault(line, where, "range", f"{value[:20]}: no state", "write enable or disable")
            elif key == "ecn":
                draft.set_wred(profile, priority, line, where, ecn=value.startswith("enable"))
        else:
            draft.fault(line, where, "syntax", "no such setting", "see the NVUE reference")

    def over(self, file: str) -> Reading:
        draft = self.draft
        if self.watched or ("watchdog",) in draft.lines:
            draft.watchdog = Watchdog(detection_ms=self.poll * self.robustness, restoration_ms=0, poll_ms=self.poll)
        known: dict[str, dict[str, Any]] = {"pfc": draft.pfc, "queues": draft.queues, "egress-scheduler": draft.queues,
                 "egress-shaper": draft.queues}  # fmt: skip
        self.memory.modes()
        self.memory.sizes()
        places: dict[tuple[object, ...], Place] = {
            ("pool", name): Place(self.memory.lines.get(("pool", name)), name) for name in self.memory.pools
        }
        of_port = self.memory.port
        return draft.reading(file, known, _GLOBAL, memory=of_port, pools=self.memory.pools, at=places)
