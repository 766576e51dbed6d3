"""A run on the testbed, from the scenario to the results."""

import shutil
import time
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path

from penstock import _core, interrupts
from penstock.files import whole
from penstock.result import Result
from penstock.scenario import Scenario
from penstock.testbed import cleanup, linux
from penstock.testbed.capture import FILE, Capture, check_ports
from penstock.testbed.errors import TestbedError
from penstock.testbed.fabric import fabric
from penstock.testbed.layout import Layout, lay_out
from penstock.testbed.processes import Applications, Nodes, transferred

Progress = Callable[[float, float], object]
"""Called about ten times a second with the time since the start and the duration, s of the machine."""

_STEP_S = 0.02
"""Between two looks at applications and processes."""

_GRACE_S = 10.0
"""So much later than planned the nodes may end."""


def run(
    scenario: Scenario,
    *,
    scheme: str | None = None,
    profile: str | None = None,
    seed: int | None = None,
    out: str | PathLike[str] | None = None,
    force: bool = False,
    progress: Progress | None = None,
    keep: str | PathLike[str] | None = None,
    pcap: Sequence[str] = (),
) -> Result:
    """Run a scenario on the testbed, with its applications.

    Args:
        scenario: the scenario, with or without a table ``[testbed]``.
        scheme: the scheme; ``None`` for the scenario's.
        profile: its named settings.
        seed: the seed of all random streams.
        out: the results folder; ``None`` keeps the results in memory.
        force: an older results folder of that name may be replaced.
        progress: called with the progress of the run; interrupting it (Ctrl-C) ends the run, and its records are kept.
        keep: a folder that takes the outputs of applications and processes.
        pcap: ports, such as ``sw0->h4``, whose frames go into ``capture.pcapng`` of the results folder, with the times
            of the network at which they have reached the port's far end.

    Returns:
        The result, in the scenario's times and rates. ``summary["testbed"]`` says whether its figures may be used.

    Raises:
        TestbedError: the scenario does not suit the testbed, or the system refuses something.
        ScenarioError: the scenario is wrong.
        OutputError: the results cannot be written.
    """
    resolved = scenario.resolved(scheme=scheme, profile=profile, seed=seed)
    return _run(
        scenario.name,
        resolved,
        applications=True,
        out=out,
        force=force,
        progress=progress,
        on_running=None,
        keep=keep,
        ports=[pcap] if isinstance(pcap, str) else list(pcap),
    )


def up(
    scenario: Scenario,
    *,
    scheme: str | None = None,
    profile: str | None = None,
    seed: int | None = None,
    out: str | PathLike[str] | None = None,
    force: bool = False,
    on_running: Callable[[dict[str, str]], object] | None = None,
    progress: Progress | None = None,
) -> Result:
    """Run the network of a scenario without its applications: for those that are started by hand.

    It lasts as long as the scenario says, or until it is interrupted.

    Args:
        scenario: as for :func:`run`.
        scheme: as for :func:`run`.
        profile: as for :func:`run`.
        seed: as for :func:`run`.
        out: as for :func:`run`.
        force: as for :func:`run`.
        on_running: called with the namespace of each host when the network runs.
        progress: as for :func:`run`.

    Returns:
        The result, as of :func:`run`.

    Raises:
        TestbedError, ScenarioError, OutputError: as for :func:`run`.
    """
    resolved = scenario.resolved(scheme=scheme, profile=profile, seed=seed)
    return _run(
        scenario.name,
        resolved,
        applications=False,
        out=out,
        force=force,
        progress=progress,
        on_running=on_running,
        keep=None,
        ports=[],
    )


def _run(
    name: str,
    resolved: str,
    *,
    applications: bool,
    out: str | PathLike[str] | None,
    force: bool,
    progress: Progress | None,
    on_running: Callable[[dict[str, str]], object] | None,
    keep: str | PathLike[str] | None,
    ports: list[str],
) -> Result:
    layout = lay_out(resolved)
    check_ports(layout, ports)
    if ports and out is None:
        raise TestbedError("a capture needs a results folder for its file, and the run has none", "give out")
    if out is not None and Path(out).exists() and not force:
        # The collector refuses it too, but only after the run.
        raise TestbedError(f"{out}: exists already", "another name, or force to replace it")
    programs = [program["command"].split()[0] for program in layout["applications"]]
    if any(flow["iperf3"] and not transferred(flow) for flow in layout["flows"]):
        programs.append("iperf3")
    congestion = [flow["tcp"] for flow in layout["flows"] if flow["iperf3"] and flow["tcp"] is not None]
    linux.check(*((programs, congestion) if applications else ()))
    cleanup.clear()
    state = cleanup.State.new(name)
    folder = Path(state.folder)
    try:
        interrupts.at_end(state.remove)
        state.save()
        (folder / "scenario.toml").write_text(resolved)
        wall_s, unread, faults = _drive(
            state, layout, folder, applications=applications, progress=progress, on_running=on_running, ports=ports
        )
        core = _core.testbed_collect(
            resolved, folder, wall_s, unread, faults, out=None if out is None else Path(out), force=force
        )
        if out is not None and ports:
            with whole(Path(out) / FILE) as partial:
                shutil.copyfile(folder / FILE, partial)
        return Result(core)
    finally:
        try:
            if keep is not None:
                shutil.copytree(folder, keep, dirs_exist_ok=True)
        finally:
            _remove(state)


def _remove(state: cleanup.State) -> None:
    """Remove all that a run has made; a Ctrl-C that breaks this off does so once."""
    try:
        state.remove()
    except KeyboardInterrupt:
        state.remove()
        raise
    finally:
        interrupts.not_at_end(state.remove)


def _drive(
    state: cleanup.State,
    layout: Layout,
    folder: Path,
    *,
    applications: bool,
    progress: Progress | None,
    on_running: Callable[[dict[str, str]], object] | None,
    ports: list[str],
) -> tuple[float, int, list[str]]:
    """Make the network, run it, remove it; return the time that it took, frames lost by the kernel, and faults."""
    with fabric(layout, state) as network:
        nodes = Nodes(layout, network, state, folder)
        senders = Applications(layout, network, state, folder)
        capture = Capture(network, layout, ports, folder / FILE) if ports else None
        lacking: list[str] = []
        origin = None
        try:
            if applications:
                senders.serve()
            origin = nodes.begin()
            if capture is not None:
                capture.begin(origin)
            if on_running is not None:
                on_running({node["name"]: network.namespace(node["name"]) for node in layout["nodes"] if node["host"]})
            _wait(layout, nodes, senders, origin, progress, applications=applications)
            faults = senders.faults()
        except KeyboardInterrupt:
            if origin is None:
                raise
            faults = senders.faults()
        finally:
            nodes.end()
            senders.end()
            if capture is not None:
                lacking = capture.end()
        return (time.time_ns() - origin) / 1e9, network.unread(), faults + lacking


def _wait(
    layout: Layout,
    nodes: Nodes,
    senders: Applications,
    origin: int,
    progress: Progress | None,
    *,
    applications: bool,
) -> None:
    """Wait until the nodes have come to the end of the run, and start and stop applications meanwhile."""
    duration = layout["duration_s"]
    reported = -1.0
    while nodes.running():
        now = (time.time_ns() - origin) / 1e9
        failure = nodes.failed()
        if failure is not None:
            raise TestbedError(failure)
        if now > duration + _GRACE_S:
            raise TestbedError(f"the nodes have not ended {_GRACE_S:g} s after the end of the run")
        if applications and now >= 0:
            senders.step(now)
        if progress is not None and now - reported >= 0.1:
            reported = now
            progress(max(now, 0.0), duration)
        time.sleep(_STEP_S)
    failure = nodes.failed()
    if failure is not None:
        raise TestbedError(failure)
