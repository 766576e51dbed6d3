"""The testbed: tests without rights, and a network in separate namespaces."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from conftest import SMALL
from real_time import in_real_time, use_only_if_valid

from penstock import Result, Scenario, wire
from penstock.testbed import TestbedError, cleanup, linux, run, runner
from penstock.testbed.cleanup import State, started
from penstock.testbed.layout import lay_out
from penstock.testbed.processes import Applications, _terminate

TWO = """\
question = "Do two senders of real frames meet the simulator's queue?"
duration = "60 ms"
warmup = "20 ms"
scheme = "qcn"

[schemes.qcn]
profile = "pan-10g"

[topology.star]
hosts = 3
link_rate = "10 Gbps"
link_delay = "10 us"
buffer = "150 KB"

[network]
wire_overhead = "20 octets"
clock_tolerance = "100 ppm"

[[flow]]
from = "h0..h1"
to = "h2"
traffic = "constant"
rate = "8 Gbps"

[testbed]
time_scale = 100
"""
"""Six seconds of the machine, at 100 Mb/s."""


GROUP = '[[group]]\nname = "g"\nmembers = ["h1", "h2"]\n\n[[flow]]\nfrom = "h0"\nto = "g"'


def resolved(text: str, scheme: str | None = None) -> str:
    """Return a scenario with all its defaults."""
    return Scenario.from_toml(text).resolved(scheme=scheme)


def test_a_layout_has_wires_addresses_and_senders() -> None:
    layout = lay_out(resolved(TWO))
    assert [node["name"] for node in layout["nodes"] if node["host"]] == ["h0", "h1", "h2"]
    (sw0,) = (node for node in layout["nodes"] if not node["host"])
    assert sw0["peers"] == ["h0", "h1", "h2"]
    assert sw0["address"] is None
    assert sorted(map(sorted, layout["wires"])) == [["h0", "sw0"], ["h1", "sw0"], ["h2", "sw0"]]
    first, second = layout["flows"]
    assert (first["port"], second["port"], first["tcp"]) == (5201, 5202, None)
    # 1500 octets less check sequence 4, Ethernet 14, 802.1Q tag 4, CN-TAG 4, IPv4 20, UDP 8.
    assert first["length"] == 1446
    # 8 Gb/s, of which 1446 of 1520 octets are data, a hundredth of it.
    assert first["rate_bps"] == 8_000_000_000 * 1446 // 1520 // 100
    assert layout["host_mtu"] == 1474
    assert layout["duration_s"] == pytest.approx(6.0)


def test_without_control_there_is_no_tag_and_more_data() -> None:
    assert lay_out(resolved(TWO, scheme="none"))["flows"][0]["length"] == 1450


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('[[flow]]\nfrom = "h0..h1"\nto = "h2"', GROUP), "UDP or TCP to one address"),
        (('rate = "8 Gbps"', 'rate = "8 Gbps"\nframe = "9000 octets"'), "frames of 9000 octets"),
        (('rate = "8 Gbps"', 'transport = "go-back-n"\nrate = "8 Gbps"'), "the kernel has TCP alone"),
        (
            ('scheme = "qcn"', 'scheme = "timely"'),
            "no form on the testbed's wires: it needs an acknowledgement of every frame",
        ),
    ],
)
def test_an_unsuited_scenario_is_refused(change: tuple[str, str], said: str) -> None:
    with pytest.raises(TestbedError, match=said) as caught:
        lay_out(resolved(TWO.replace(*change, 1)))
    assert caught.value.unsuited


@pytest.mark.parametrize(
    ("settings", "scheme"),
    [
        ('ecn_at = "departure"\necn_by = "port"', "dcqcn"),
        ('ecn_threshold = "20 KB"', "none"),
        ("trimming = true", "none"),
        ('[pfc.watchdog]\nafter = "1 ms"', "none"),
        ('[[buffer]]\nsize = "100 KB"', "qcn"),
    ],
)
def test_switches_do_what_the_simulators_do(settings: str, scheme: str) -> None:
    text = TWO.replace("[network]", f"[network]\n{settings}" if "[" not in settings else f"{settings}\n[network]")
    assert lay_out(resolved(text, scheme=scheme))["nodes"]


def test_a_host_whose_tcp_has_ecn_lets_the_kernel_ask_for_it() -> None:
    tcp = 'transport = { tcp = { congestion = "cubic", ecn = true } }\nacks = "control"'
    text = TWO.replace('traffic = "constant"\nrate = "8 Gbps"', tcp)
    layout = lay_out(resolved(text, scheme="none"))
    asks = {node["name"]: node["ecn"] for node in layout["nodes"] if node["host"]}
    assert asks == {"h0": True, "h1": True, "h2": False}
    # One setting is for all connections of a network namespace; the default of a destination answers to ECN.
    without = '\n[[flow]]\nfrom = "h0"\nto = "h2"\ntransport = { tcp = { congestion = "cubic" } }\nacks = "control"\n'
    with pytest.raises(TestbedError, match="h0: TCP flows with ecn and without"):
        lay_out(resolved(text + without, scheme="none"))


def test_an_application_needs_a_host_and_a_command() -> None:
    wrong = {
        'host = "h9"\nrun = "true"': "there is no host h9",
        'host = "h0"\nrun = " "': "expected one line of text",
    }
    for entry, said in wrong.items():
        with pytest.raises(Exception, match=said):
            resolved(f"{TWO}\n[[testbed.application]]\n{entry}\n")


def test_the_simulator_does_without_the_table(tmp_path: Path) -> None:
    with_table = Scenario.from_toml(f"{SMALL}\n[testbed]\ntime_scale = 10\n").run()
    assert with_table.fingerprint() == Scenario.from_toml(SMALL).run().fingerprint()
    assert "testbed" not in with_table.summary


def test_a_process_is_known_by_its_start() -> None:
    own = started(os.getpid())
    assert own is not None
    assert State("pt-1-aaaa", "x", (os.getpid(), own), "").alive()
    assert not State("pt-1-aaaa", "x", (os.getpid(), own + 1), "").alive()
    child = subprocess.Popen([sys.executable, "-c", ""])
    while started(child.pid) is not None:
        time.sleep(0.01)
    child.wait()
    assert started(child.pid) is None


def queue_median(result: Result) -> float:
    """Return the median of the bottleneck's sampled length after the warm-up, octets."""
    queue = np.asarray(result.column("queues", "queue_octets"), float)
    time_s = np.asarray(result.column("queues", "time_s"))
    return float(np.median(queue[time_s >= result.summary["warmup_s"]]))


def throughput(result: Result) -> float:
    """Return the sum of all flows' rates of delivery, bit/s."""
    return sum(flow["throughput_bps"] for flow in result.summary["flows"])


def nothing_left() -> None:
    """Assert that this process's testbeds are gone."""
    own = f"pt-{os.getpid()}"
    assert [path.name for path in linux.NAMESPACES.glob(f"{own}-*")] == []


@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize("scheme", ["qcn", "none"])
@in_real_time
def test_two_senders_meet_the_simulators_queue(scheme: str, tmp_path: Path) -> None:
    scenario = Scenario.from_toml(TWO)
    simulated = scenario.run(scheme=scheme)
    measured = run(scenario, scheme=scheme, out=tmp_path / "out", keep=tmp_path / "said")
    nothing_left()
    assert Result.open(tmp_path / "out").summary == measured.summary
    assert measured.tables == simulated.tables
    use_only_if_valid(measured)
    assert throughput(measured) == pytest.approx(throughput(simulated), rel=0.05)
    assert queue_median(measured) == pytest.approx(queue_median(simulated), rel=0.15)
    drops = measured.summary["totals"]["frames_dropped"]
    assert (drops == 0) == (scheme == "qcn")
    assert (measured.summary["totals"]["feedback_frames"] > 0) == (scheme == "qcn")


@pytest.mark.usefixtures("namespaces")
@in_real_time
def test_real_frames_share_a_switchs_memory(tmp_path: Path) -> None:
    # With one queue T = 1 x (60 KB - T): it holds 30 KB, of the 150 KB that it could.
    scenario = Scenario.from_toml(TWO + '\n[[buffer]]\nsize = "60 KB"\nalpha = 1.0\n')
    simulated = scenario.run(scheme="none")
    measured = run(scenario, scheme="none", out=tmp_path / "out", keep=tmp_path / "said")
    nothing_left()
    use_only_if_valid(measured)
    for result in (simulated, measured):
        assert 28_500 < max(queue["max_octets"] for queue in result.summary["queues"]) <= 30_000
    assert throughput(measured) == pytest.approx(throughput(simulated), rel=0.05)
    assert queue_median(measured) == pytest.approx(queue_median(simulated), rel=0.15)


@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize("flow_control", [True, False])
@in_real_time
def test_flow_control_loses_nothing_where_frames_are_lost_without_it(flow_control: bool) -> None:
    text = TWO.replace('duration = "60 ms"', 'duration = "20 ms"').replace('warmup = "20 ms"', 'warmup = "5 ms"')
    # Between XOFF and the end of the buffer is room for the frames of some 20 ms of the machine. A process may be as
    # late now and then, even if 99 % of the frames are in time.
    text = text.replace("time_scale = 100", "time_scale = 400")
    if flow_control:
        text = text.replace("[testbed]", '[pfc]\nxoff = "40 KB"\n\n[testbed]')
    scenario = Scenario.from_toml(text)
    simulated = scenario.run(scheme="none")
    measured = run(scenario, scheme="none")
    totals = measured.summary["totals"]
    # A pause that leaves late needs more room than the scenario has.
    use_only_if_valid(measured)
    assert (totals["frames_dropped"] == 0) == flow_control
    assert (simulated.summary["totals"]["frames_dropped"] == 0) == flow_control
    assert throughput(measured) == pytest.approx(throughput(simulated), rel=0.05)
    if flow_control:
        # Both inputs are stopped in turn, as often as in the simulator: the distance from XOFF to XON sets the pace.
        assert totals["pause_frames"] == pytest.approx(simulated.summary["totals"]["pause_frames"], rel=0.5)
        assert queue_median(measured) == pytest.approx(queue_median(simulated), rel=0.15)
    nothing_left()


@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize("scheme", ["efecn", "e2cm"])
@in_real_time
def test_probes_come_back_from_their_destinations(scheme: str) -> None:
    text = TWO.replace('duration = "60 ms"', 'duration = "40 ms"').replace('warmup = "20 ms"', 'warmup = "10 ms"')
    result = run(Scenario.from_toml(text), scheme=scheme)
    assert result.summary["totals"]["feedback_frames"] > 10
    # E-FECN's signals say which are BCN(0,0), E2CM's which are probes that have come back.
    kinds = result.column("signals", "bcn_00" if scheme == "efecn" else "probe")
    assert (kinds == (0 if scheme == "efecn" else 1)).sum() > 10
    nothing_left()


@pytest.mark.usefixtures("namespaces")
@in_real_time
def test_applications_run_unchanged(tmp_path: Path) -> None:
    application = '\n[[testbed.application]]\nhost = "h0"\nrun = "ping -c 3 -i 0.2 {h2}"\nstart = "500 ms"\n'
    text = TWO.replace('duration = "60 ms"', 'duration = "25 ms"').replace("[testbed]", '[testbed]\nflows = "none"')
    result = run(Scenario.from_toml(text + application), scheme="none", keep=tmp_path)
    said = (tmp_path / "application-0.txt").read_text()
    assert "3 received" in said, said
    # There and back through four links of 1 ms.
    least = float(said.rpartition("= ")[2].split("/")[0])
    assert least >= 4.0
    assert result.summary["totals"]["frames_sent"] == 0
    nothing_left()


def test_a_congestion_control_that_the_kernel_lacks_is_refused() -> None:
    with pytest.raises(TestbedError, match=r"no congestion control nosuch .*; it has .*reno") as caught:
        linux.check(congestion=["reno", "nosuch"])
    assert "modprobe tcp_nosuch" in caught.value.hint


SENDERS = {
    # It never finds its receiver, and is started again and again until the end.
    "never": ("echo no way there; exit 1", "does not come up: no way there"),
    # It finds it, sends for a while, and dies.
    "early": ("sleep 1.3; echo has had enough; exit 1", "ended early: has had enough"),
}


@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize("kind", sorted(SENDERS))
def test_a_run_whose_senders_fail_is_invalid(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    does, said = SENDERS[kind]
    fake = tmp_path / "iperf3"
    fake.write_text(f'#!/bin/sh\ncase "$1" in -s) exec sleep 60 ;; esac\n{does}\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    text = TWO.replace('duration = "60 ms"', 'duration = "25 ms"').replace('warmup = "20 ms"', 'warmup = "5 ms"')
    (tmp_path / "two.toml").write_text(text)
    command = [sys.executable, "-m", "penstock", "testbed", "run", "two.toml", "--out", "out"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1, done.stderr
    assert "this run is invalid: its figures must not be used" in done.stderr
    about = Result.open(tmp_path / "out").summary["testbed"]
    assert not about["valid"]
    for flow in ("f0", "f1"):
        assert f"The sender of flow {flow} {said}." in about["faults"]


def test_a_sender_that_comes_up_late_is_no_fault(tmp_path: Path) -> None:
    layout = lay_out(resolved(TWO))
    applications = Applications(layout, cast("Any", None), State("pt-1-aaaa", "x", (1, 1), ""), tmp_path)
    begun: list[str] = []

    def start(host: str, command: list[str], name: str) -> subprocess.Popen[bytes]:
        (tmp_path / f"{name}.txt").write_text("no receiver")
        begun.append(name)
        return subprocess.Popen(["false" if len(begun) == 1 else "sleep", "60"])

    applications._run = start  # type: ignore[method-assign]
    flow = layout["flows"][0]
    applications._send(flow, 0.0)
    applications._senders[0][1].wait()
    applications.step(0.02)
    assert applications.faults() == ["The sender of flow f0 does not come up: no receiver."]
    for now_s in (0.1, 0.2, 0.5):
        applications.step(now_s)
    assert len(begun) == 2
    assert applications.faults() != [], "it has not lived long enough yet"
    applications.step(1.5)
    assert applications.faults() == []
    applications._senders[0][1].kill()
    applications._senders[0][1].wait()


@pytest.mark.parametrize("ignoring", [False, True], ids=["ends-at-sigterm", "ignores-sigterm"])
def test_processes_are_ended_though_an_interrupt_left_a_lock_taken(ignoring: bool) -> None:
    program = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(600)"
    process = subprocess.Popen(
        [sys.executable, "-c", program if ignoring else program.replace("SIG_IGN", "SIG_DFL")], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    # A KeyboardInterrupt in Popen.poll, behind the line that takes it and before the block that gives it back.
    process._waitpid_lock.acquire()  # type: ignore[attr-defined]
    _terminate(process)
    assert os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG) is not None
    process._waitpid_lock.release()  # type: ignore[attr-defined]
    _terminate(process)
    process.stdout.close()


@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_that_is_ended_leaves_nothing(number: signal.Signals, status: int, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(TWO.replace("60 ms", "600 ms"))
    command = [sys.executable, "-m", "penstock", "testbed", "run", "two.toml", "--quiet", "--out", "out"]
    victim = subprocess.Popen(command, cwd=tmp_path)
    records = cleanup._folder()
    limit = time.monotonic() + 60
    running = False
    while not running and time.monotonic() < limit:
        time.sleep(0.1)
        for file in records.glob(f"pt-{victim.pid}-*.json"):
            logs = list(Path(json.loads(file.read_text())["folder"]).glob("sw0.jsonl"))
            running = any(log.stat().st_size > 0 for log in logs)
    assert running
    victim.send_signal(number)
    assert victim.wait(60) == status
    assert list(linux.NAMESPACES.glob(f"pt-{victim.pid}-*")) == []
    assert list(records.glob(f"pt-{victim.pid}-*")) == []
    # Ctrl-C keeps the records.
    assert (tmp_path / "out").exists() == (number == signal.SIGINT)
    if number == signal.SIGINT:
        assert 0 < Result.open(tmp_path / "out").summary["interrupted_at_s"] < 0.6


@pytest.mark.usefixtures("namespaces")
def test_an_interrupt_within_the_removal_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    state = State.new("two")
    state.save()
    for host in ("h0", "h1"):
        linux.ip("netns", "add", f"{state.prefix}-{host}")
    calls = []

    def interrupted(*words: str) -> None:
        calls.append(words)
        if len(calls) == 1:
            raise KeyboardInterrupt
        linux._run(["ip", *words], None)

    monkeypatch.setattr(linux, "ip", interrupted)
    with pytest.raises(KeyboardInterrupt):
        runner._remove(state)
    assert cleanup.namespaces(state.prefix) == []
    assert not state.file.exists()
    assert not Path(state.folder).exists()


@pytest.mark.usefixtures("namespaces")
def test_a_killed_run_leaves_nothing_for_long(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A separate folder of records: `down` is to end no other testbed of this user.
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
    (tmp_path / "two.toml").write_text(TWO)
    command = [sys.executable, "-m", "penstock", "testbed", "run", "two.toml", "--quiet"]
    victim = subprocess.Popen(command, cwd=tmp_path)
    own = f"pt-{victim.pid}"

    def made() -> list[str]:
        return sorted(path.name for path in linux.NAMESPACES.glob(f"{own}-*"))

    limit = time.monotonic() + 60
    while not any(name.endswith("-h2") for name in made()) and time.monotonic() < limit:
        time.sleep(0.05)
    assert made()
    (state,) = (json.loads(file.read_text()) for file in cleanup._folder().glob(f"{own}-*.json"))
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    # Its processes die with it; its namespaces stay until someone looks.
    while any(started(number) == start for number, start in state["processes"]) and time.monotonic() < limit:
        time.sleep(0.05)
    assert not any(started(number) == start for number, start in state["processes"])
    subprocess.run([sys.executable, "-m", "penstock", "testbed", "down"], check=True, timeout=60)
    assert made() == []
    assert list(cleanup._folder().glob(f"{own}-*")) == []
    assert not Path(state["folder"]).exists()
    assert list(tmp_path.iterdir()) == [tmp_path / "two.toml"]


@pytest.mark.usefixtures("namespaces")
def test_a_probe_that_was_killed_is_removed_by_the_next_look() -> None:
    dies = (
        "import os, signal\n"
        "from penstock.testbed import linux\n"
        "make = linux.ip\n"
        "def ip(*words):\n"
        "    make(*words)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "linux.ip = ip\n"
        "linux.refusal()\n"
    )
    victim = subprocess.Popen([sys.executable, "-c", dies])
    assert victim.wait(60) == -signal.SIGKILL
    left = list(linux.NAMESPACES.glob(f"pt-{victim.pid}-*"))
    assert len(left) == 1
    cleanup.clear()
    assert not left[0].exists()


def test_a_capture_of_a_port_that_is_none_is_refused(tmp_path: Path) -> None:
    scenario = Scenario.from_toml(TWO)
    with pytest.raises(TestbedError, match='there is no port "sw0->h7"') as caught:
        run(scenario, out=tmp_path / "out", pcap=["sw0->h2", "sw0->h7"])
    assert caught.value.unsuited
    assert caught.value.hint.startswith('did you mean "sw0->h')
    with pytest.raises(TestbedError, match="the run has none"):
        run(scenario, pcap="sw0->h2")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("namespaces")
@in_real_time
def test_a_capture_has_every_frame_with_the_simulators_numbers(tmp_path: Path) -> None:
    text = TWO.replace('duration = "60 ms"', 'duration = "30 ms"').replace('warmup = "20 ms"', 'warmup = "5 ms"')
    scenario = Scenario.from_toml(text)
    ports = ["sw0->h2", "sw0->h0", "sw0->h1"]
    result = run(scenario, out=tmp_path / "out", pcap=ports)
    nothing_left()
    use_only_if_valid(result)
    simulated = tmp_path / "simulated"
    scenario.run(out=simulated, pcap=ports)
    seen: dict[str, dict[str, set[tuple[int, int]]]] = {}
    for folder in (tmp_path / "out", simulated):
        kinds: dict[str, set[tuple[int, int]]] = {"cnm": set(), "data": set()}
        frames = [(captured, captured.decode()) for captured in wire.read(folder / "capture.pcapng")]
        times = [captured.time_ns or 0 for captured, _ in frames]
        assert times == sorted(times)
        assert 0.02e9 < times[-1] < 0.031e9, "times are the network's"
        for captured, frame in frames:
            assert frame.faults == []
            if "cn_tag" in frame:
                kind = "cnm" if "cnm" in frame else "data"
                number = int(frame["cn_tag"].flow_identifier)
                assert captured.interface_name == (f"sw0->h{number - 1}" if kind == "cnm" else "sw0->h2")
                kinds[kind].add((int(frame["vlan"].pcp), number))
        seen[folder.name] = kinds
        if folder.name == "out":
            delivered = sum(flow["frames_delivered"] for flow in result.summary["flows"])
            captured_data = sum("cn_tag" in frame and "cnm" not in frame for _, frame in frames)
            # Some are in flight from the wire to the interface when the run ends: more on a busy machine.
            assert delivered <= captured_data <= delivered + 100
    # One filter fits both: priorities and flows have the same numbers on the wire as in the simulator's capture.
    assert seen["out"] == seen["simulated"] == {"cnm": {(6, 1), (6, 2)}, "data": {(0, 1), (0, 2)}}


@pytest.mark.usefixtures("namespaces")
@in_real_time
def test_flows_with_a_size_end(tmp_path: Path) -> None:
    scenario = Scenario.named("testbed/two-connections").set("duration", "5 s").set("warmup", "100 ms")
    scenario.set("flow.0.size", "5 MB")
    result = run(scenario, scheme="none", out=tmp_path / "out", keep=tmp_path / "said")
    nothing_left()
    flows = result.summary["flows"]
    took = {flow["name"]: flow["completion_time_s"] or 0.0 for flow in flows}
    ends_s = result.column("completions", "end_s") - result.column("completions", "start_s")
    assert list(ends_s) == pytest.approx(list(took.values()))
    for name in took:
        assert (tmp_path / "said" / f"{name}.sender.txt").read_text() == "5000000 octets have arrived\n"
    # 10 MB and their headers take 0.84 s at 100 Mb/s.
    first_s, last_s = sorted(took.values())
    assert 0.8 < last_s < 4
    # The one that is left has the line's share, and none when it has ended.
    times, shares = (result.column("rates", name) for name in ("time_s", "fair_rate_bps"))
    assert max(shares[times < first_s]) < 51e6
    assert max(shares[times > last_s]) == 0
    for flow in flows:
        # 5 MB of data over the time of the flow alone, less that in the warm-up.
        assert flow["goodput_bps"] == pytest.approx(40e6 / took[flow["name"]], rel=0.25)
    names = result.rates.column("flow").to_pylist()
    assert all(
        rate == 0
        for name, at, rate in zip(names, times, result.column("rates", "rate_bps"), strict=True)
        if at > took[name]
    )
