"""Arista EOS: QoS profiles written and read, in the syntax that pyavd 6.4.0 renders (aristanetworks/avd)."""

from dataclasses import replace

from penstock.devices import eos_memory
from penstock.devices.findings import Place, Reading
from penstock.devices.model import Device, Port, Watchdog, Wred, Written
from penstock.devices.switch_text import (
    TAGGED,
    UNITS,
    Draft,
    indented,
    profile_names,
    queues_key,
    reasons_of,
    reduced,
    speed,
)

_MOST = 256_000_000
"""The largest threshold in any unit."""


def port_name(index: int, rate_bps: int) -> str:
    """Return the name of a port."""
    return f"Ethernet{index + 1}"


def write(device: Device) -> Written:
    """Return the configuration of a switch as ``NAME.eos.cfg``; times of the watchdog are in steps of 10 ms."""
    lost: dict[str, None] = {}
    own = device.watchdog
    watchdog = None
    if own is not None:
        times = (own.detection_ms, own.restoration_ms)
        detection, restoration = (min(max(round(ms / 10) * 10, 10), 60_000) for ms in times)
        poll = min(max(own.poll_ms // 10 * 10 or 10, 10), 30_000)
        watchdog = Watchdog(detection_ms=detection, restoration_ms=restoration, poll_ms=poll)
        if (own.detection_ms, own.restoration_ms, own.action) != (detection, restoration, "drop"):
            before = f"{own.detection_ms} and {own.restoration_ms} ms, {own.action}"
            lost[f"watchdog: {before} become {detection} and {restoration} ms, drop"] = None

    def rounded(port: Port, priority: int, wred: Wred) -> Wred | None:
        if not wred.ecn:
            lost[f"early drops in queue {priority}: ECN alone is written"] = None
            return None
        ends = (min(max(1, end), _MOST) for end in (wred.min_octets, wred.max_octets))
        return Wred(min_octets=next(ends), max_octets=next(ends), percent=max(1, wred.percent))

    expressed = reduced(device, lost, wred=rounded, watchdog=watchdog, memory=True)
    of_memory, expressed = eos_memory.write(device, expressed, lost)
    profiles = profile_names(device, lambda port: (port.pfc, queues_key(port)), lambda port: f"QOS_{speed(port)}")
    lines = [f"! {device.name}: quality of service", *(f"! Not expressed: {sentence}" for sentence in lost), "!"]
    lines += of_memory
    done: set[str] = set()
    for port, source in zip(expressed.ports, device.ports, strict=True):
        profile = profiles[port.name]
        if profile in done:
            continue
        done.add(profile)
        lines += [*reasons_of(device, source, "!"), f"qos profile {profile}", "   qos trust dscp"]
        if port.pfc:
            lines.append("   priority-flow-control on")
            lines += [f"   priority-flow-control priority {priority} no-drop" for priority in port.pfc]
            lines += ["   priority-flow-control pause watchdog"] if watchdog is not None else []
        for priority, queue in sorted(port.queues.items()):
            lines += ["   !", f"   uc-tx-queue {priority}"]
            if queue.weight is None:
                lines.append("      priority strict")
            else:
                lines += ["      no priority", f"      bandwidth percent {queue.weight}"]
            if queue.max_rate_bps is not None:
                lines.append(f"      shape rate {queue.max_rate_bps // 1000} kbps")
            if queue.wred is not None:
                lines.append(
                    f"      random-detect ecn minimum-threshold {queue.wred.min_octets} bytes maximum-threshold "
                    f"{queue.wred.max_octets} bytes max-mark-probability {queue.wred.percent} weight 0"
                )
        lines.append("!")
    for port, source in zip(expressed.ports, device.ports, strict=True):
        lines += [f"interface {port.name}", f"   description {source.link}"]
        lines += [f"   mtu {port.frame_octets - TAGGED}"] if port.frame_octets else []
        lines += [f"   service-profile {profiles[port.name]}", "!"]
    lines += [f"qos map dscp {code} to traffic-class {tc}" for code, tc in sorted(device.dscp.items())]
    priorities = sorted({priority for port in expressed.ports for priority in port.queues})
    lines += [f"qos map traffic-class {priority} to tx-queue {priority}" for priority in priorities]
    if watchdog is not None:
        lines.append(f"! {device.why('watchdog')}; times in s.")
        start = "priority-flow-control pause watchdog"
        lines.append(f"{start} default timeout {watchdog.detection_ms / 1000:.2f}")
        lines.append(f"{start} default recovery-time {watchdog.restoration_ms / 1000:.2f}")
        lines.append(f"{start} default polling-interval {watchdog.poll_ms / 1000:.2f}")
        lines.append(f"{start} action drop")
    text = "\n".join(lines) + "\n"
    return Written(files={f"{device.name or 'switch'}.eos.cfg": text}, expressed=expressed, lost=tuple(lost))


def read(text: str, file: str = "eos.cfg") -> Reading:
    """Return the switch that a configuration of EOS describes.

    Raises:
        ConfigurationError: no quality of service is in the text.
    """
    reader = _Reader(Draft("EOS"))
    for line, above, words in indented(text):
        reader.line(line, above, words)
    draft = reader.draft
    if reader.times:
        timeout = reader.times.get("timeout", 200)
        draft.watchdog = Watchdog(
            detection_ms=timeout,
            restoration_ms=reader.times.get("recovery-time", timeout),
            poll_ms=reader.times.get("polling-interval", 0),
        )
    memory = reader.memory
    pools, known = memory.pools(), {"queues": draft.queues, "pfc": draft.queues}
    places: dict[tuple[object, ...], Place] = {("pool", name): Place(None, "platform trident mmu") for name in pools}
    return draft.reading(file, known, memory=memory.port, pools=pools, at=places)


class _Reader:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.times: dict[str, int] = {}
        self.memory = eos_memory.MemoryReader(draft)

    def line(self, line: int, above: list[list[str]], words: list[str]) -> None:
        draft = self.draft
        match above, words:
            case [], ["qos", "profile", name]:
                draft.seen = True
                draft.queues.setdefault(name, {})
                draft.pfc.setdefault(name, set())
            case [["qos", "profile", name]], rest:
                self.profile(line, name, rest)
            case [["qos", "profile", name], [("uc-tx-queue" | "tx-queue"), number]], rest:
                if number.isdecimal() and int(number) <= 7:
                    self.queue(line, name, int(number), rest)
            case [], ["platform", "trident", "mmu", *rest]:
                self.memory.start(line, rest)
            case [["platform", "trident", "mmu", "queue", "profile", name]], rest:
                self.memory.profile(line, name, rest)
            case [], ["interface", _]:
                pass
            case [["interface", port]], ["description", *rest]:
                draft.ports[port] = replace(draft.port(port, line), link=" ".join(rest))
            case [["interface", port]], ["service-profile", profile]:
                draft.use(port, "queues", profile, line)
                draft.use(port, "pfc", profile, line)
            case [["interface", port]], ["mtu", value]:
                mtu = draft.number(line, f"{port} mtu", value, 68, 9214)
                if mtu is not None:
                    draft.ports[port] = replace(draft.port(port, line), frame_octets=mtu + TAGGED)
            case [], ["qos", "map", "dscp", *codes, "to", "traffic-class", value]:
                draft.seen = True
                priority = draft.number(line, "qos map dscp", value, 0, 7)
                for code in (number for part in codes for number in draft.numbers(line, "qos map dscp", part, 63)):
                    if priority is not None:
                        draft.dscp[code] = priority
                        draft.lines["dscp", code] = line
            case [], ["qos", "map", "traffic-class", tc, "to", ("tx-queue" | "uc-tx-queue"), queue]:
                draft.number(line, "qos map traffic-class", tc, 0, 7)
                draft.number(line, "qos map traffic-class", queue, 0, 7)
            case [], ["priority-flow-control", "pause", "watchdog", *rest]:
                draft.seen = True
                self.watchdog(line, rest)
            case _:
                draft.passed(line, " ".join(words))

    def watchdog(self, line: int, words: list[str]) -> None:
        limits = {"timeout": (0.01, 60), "recovery-time": (0.01, 60), "polling-interval": (0.005, 30)}
        match words:
            case ["default", key, value, *_] if key in limits:
                low, high = limits[key]
                try:
                    seconds = float(value)
                except ValueError:
                    self.draft.fault(line, f"watchdog {key}", "syntax", f"{value[:20]}: no time", "write s, as in 0.2")
                    return
                if not low <= seconds <= high:
                    remedy = f"write {low} to {high} s"
                    self.draft.fault(line, f"watchdog {key}", "range", f"{value[:20]}: out of range", remedy)
                    return
                self.times[key] = round(seconds * 1000)
                self.draft.lines.setdefault(("watchdog",), line)
            case ["action", value]:
                if value not in ("drop", "no-drop"):
                    self.draft.fault(
                        line, "watchdog action", "range", f"{value[:20]}: no action", "write drop or no-drop"
                    )
            case _:
                self.draft.passed(line, " ".join(words))

    def profile(self, line: int, name: str, words: list[str]) -> None:
        draft = self.draft
        match words:
            case ["qos", "trust", value]:
                if value not in ("dscp", "cos", "disabled"):
                    draft.fault(
                        line, f"{name} trust", "range", f"{value[:20]}: no trust", "write dscp, cos or disabled"
                    )
            case ["priority-flow-control", "on"] | ["priority-flow-control", "pause", "watchdog"]:
                draft.lines.setdefault(("pfc", name), line)
            case ["priority-flow-control", "priority", value, action]:
                priority = draft.number(line, f"{name} priority-flow-control", value, 0, 7)
                if action not in ("no-drop", "drop"):
                    draft.fault(line, f"{name} priority-flow-control", "range", f"{action[:20]}: no action",
                                "write no-drop or drop")  # fmt: skip
                elif priority is not None and action == "no-drop":
                    draft.pfc[name].add(priority)
                    draft.lines["pfc", name] = line
            case [("uc-tx-queue" | "tx-queue"), value]:
                number = draft.number(line, f"{name} queue", value, 0, 7)
                if number is not None:
                    draft.set_queue(name, number, draft.queue(name, number))
            case _:
                draft.passed(line, " ".join(words))

    def queue(self, line: int, name: str, priority: int, words: list[str]) -> None:
        draft, where = self.draft, f"{name} queue {priority}"
        queue = draft.queue(name, priority)
        match words:
            case ["priority", "strict"]:
                draft.set_queue(name, priority, replace(queue, weight=None))
            case ["no", "priority"]:
                draft.set_queue(name, priority, queue)
            case ["bandwidth", "percent", value]:
                draft.lines["weight", name, priority] = line
                draft.set_queue(name, priority, replace(queue, weight=draft.number(line, where, value, 1, 100)))
            case ["shape", "rate", value, "kbps"]:
                rate = draft.number(line, where, value, 1, 10**10)
                draft.set_queue(name, priority, replace(queue, max_rate_bps=None if rate is None else rate * 1000))
            case ["random-detect", "ecn", "minimum-threshold", low, unit, "maximum-threshold", high, other,
                  "max-mark-probability", percent, *rest]:  # fmt: skip
                ends = draft.number(line, where, low, 1, _MOST), draft.number(line, where, high, 1, _MOST)
                share = draft.number(line, where, percent, 1, 100)
                if unit != other or unit not in (*UNITS, "segments", "milliseconds"):
                    draft.fault(
                        line, where, "syntax", f"{unit[:20]} and {other[:20]}: not one unit", "write bytes twice"
                    )
                elif ends[0] is not None and ends[1] is not None and share is not None and unit in UNITS:
                    by = UNITS[unit]
                    draft.set_wred(name, priority, line, where, min_octets=ends[0] * by, max_octets=ends[1] * by,
                                   percent=share, ecn=True)  # fmt: skip
                if rest not in ([], ["weight", "0"]) and rest[:1] == ["weight"]:
                    draft.warn(line, where, "a weight averages the queue, and marks come late", "write weight 0")
            case _:
                draft.passed(line, " ".join(words))
