"""Cisco NX-OS: class and policy maps written and read.

Sources: Nexus 9000, QoS configuration guide 10.x (watchdog, ``pause buffer-size`` from 100 m on); public configurations
of a Nexus 93180YC-EX and of Azure Stack (``pause buffer-size … pause-threshold … resume-threshold`` in octets);
terraform-provider-nxos 43d0c254. ``watch-dog-interval on`` stands in all of these, ``shutdown-multiplier`` in one
public text. For ``watch-dog interval`` and ``auto-restore multiplier`` none was found: the file says so.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from penstock.devices.findings import Place, Reading
from penstock.devices.model import Device, Port, Queue, Threshold, Watchdog, Wred, Written
from penstock.devices.switch_text import (
    TAGGED,
    UNITS,
    Draft,
    indented,
    profile_names,
    queues_key,
    reasons_of,
    reduced,
)

_IN, _NETWORK, _MEMORY = "PENSTOCK-IN", "PENSTOCK-NQ", "PENSTOCK-INQ"
_LONG_M = 100
"""Cables from this length on need an input queuing policy with `pause buffer-size`."""


def port_name(index: int, rate_bps: int) -> str:
    """Return the name of a port."""
    return f"Ethernet1/{index + 1}"


def write(device: Device) -> Written:
    """Return the configuration of a switch as ``NAME.nxos.cfg``; PFC and MTU of a class hold for the whole switch."""
    lost: dict[str, None] = {}
    own = device.watchdog
    watchdog = None
    if own is not None:
        # The interval has whole steps of a ms, and a queue is shut after a multiple of it.
        multiplier = min(max(-(-own.detection_ms // 1000), 1), 10)
        interval = min(max(own.detection_ms // multiplier, 100), 1000)
        restore = min(max(round(own.restoration_ms / interval), 1), 100)
        watchdog = Watchdog(detection_ms=interval * multiplier, restoration_ms=interval * restore, poll_ms=interval)
        if (own.detection_ms, own.restoration_ms) != (watchdog.detection_ms, watchdog.restoration_ms):
            after = f"{watchdog.detection_ms} and {watchdog.restoration_ms}"
            lost[f"watchdog: {own.detection_ms} and {own.restoration_ms} ms become {after}"] = None
        if own.action != "drop":
            lost[f"watchdog: it drops, and has no action {own.action}"] = None
    expressed = reduced(device, lost, wred=_positive, watchdog=watchdog, memory=True)
    far = {port.name for port in device.ports if (port.cable_m or 0) >= _LONG_M}
    expressed = _with_buffers(device, expressed, lost)
    paused = sorted({priority for port in expressed.ports for priority in port.pfc})
    frame = max((port.frame_octets for port in expressed.ports), default=0)
    expressed = replace(
        expressed,
        ports=tuple(
            replace(port, pfc=tuple(paused) if port.pfc else (), frame_octets=frame) for port in expressed.ports
        ),
    )
    long = [port.name for port in expressed.ports if port.pfc and not port.ingress and port.name in far]
    if long:
        need = f"cables of {_LONG_M} m and more need `pause buffer-size` in an input queuing policy"
        lost[f"{', '.join(long)}: {need}"] = None
    policies = profile_names(expressed, queues_key, lambda port: "PENSTOCK-OUT")
    lines = [f"! {device.name}: quality of service", *(f"! Not expressed: {sentence}" for sentence in lost), "!"]
    classes: dict[int, list[int]] = {}
    for code, priority in device.dscp.items():
        classes.setdefault(priority, []).append(code)
    for priority, codes in sorted(classes.items()):
        lines += [f"class-map type qos match-any P{priority}", f"  match dscp {','.join(map(str, sorted(codes)))}"]
    lines += ["!", f"policy-map type qos {_IN}"]
    for priority in sorted(classes):
        lines += [f"  class P{priority}", f"    set qos-group {priority}"]
    done: set[str] = set()
    for port, source in zip(expressed.ports, device.ports, strict=True):
        if policies[port.name] not in done:
            done.add(policies[port.name])
            lines += ["!", *reasons_of(device, source, "!"), f"policy-map type queuing {policies[port.name]}"]
            lines += _queues(port.queues)
    buffers = profile_names(expressed, _buffers_key, lambda port: _MEMORY)
    for port, source in zip(expressed.ports, device.ports, strict=True):
        if port.ingress and buffers[port.name] not in done:
            done.add(buffers[port.name])
            lines += ["!", f"! {device.why(f'xoff|{source.name}')}."]
            lines += [f"policy-map type queuing {buffers[port.name]}", *_buffers(port)]
    lines += ["!", f"policy-map type network-qos {_NETWORK}"]
    for priority in sorted({0, *paused}):
        lines.append(f"  class type network-qos c-8q-nq{priority or '-default'}")
        lines += [f"    pause pfc-cos {priority}"] if priority in paused else []
        lines += [f"    mtu {frame - TAGGED}"] if frame else []
    lines += ["!", "system qos", f"  service-policy type network-qos {_NETWORK}", "!"]
    if watchdog is not None:
        lines.append(f"! {device.why('watchdog')}: detection is interval times shutdown-multiplier.")
        lines.append("! Compare interval and auto-restore with your release: no public text with them was found.")
        lines.append("priority-flow-control watch-dog-interval on")
        lines.append(f"priority-flow-control watch-dog interval {watchdog.poll_ms}")
        lines.append(f"priority-flow-control watch-dog shutdown-multiplier {watchdog.detection_ms // watchdog.poll_ms}")
        lines.append(f"priority-flow-control auto-restore multiplier {watchdog.restoration_ms // watchdog.poll_ms}")
    for port, source in zip(expressed.ports, device.ports, strict=True):
        lines += ["!", f"interface {port.name}", f"  description {source.link}"]
        lines.append(f"  service-policy type qos input {_IN}")
        lines.append(f"  service-policy type queuing output {policies[port.name]}")
        lines += [f"  service-policy type queuing input {buffers[port.name]}"] if port.ingress else []
        lines += ["  priority-flow-control mode on"] if port.pfc else []
        lines += ["  priority-flow-control watch-dog-interval on"] if port.pfc and watchdog is not None else []
    text = "\n".join(lines) + "\n"
    return Written(files={f"{device.name or 'switch'}.nxos.cfg": text}, expressed=expressed, lost=tuple(lost))


def _with_buffers(device: Device, expressed: Device, lost: dict[str, None]) -> Device:
    """Return a device whose lossless priorities have their input buffers in octets, where they have no alpha."""
    alphas, sizes = False, False
    ports = []
    for port, source in zip(expressed.ports, device.ports, strict=True):
        own = {}
        for priority, threshold in source.ingress.items():
            paused = priority in source.pfc
            alphas = alphas or threshold.alpha_exponent is not None
            sizes = sizes or not paused or threshold.reserve_octets > 0
            if paused and threshold.limit_octets is not None and threshold.xoff_octets:
                own[priority] = Threshold(
                    limit_octets=threshold.limit_octets,
                    xoff_octets=threshold.xoff_octets,
                    xon_offset_octets=threshold.xon_offset_octets,
                )
        ports.append(replace(port, ingress=own))
    if alphas:
        text = "what alpha a number of `queue-limit dynamic` is depends on the chip, and no public table was found"
        lost[f"alphas and headroom beyond them: {text}"] = None
    if sizes:
        lost["pools and reserves: their sizes are fixed by the type of the switch"] = None
    return replace(expressed, ports=tuple(ports))


def _buffers_key(port: Port) -> object:
    return tuple(sorted((priority, repr(threshold)) for priority, threshold in port.ingress.items()))


def _buffers(port: Port) -> list[str]:
    lines = []
    for priority, threshold in sorted(port.ingress.items()):
        limit = threshold.limit_octets or 0
        lines.append(f"  class type queuing c-in-q{priority or '-default'}")
        lines.append(
            f"    pause buffer-size {limit + threshold.xoff_octets} pause-threshold {limit} "
            f"resume-threshold {max(0, limit - threshold.xon_offset_octets)}"
        )
    return lines


def _positive(_: Port, __: int, wred: Wred) -> Wred:
    return replace(wred, percent=max(1, wred.percent))


def _queues(queues: Mapping[int, Queue]) -> list[str]:
    lines = []
    level = 0
    for priority, queue in sorted(queues.items(), reverse=True):
        lines.append(f"  class type queuing c-out-8q-q{priority or '-default'}")
        if queue.weight is None:
            level += 1
            lines.append(f"    priority level {level}")
        else:
            lines.append(f"    bandwidth remaining percent {queue.weight}")
        if queue.max_rate_bps is not None:
            lines.append(f"    shape min 0 kbps max {queue.max_rate_bps // 1000} kbps")
        if queue.wred is not None:
            lines.append(
                f"    random-detect minimum-threshold {queue.wred.min_octets} bytes maximum-threshold "
                f"{queue.wred.max_octets} bytes drop-probability {queue.wred.percent} weight 0"
                + (" ecn" if queue.wred.ecn else "")
            )
    return lines


def read(text: str, file: str = "nxos.cfg") -> Reading:
    """Return the switch that a configuration of NX-OS describes.

    Raises:
        ConfigurationError: no quality of service is in the text.
    """
    reader = _Reader(Draft("NX-OS"))
    for line, above, words in indented(text):
        reader.line(line, above, words)
    return reader.over(file)


class _Reader:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.matches: dict[str, list[tuple[int, int]]] = {}
        self.groups: dict[str, int] = {}
        self.mtu = 0
        self.networks: dict[str, set[int]] = {}
        self.network: tuple[str, int] | None = None
        self.inputs: set[str] = set()
        self.on: dict[str, int] = {}
        self.times: dict[str, int] = {}
        self.buffers: dict[str, dict[int, tuple[Threshold, int]]] = {}

    def line(self, line: int, above: list[list[str]], words: list[str]) -> None:
        draft = self.draft
        match above, words:
            case [], ["class-map", "type", "qos", *_, name]:
                draft.seen = True
                self.matches.setdefault(name, [])
            case [["class-map", "type", "qos", *_, name]], ["match", "dscp", codes]:
                found = draft.numbers(line, f"class-map {name}", codes, 63)
                self.matches[name] += [(code, line) for code in found]
            case [], ["policy-map", "type", kind, name]:
                draft.seen = True
                self.policy(kind, name)
            case [["policy-map", "type", "qos", _]], ["class", name]:
                if name not in self.matches and name != "class-default":
                    draft.fault(line, f"class {name}", "reference", "no class-map of this name", "define it")
            case [["policy-map", "type", "qos", _], ["class", name]], ["set", "qos-group", value]:
                group = draft.number(line, f"class {name} qos-group", value, 0, 7)
                if group is not None:
                    for code, at in self.matches.get(name, []):
                        draft.dscp[code] = group
                        draft.lines["dscp", code] = at
            case [["policy-map", "type", ("queuing" | "network-qos") as kind, _]], ["class", "type", _, name]:
                self.number_of(line, kind, name)
            case [["policy-map", "type", "queuing", policy], ["class", "type", "queuing", name]], [
                    "pause", "buffer-size", size, "pause-threshold", pause, "resume-threshold", resume]:  # fmt: skip
                self.buffer(line, policy, name, [size, pause, resume])
            case [["policy-map", "type", "queuing", policy], ["class", "type", "queuing", name]], rest:
                number = self.number_of(line, "queuing", name, again=True)
                if number is not None:
                    self.queue(line, policy, number, rest)
            case [["policy-map", "type", "network-qos", policy], ["class", "type", "network-qos", name]], rest:
                self.of_network(line, policy, name, rest)
            case [], ["system", "qos"]:
                draft.seen = True
            case [["system", "qos"]], ["service-policy", "type", "network-qos", name]:
                self.network = name, line
            case [], ["priority-flow-control", *rest]:
                self.watchdog(line, rest)
            case [], ["interface", _]:
                pass
            case [["interface", port]], ["description", *rest]:
                draft.ports[port] = replace(draft.port(port, line), link=" ".join(rest))
            case [["interface", port]], ["service-policy", "type", "queuing", "output", name]:
                draft.use(port, "queues", name, line)
            case [["interface", port]], ["service-policy", "type", "queuing", "input", name]:
                draft.use(port, "buffers", name, line)
            case [["interface", port]], ["service-policy", "type", "qos", "input", name]:
                draft.use(port, "input", name, line)
            case [["interface", port]], ["priority-flow-control", "mode", mode]:
                draft.port(port, line)
                if mode not in ("on", "off", "auto"):
                    draft.fault(line, f"{port} mode", "range", f"{mode[:20]}: no mode", "write on, off or auto")
                elif mode == "on":
                    self.on[port] = line
            case [["interface", port]], ["priority-flow-control", "watch-dog-interval", "on"]:
                draft.port(port, line)
            case _:
                draft.passed(line, " ".join(words))

    def policy(self, kind: str, name: str) -> None:
        if kind == "queuing":
            self.draft.queues.setdefault(name, {})
        elif kind == "network-qos":
            self.networks.setdefault(name, set())
        else:
            self.inputs.add(name)

    def number_of(self, line: int, kind: str, name: str, *, again: bool = False) -> int | None:
        """Return the queue of a class that the system defines."""
        pattern = r"c-(?:out-(?:4q|8q|16q)|in)-q(-default|\d)" if kind == "queuing" else r"c-(?:4q|8q)-nq(-default|\d)"
        found = re.fullmatch(pattern, name)
        if found is None:
            if not again:
                example = "c-out-8q-q3" if kind == "queuing" else "c-8q-nq3"
                self.draft.fault(
                    line, f"class {name[:30]}", "reference", "no such class", f"write, as for 3, {example}"
                )
            return None
        return 0 if found[1] == "-default" else int(found[1])

    def of_network(self, line: int, policy: str, name: str, words: list[str]) -> None:
        number = self.number_of(line, "network-qos", name, again=True)
        if number is None:
            return
        match words:
            case ["pause", "pfc-cos", value]:
                for cos in self.draft.numbers(line, f"{name} pause", value, 7):
                    self.networks[policy].add(cos)
                    self.draft.lines[("pfc", "")] = line
                    if cos != number:
                        text = f"pfc-cos {cos} pauses the queue of group {number}: another priority by number"
                        self.draft.warn(line, f"{name} pause", text, f"write pfc-cos {number}")
            case ["mtu", value]:
                mtu = self.draft.number(line, f"{name} mtu", value, 576, 9216)
                self.mtu = max(self.mtu, mtu or 0)
            case _:
                self.draft.passed(line, " ".join(words))

    def queue(self, line: int, policy: str, priority: int, words: list[str]) -> None:
        draft, where = self.draft, f"{policy} queue {priority}"
        queue = draft.queue(policy, priority)
        match words:
            case ["priority", *_]:
                draft.set_queue(policy, priority, replace(queue, weight=None))
            case ["bandwidth", *rest] if rest and rest[-2:-1] == ["percent"]:
                draft.lines["weight", policy, priority] = line
                draft.set_queue(policy, priority, replace(queue, weight=draft.number(line, where, rest[-1], 0, 100)))
            case ["shape", "min", _, _, "max", value, "kbps"]:
                rate = draft.number(line, where, value, 1, 10**10)
                draft.set_queue(policy, priority, replace(queue, max_rate_bps=None if rate is None else rate * 1000))
            case ["random-detect", "minimum-threshold", low, unit, "maximum-threshold", high, other,
                  "drop-probability", percent, "weight", _, *rest]:  # fmt: skip
                ends = draft.number(line, where, low, 0, 2**40), draft.number(line, where, high, 0, 2**40)
                share = draft.number(line, where, percent, 1, 100)
                if unit not in UNITS or other not in UNITS:
                    remedy = "write bytes, kbytes or mbytes"
                    draft.fault(line, where, "syntax", f"{unit[:20]}, {other[:20]}: no unit", remedy)
                elif ends[0] is not None and ends[1] is not None and share is not None:
                    draft.set_wred(policy, priority, line, where, min_octets=ends[0] * UNITS[unit],
                                   max_octets=ends[1] * UNITS[other], percent=share, ecn="ecn" in rest)  # fmt: skip
            case _:
                draft.passed(line, " ".join(words))

    def buffer(self, line: int, policy: str, name: str, sizes: list[str]) -> None:
        """Read the input buffer of a class: all of it, and the octets at which pauses begin and end."""
        number = self.number_of(line, "queuing", name, again=True)
        found = [self.draft.number(line, f"{policy} {name} pause", size, 0, 2**40) for size in sizes]
        size, pause, resume = found
        if number is None or size is None or pause is None or resume is None:
            return
        if size <= pause:
            text = f"buffer-size {size} has no octet beyond pause-threshold {pause}: frames are lost after the pause"
            self.draft.fault(line, f"{policy} {name}", "sum", text, f"write more than {pause}")
        elif resume > pause:
            text = f"resume-threshold {resume} is above pause-threshold {pause}"
            self.draft.fault(line, f"{policy} {name}", "range", text, f"write {pause} or less")
        else:
            own = Threshold(limit_octets=pause, xoff_octets=size - pause, xon_offset_octets=pause - resume)
            self.buffers.setdefault(policy, {})[number] = own, line

    def with_buffers(self, port: Port, profile: str, places: dict[tuple[object, ...], Place]) -> Port:
        """Return a port with the input buffers of its policy; the switch has its own for priorities without."""
        policy = self.draft.uses.get(port.name, {}).get("buffers", ("", 0))[0]
        own = self.buffers.get(policy, {})
        for priority in port.pfc:
            if priority in own:
                places["ingress", port.name, priority] = Place(own[priority][1], f"{policy} c-in-q{priority}")
            else:
                places["computed", port.name, priority] = Place(None, f"{port.name} input queue {priority}")
        return replace(port, ingress={priority: threshold for priority, (threshold, _) in own.items()})

    def watchdog(self, line: int, words: list[str]) -> None:
        match words:
            case ["watch-dog-interval", "on"]:
                self.draft.lines.setdefault(("watchdog",), line)
            case ["watch-dog", "interval", value]:
                self.time(line, "interval", value, 100, 1000)
            case ["watch-dog", "shutdown-multiplier", value]:
                self.time(line, "shutdown", value, 1, 10)
            case ["auto-restore", "multiplier", value]:
                self.time(line, "restore", value, 0, 100)
            case _:
                self.draft.passed(line, " ".join(words))

    def time(self, line: int, key: str, value: str, low: int, high: int) -> None:
        number = self.draft.number(line, f"watch-dog {key}", value, low, high)
        if number is not None:
            self.times[key] = number
            self.draft.lines[("watchdog",)] = line

    def over(self, file: str) -> Reading:
        draft = self.draft
        if ("watchdog",) in draft.lines:
            interval = self.times.get("interval", 100)
            draft.watchdog = Watchdog(
                detection_ms=interval * self.times.get("shutdown", 1),
                restoration_ms=interval * self.times.get("restore", 10),
                poll_ms=interval,
            )
        if self.network is not None and self.network[0] not in self.networks:
            text = f"{self.network[0]}: no policy-map of this name"
            draft.fault(self.network[1], "system qos", "reference", text, "define it")
        chosen = self.networks.get(self.network[0], set()) if self.network is not None else set()
        draft.pfc["paused"] = chosen
        draft.lines["pfc", "paused"] = draft.lines.get(("pfc", ""), 0)
        for port in list(draft.ports):
            if port in self.on:
                draft.uses.setdefault(port, {})["pfc"] = "paused", self.on[port]
                if not chosen:
                    text = "PFC is on, and no class of the network-qos policy is paused"
                    draft.fault(self.on[port], f"{port} priority-flow-control", "meaning", text, "add pause pfc-cos")
            if self.mtu:
                draft.ports[port] = replace(draft.ports[port], frame_octets=self.mtu + TAGGED)
        known: dict[str, Mapping[str, object]] = {
            "queues": draft.queues,
            "buffers": draft.queues,
            "pfc": draft.pfc,
            "input": dict.fromkeys(self.inputs),
        }
        return draft.reading(file, known, memory=self.with_buffers)
