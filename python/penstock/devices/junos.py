"""Junos and Junos Evolved: ``set class-of-service`` commands written and read.

Source: Juniper, CLI reference and class of service guide. A PFC watchdog polls every 100 ms, detects after 2 intervals
and recovers after 200 ms without other values, and drops. Forwarding is one action for all ports, and no public text
was found with its keyword: ``watchdog-action`` is read, and not written.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from penstock.devices import junos_memory
from penstock.devices.findings import Place, Reading
from penstock.devices.model import Device, Port, Queue, Watchdog, Wred, Written
from penstock.devices.switch_text import Draft, profile_names, queues_key, reasons_of, reduced, speed

_FCS = 4
_CLASSIFIER = "PENSTOCK"


def port_name(index: int, rate_bps: int) -> str:
    """Return the name of a port."""
    return f"et-0/0/{index}"


def write(device: Device) -> Written:
    """Return the commands for a switch as ``NAME.junos.set``; thresholds are in per cent of the queue."""
    lost: dict[str, None] = {}
    own = device.watchdog
    watchdog = None
    if own is not None:
        periods = min(max(round(own.detection_ms / 100), 2), 10)
        restoration = min(max(own.restoration_ms, 200), 10_000)
        watchdog = Watchdog(detection_ms=100 * periods, restoration_ms=restoration, poll_ms=100)
        if (own.detection_ms, own.restoration_ms, own.action) != (100 * periods, restoration, "drop"):
            before = f"{own.detection_ms} and {own.restoration_ms} ms, {own.action}"
            lost[f"watchdog: {before} become {100 * periods} and {restoration} ms, drop"] = None

    def in_percent(port: Port, priority: int, wred: Wred) -> Wred:
        size = _queue_octets(device, port, priority)
        low, high = (min(100, max(1, round(100 * end / size))) for end in (wred.min_octets, wred.max_octets))
        ends = (low * size // 100, high * size // 100)
        if ends != (wred.min_octets, wred.max_octets):
            text = f"thresholds are in whole per cent of a queue of {size} octets"
            lost[f"{text}: {wred.min_octets} and {wred.max_octets} become {ends[0]} and {ends[1]}"] = None
        return replace(wred, min_octets=low, max_octets=high, unit="percent")

    expressed = reduced(device, lost, wred=in_percent, watchdog=watchdog, cable=True, rate_step_bps=1, memory=True)
    of_memory, alphas, expressed = junos_memory.write(device, expressed, lost)
    lost["a change of a congestion-notification-profile blocks its ports for a moment and drops frames"] = None
    cos = "set class-of-service"
    lines = [f"# {device.name}: quality of service", *(f"# Not expressed: {sentence}" for sentence in lost)]
    paused = {priority for port in expressed.ports for priority in port.pfc}
    priorities = sorted({priority for port in expressed.ports for priority in port.queues})
    for priority in priorities:
        lossless = f" no-loss pfc-priority {priority}" if priority in paused else ""
        lines.append(f"{cos} forwarding-classes class P{priority} queue-num {priority}{lossless}")
    for code, priority in sorted(device.dscp.items()):
        of = f"classifiers dscp {_CLASSIFIER} forwarding-class P{priority} loss-priority low"
        lines.append(f"{cos} {of} code-points {code:06b}")
    lines += of_memory
    profiles = profile_names(expressed, lambda port: (port.pfc, port.cable_m, port.frame_octets), _cnp_name)
    queues = profile_names(expressed, queues_key, lambda port: f"Q_{_speed_of(device, port)}")
    done: set[str] = set()
    for port, source in zip(expressed.ports, device.ports, strict=True):
        name = profiles[port.name]
        if port.pfc and name not in done:
            done.add(name)
            cnp = f"{cos} congestion-notification-profile {name}"
            lines.append(f"# {device.why(f'xoff|{port.name}')}: headroom follows from length and MRU.")
            # DSCP alone: a profile cannot have code points of 802.1p, too.
            codes = [code for code, priority in sorted(device.dscp.items()) if priority in port.pfc]
            mru = f" mru {port.frame_octets - _FCS}" if port.frame_octets else ""
            lines += [f"{cnp} input dscp code-point {code:06b} pfc{mru}" for code in codes]
            lines += [f"{cnp} input cable-length {port.cable_m}"] if port.cable_m is not None else []
            lines += [f"{cnp} output ieee-802.1 code-point {p:03b} flow-control-queue {p}" for p in port.pfc]
            if watchdog is not None:
                lines.append(f"{cnp} pfc-watchdog poll-interval {watchdog.poll_ms}")
                lines.append(f"{cnp} pfc-watchdog detection {watchdog.detection_ms // watchdog.poll_ms}")
                lines.append(f"{cnp} pfc-watchdog recovery {watchdog.restoration_ms}")
        if queues[port.name] not in done:
            done.add(queues[port.name])
            lines += [*reasons_of(device, source, "#"), *_queues(queues[port.name], port, alphas)]
        lines += [f"# {source.link}"]
        lines += [f"set interfaces {port.name} mtu {port.frame_octets - _FCS}"] if port.frame_octets else []
        at = f"{cos} interfaces {port.name}"
        lines += [f"{at} scheduler-map {queues[port.name]}", f"{at} unit 0 classifiers dscp {_CLASSIFIER}"]
        lines += [f"{at} congestion-notification-profile {name}"] if port.pfc else []
    text = "\n".join(lines) + "\n"
    return Written(files={f"{device.name or 'switch'}.junos.set": text}, expressed=expressed, lost=tuple(lost))


def _speed_of(device: Device, port: Port) -> str:
    return speed(next(own for own in device.ports if own.name == port.name))


def _cnp_name(port: Port) -> str:
    return "CNP" if port.cable_m is None else f"CNP_{port.cable_m}M"


def _queue_octets(device: Device, port: Port, priority: int) -> int:
    """Return the length of a full queue: its limit, or what the pool lets it have alone."""
    threshold = port.egress.get(priority)
    if threshold is not None and threshold.limit_octets:
        return threshold.limit_octets
    pool = device.pools.get(threshold.pool) if threshold is not None else None
    size = (pool.size_octets if pool else None) or device.memory_octets or 1_000_000
    exponent = threshold.alpha_exponent if threshold is not None else None
    if exponent is None or exponent >= 7:
        return size
    return max(100, round(size * 2.0**exponent / (1 + 2.0**exponent)))


def _queues(name: str, port: Port, alphas: Mapping[int, int]) -> list[str]:
    cos, lines = "set class-of-service", []
    for priority, queue in sorted(port.queues.items()):
        scheduler = f"{name}_{priority}"
        lines.append(f"{cos} scheduler-maps {name} forwarding-class P{priority} scheduler {scheduler}")
        own = f"{cos} schedulers {scheduler}"
        share = "priority strict-high" if queue.weight is None else f"transmit-rate percent {queue.weight}"
        lines.append(f"{own} {share}")
        lines += [f"{own} shaping-rate {queue.max_rate_bps}"] if queue.max_rate_bps is not None else []
        lines += [f"{own} buffer-dynamic-threshold {alphas[priority]}"] if priority in alphas else []
        if queue.wred is not None:
            profile = f"{cos} drop-profiles {scheduler} interpolate"
            lines += [f"{profile} fill-level {end}" for end in (queue.wred.min_octets, queue.wred.max_octets)]
            lines += [f"{profile} drop-probability {share}" for share in (0, queue.wred.percent)]
            lines.append(f"{own} drop-profile-map loss-priority any protocol any drop-profile {scheduler}")
            lines += [f"{own} explicit-congestion-notification"] if queue.wred.ecn else []
    return lines


def read(text: str, file: str = "junos.set") -> Reading:
    """Return the switch that ``set`` commands configure.

    Raises:
        ConfigurationError: no class of service is in the text.
    """
    reader = _Reader(Draft("Junos"))
    for number, line in enumerate(text.split("\n"), start=1):
        words = re.sub(r"/\*.*?\*/", "", line).partition("#")[0].split()
        if words:
            reader.line(number, words)
    return reader.over(file)


class _Reader:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.classes: dict[str, int] = {}
        self.fills: dict[str, list[int]] = {}
        self.shares: dict[str, list[int]] = {}
        self.schedulers: dict[str, Queue] = {}
        self.drops: dict[str, tuple[str, int]] = {}
        self.marks: dict[str, int] = {}
        self.maps: dict[str, list[tuple[str, str, int]]] = {}
        self.codes: dict[str, list[tuple[str, int, int]]] = {}
        self.outputs: dict[str, set[int]] = {}
        self.times: dict[str, int] = {}
        self.action = "drop"
        self.classified: list[tuple[int, str, int]] = []
        self.lines: dict[str, int] = {}
        self.alphas: dict[str, int] = {}
        self.of_queues: dict[str, dict[int, int]] = {}
        self.memory = junos_memory.MemoryReader(draft)

    def line(self, line: int, words: list[str]) -> None:
        draft = self.draft
        match words:
            case ["set", "interfaces", port, "mtu", value]:
                mtu = draft.number(line, f"{port} mtu", value, 256, 16_000)
                if mtu is not None:
                    draft.ports[port] = replace(draft.port(port, line), frame_octets=mtu + _FCS)
            case ["set", "class-of-service", *rest]:
                draft.seen = True
                self.cos(line, rest)
            case _:
                draft.passed(line, " ".join(words))

    def cos(self, line: int, words: list[str]) -> None:
        draft = self.draft
        match words:
            case ["forwarding-classes", "class", name, "queue-num", value, *rest]:
                number = draft.number(line, f"forwarding-class {name}", value, 0, 7)
                if number is not None:
                    self.classes[name] = number
                if "pfc-priority" in rest[:-1]:
                    draft.number(line, f"forwarding-class {name}", rest[rest.index("pfc-priority") + 1], 0, 7)
            case ["classifiers", "dscp", _, "forwarding-class", name, "loss-priority", _, "code-points", code]:
                number = self.bits(line, code, 6)
                if number is not None:
                    self.classified.append((number, name, line))
            case ["shared-buffer", *rest]:
                self.memory.read(line, rest)
            case ["congestion-notification-profile", name, *rest]:
                self.codes.setdefault(name, [])
                self.notification(line, name, rest)
            case ["drop-profiles", name, "interpolate", *rest]:
                self.lines.setdefault(name, line)
                for key, value in zip(rest[::2], rest[1::2], strict=False):
                    where = f"drop-profile {name} {key}"
                    number = draft.number(line, where, value, 0, 100)
                    target = {"fill-level": self.fills, "drop-probability": self.shares}.get(key)
                    if target is None:
                        draft.fault(line, where, "syntax", "no such setting", "write fill-level or drop-probability")
                    elif number is not None:
                        own = target.setdefault(name, [])
                        if own and number < own[-1]:
                            draft.fault(line, where, "range", f"{number} after {own[-1]}", "write rising numbers")
                        own.append(number)
            case ["schedulers", name, *rest]:
                self.schedulers.setdefault(name, Queue())
                self.scheduler(line, name, rest)
            case ["scheduler-maps", name, "forwarding-class", of, "scheduler", scheduler]:
                self.maps.setdefault(name, []).append((of, scheduler, line))
            case ["interfaces", port, "scheduler-map", name]:
                draft.use(port, "queues", name, line)
            case ["interfaces", port, "congestion-notification-profile", name]:
                draft.use(port, "pfc", name, line)
            case ["interfaces", port, "unit", _, "classifiers", "dscp", _]:
                draft.port(port, line)
            case _:
                draft.passed(line, " ".join(words))

    def bits(self, line: int, text: str, length: int) -> int | None:
        if not re.fullmatch(f"[01]{{{length}}}", text):
            where, example = f"code point {text[:12]}", "011010" if length == 6 else "011"
            self.draft.fault(line, where, "syntax", f"no {length} bits", f"write, for instance, {example}")
            return None
        return int(text, 2)

    def notification(self, line: int, name: str, words: list[str]) -> None:
        draft, where = self.draft, f"congestion-notification-profile {name}"
        match words:
            case ["input", ("dscp" | "ieee-802.1") as kind, "code-point", code, "pfc", *rest]:
                if rest[:1] == ["mru"]:
                    self.memory.mru(line, name, code, " ".join(rest[1:]))
                number = self.bits(line, code, 6 if kind == "dscp" else 3)
                if any(other != kind for other, _, _ in self.codes[name]):
                    text = "DSCP and 802.1p do not stand in one profile"
                    draft.fault(line, where, "meaning", text, "write one of them, or two profiles")
                if number is not None:
                    self.codes[name].append((kind, number, line))
            case ["input", "cable-length", value]:
                cable = draft.number(line, f"{where} cable-length", value, 0, 100_000)
                if cable is not None:
                    draft.cables[name] = cable
            case ["output", "ieee-802.1", "code-point", code, "flow-control-queue", value]:
                self.bits(line, code, 3)
                queue = draft.number(line, where, value, 0, 7)
                if queue is not None:
                    self.outputs.setdefault(name, set()).add(queue)
            case ["pfc-watchdog", ("poll-interval" | "detection" | "recovery") as key, value]:
                low, high = {"poll-interval": (1, 100), "detection": (2, 10), "recovery": (200, 10_000)}[key]
                number = draft.number(line, f"{where} {key}", value, low, high)
                if number is not None:
                    self.times[key] = number
                    draft.lines[("watchdog",)] = line
            case ["pfc-watchdog", "watchdog-action", value]:
                if value not in ("drop", "forward"):
                    draft.fault(line, where, "range", f"{value[:20]}: no action", "write drop or forward")
                else:
                    self.action = value
            case _:
                draft.passed(line, " ".join(words))

    def scheduler(self, line: int, name: str, words: list[str]) -> None:
        draft, queue = self.draft, self.schedulers[name]
        match words:
            case ["transmit-rate", "percent", value]:
                self.schedulers[name] = replace(queue, weight=draft.number(line, f"scheduler {name}", value, 0, 100))
            case ["shaping-rate", value]:
                rate = draft.number(line, f"scheduler {name}", value, 1, 10**13)
                self.schedulers[name] = replace(queue, max_rate_bps=rate)
            case ["buffer-dynamic-threshold", value]:
                number = draft.number(line, f"scheduler {name} alpha", value, 0, junos_memory.STEPS - 1)
                if number is not None:
                    self.alphas[name] = number
            case ["priority", "strict-high"]:
                self.schedulers[name] = replace(queue, weight=None)
            case ["explicit-congestion-notification"]:
                self.marks[name] = line
            case ["drop-profile-map", "loss-priority", _, "protocol", _, "drop-profile", profile]:
                self.drops[name] = profile, line
            case _:
                draft.passed(line, " ".join(words))

    def over(self, file: str) -> Reading:
        draft = self.draft
        for code, name, line in self.classified:
            if name not in self.classes:
                draft.fault(line, "classifiers", "reference", f"{name}: no forwarding class of this name", "define it")
            else:
                draft.dscp[code] = self.classes[name]
                draft.lines["dscp", code] = line
        for name, codes in self.codes.items():
            paused = {draft.dscp.get(code) if kind == "dscp" else code for kind, code, _ in codes}
            draft.pfc[name] = {priority for priority in paused if priority is not None}
            draft.lines["pfc", name] = codes[0][2] if codes else 0
            missing = draft.pfc[name] - self.outputs.get(name, draft.pfc[name])
            if missing:
                text = f"no flow-control-queue for {', '.join(map(str, sorted(missing)))}: it obeys no pauses of them"
                where = f"congestion-notification-profile {name}"
                draft.fault(codes[0][2], where, "meaning", text, "add output … flow-control-queue")
        for name, entries in self.maps.items():
            draft.queues.setdefault(name, {})
            for of, scheduler, line in entries:
                if of not in self.classes:
                    draft.fault(line, f"scheduler-map {name}", "reference", f"{of}: no forwarding class", "define it")
                elif scheduler not in self.schedulers:
                    draft.fault(line, f"scheduler-map {name}", "reference", f"{scheduler}: no scheduler", "define it")
                else:
                    self.one_queue(name, self.classes[of], scheduler)
        if self.times:
            poll = self.times.get("poll-interval", 100)
            draft.watchdog = Watchdog(
                detection_ms=poll * self.times.get("detection", 2),
                restoration_ms=self.times.get("recovery", 200),
                poll_ms=poll,
                action="forward" if self.action == "forward" else "drop",
            )
        pools = self.memory.pools()
        known: dict[str, Mapping[str, object]] = {"queues": self.maps, "pfc": self.codes}
        return draft.reading(file, known, memory=self.with_memory, pools=pools, at=self.memory.places())

    def with_memory(self, port: Port, profile: str, places: dict[tuple[object, ...], Place]) -> Port:
        """Return a port with its alphas; find frames that its headroom is not computed for."""
        uses = self.draft.uses.get(port.name, {})
        if port.pfc and port.frame_octets:
            self.memory.frames(port.name, profile, port.frame_octets - _FCS)
        numbers = self.of_queues.get(uses.get("queues", ("", 0))[0], {})
        return self.memory.port(port, numbers, places)

    def one_queue(self, name: str, priority: int, scheduler: str) -> None:
        draft, queue = self.draft, self.schedulers[scheduler]
        draft.set_queue(name, priority, queue)
        if scheduler in self.alphas:
            self.of_queues.setdefault(name, {})[priority] = self.alphas[scheduler]
        if scheduler not in self.drops:
            return
        profile, line = self.drops[scheduler]
        levels, shares = self.fills.get(profile, []), self.shares.get(profile, [])
        if profile not in self.lines:
            draft.fault(line, f"scheduler {scheduler}", "reference", f"{profile}: no drop profile", "define it")
        elif len(levels) != len(shares) or not levels:
            text = f"{len(levels)} fill levels and {len(shares)} probabilities"
            draft.fault(self.lines[profile], f"drop-profile {profile}", "syntax", text, "write as many of both")
        else:
            draft.set_wred(name, priority, self.lines[profile], scheduler, min_octets=levels[0], max_octets=levels[-1],
                           percent=shares[-1], ecn=scheduler in self.marks, unit="percent")  # fmt: skip
