"""Schemes of shared libraries and of classes in Python: the bytes of the native one, and what becomes of wrong ones."""

import json
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock import ArgumentError, theory
from penstock.catalogue import about

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples/foreign"
INCLUDE = ROOT / "crates/foreign/include"


def scenario(scheme: "str | type[penstock.Scheme]" = "dctcp", **more: object) -> penstock.Scenario:
    """Four sources in one port of 10 Gb/s for 3 ms."""
    settings: dict[str, Any] = {
        "question": "Which window do four sources get?",
        "duration": "3 ms",
        "topology": {"star": {"hosts": 5, "link_rate": "10 Gbps", "link_delay": "5 us", "buffer": "300 KB"}},
        "flow": [{"from": "h0..h3", "to": "h4"}],
        "record": {"interval": "100 us"},
    }
    return penstock.Scenario(scheme=scheme, **settings | more)


def build(source: str | Path, folder: Path, *flags: str) -> str:
    """Build a library of a file, or of a text in C: its location."""
    if isinstance(source, str):
        path = folder / "scheme.c"
        path.write_text(source)
        source = path
    library = folder / f"lib{source.stem}.so"
    command = ["cc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{INCLUDE}"]
    subprocess.run([*command, *flags, "-o", library, source], check=True)
    return str(library)


def numbers(result: penstock.Result) -> str:
    """The summary without names and times of the machine."""
    summary = json.loads(result.summary_json)
    for key in ("run", "scheme", "priorities"):
        summary.pop(key, None)
    return re.sub("(dctcp|dcqcn|theta-powertcp)-(c|py)", r"\1", json.dumps(summary))


def columns(result: penstock.Result, table: str) -> dict[str, list[Any]]:
    """A table's columns, those of the scheme too."""
    found = getattr(result, table)
    return {name: found[name].to_pylist() for name in found.column_names}


def test_a_library_gives_the_bytes_of_the_native_scheme(tmp_path: Path) -> None:
    native = scenario().run(seed=1)
    library = scenario().run(scheme=build(EXAMPLES / "dctcp.c", tmp_path), seed=1)
    assert numbers(library) == numbers(native)
    for table in ("queues", "rates", "flows"):
        assert columns(library, table) == columns(native, table), table
    marked = columns(native, "queues")["cp_marked_frames_total"]
    assert max(number or 0 for number in marked) > 100, "the network is congested"


QUICK = {
    "k_min": "5 KB",
    "k_max": "40 KB",
    "p_max": 0.3,
    "cnp_interval": "19.2 us",
    "g_inverse": 16,
    "alpha0": 0.3,
    "alpha_time": "40 us",
    "f": 2,
    "byte_reset": "60 KB",
    "time_reset": "30 us",
    "r_ai": "15 Mbps",
    "r_hai": "70 Mbps",
    "min_rate": "120 Mbps",
}
"""Parameters of DCQCN with which 6 ms have all stages of the increase."""


@pytest.mark.parametrize("parameters", [{}, QUICK], ids=["default", "quick"])
def test_dcqcn_in_c_gives_the_bytes_of_the_native_scheme(tmp_path: Path, parameters: dict[str, object]) -> None:
    library = build(EXAMPLES / "dcqcn.c", tmp_path)

    def run(scheme: str, name: str) -> penstock.Result:
        return scenario(
            scheme,
            duration="6 ms",
            flow=[
                {"from": "h0..h1", "to": "h4"},
                {"from": "h2", "to": "h4", "start": "1 ms", "stop": "2.5 ms"},
                {"from": "h3", "to": "h4", "traffic": "constant", "rate": "1 Gbps", "controlled": False},
            ],
            schemes={name: parameters},
            change=[{"at": "4 ms", "schemes": {name: {"min_rate": "3 Gbps"}}}],
            record={"interval": "20 us"},
        ).run(seed=1)

    native, own = run("dcqcn", "dcqcn"), run(library, "dcqcn-c")
    assert numbers(own) == numbers(native)
    for table in ("queues", "rates", "flows"):
        assert columns(own, table) == columns(native, table), table
    rates = columns(own, "rates")
    first = [rate for flow, rate in zip(rates["flow"], rates["rate_bps"], strict=True) if flow == "f0" and rate]
    assert min(first) < 3e9 and len(set(first)) > 20, "the rate moves"
    assert min(first[-50:]) >= 3e9, "the change holds"
    both = zip(rates["rp_byte_stage"], rates["rp_time_stage"], strict=True)
    stages = [min(pair) for pair in both if None not in pair]
    assert (max(stages) > 2) == bool(parameters), "with short cycles there is Hyper-Active Increase"


def incast(senders: int, **parameters: object) -> Any:
    """The summary of Theta-PowerTCP where senders share a port of 10 Gb/s at a round trip of 82.4 us."""
    case = scenario(
        f"{EXAMPLES}/theta_powertcp.py:ThetaPowerTCP",
        duration="12 ms",
        warmup="4 ms",
        schemes={"theta-powertcp-py": parameters},
        topology={"star": {"hosts": senders + 1, "link_rate": "10 Gbps", "link_delay": "20 us", "buffer": "2 MB"}},
        flow=[{"from": f"h0..h{senders - 1}", "to": f"h{senders}", "stagger": "3 us"}],
    )
    return case.run(seed=1).summary


@pytest.mark.parametrize(("senders", "flows"), [(4, 10), (4, 20), (8, 10)])
def test_the_queue_of_theta_powertcp_rests_at_the_sum_of_beta(senders: int, flows: int) -> None:
    summary = incast(senders, flows=flows)
    # Four links of 20 us and two times 1.2 us for a frame: 82.4 us, in which 10 Gb/s have 103 000 octets.
    assert summary["queues"][0]["mean_octets"] == pytest.approx(senders * 103_000 / flows, rel=0.1)
    assert summary["queues"][0]["utilization"] > 0.99
    shares = [flow["throughput_bps"] for flow in summary["flows"]]
    assert shares == pytest.approx([10e9 / senders] * senders, rel=0.1)


def test_without_the_least_load_theta_powertcp_swings() -> None:
    queue = incast(8, load=0.01)["queues"][0]
    assert queue["mean_octets"] > 3 * 8 * 103_000 / 10
    assert queue["std_octets"] > 100_000


def test_a_class_gives_the_bytes_of_the_native_scheme() -> None:
    native, own = (scenario().run(scheme=scheme, seed=1) for scheme in (None, f"{EXAMPLES}/dctcp.py:Dctcp"))
    assert numbers(own) == numbers(native)
    for table in ("queues", "rates", "flows"):
        of_own, of_native = columns(own, table), columns(native, table)
        assert of_own == {name: column for name, column in of_native.items() if name in of_own}, table
    assert native.python_share is None
    assert own.python_share is not None and 0.05 < own.python_share < 1


def test_theta_powertcp_gives_the_numbers_of_the_native_scheme() -> None:
    # The class paces by what is left of a gap, and lets whole frames go.
    like = {"theta-powertcp": {"gate": "whole", "gap": "rest"}}
    native = scenario("theta-powertcp", schemes=like).run(seed=1)
    own = scenario(f"{EXAMPLES}/theta_powertcp.py:ThetaPowerTCP").run(seed=1)
    assert numbers(own) == numbers(native)
    other = scenario("theta-powertcp", schemes={"theta-powertcp": {**like["theta-powertcp"], "gamma": 0.8}}).run(seed=1)
    assert numbers(other) != numbers(native)


def test_parameters_are_keys_of_the_scheme(tmp_path: Path) -> None:
    library = build(EXAMPLES / "dctcp.c", tmp_path)
    small = scenario(library, schemes={"dctcp-c": {"k": "30 KB"}})
    resolved = small.resolved()
    assert f'scheme = "{library}"' in resolved
    assert "[schemes.dctcp-c]" in resolved and 'k = "30 KB"' in resolved
    same = scenario(schemes={"dctcp": {"k": "30 KB"}}).run(seed=1)
    assert numbers(small.run(seed=1)) == numbers(same)
    with pytest.raises(penstock.ScenarioError, match=r"schemes\.dctcp-c\.k: "):
        scenario(library, schemes={"dctcp-c": {"k": "1 B"}}).resolved()
    with pytest.raises(penstock.ScenarioError, match=r"schemes\.dctcp-c\.kk"):
        scenario(library, schemes={"dctcp-c": {"kk": "30 KB"}}).resolved()


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            ".version = PENSTOCK_SCHEME_VERSION",
            ".version = 0",
            "an older interface: version 0, and this Penstock has 1",
        ),
        (".version = PENSTOCK_SCHEME_VERSION", ".version = 2", "a newer interface: version 2, and this Penstock has 1"),
        (".size = sizeof(penstock_scheme)", ".size = 8", "its description has 8 octets instead of 360"),
        (".rp_on_ack = rp_on_ack,", "", "the function rp_on_ack is missing, which a scheme that acknowledges needs"),
        ('.name = "dctcp-c"', '.name = "dctcp"', 'calls its scheme "dctcp", which is one of Penstock'),
        ('.name = "dctcp-c"', '.name = "DC TCP"', 'the name "DC TCP" is not legal'),
        ("{97500}, {64}", "{9}, {64}", "parameter k: 9 octets is not within 64 octets to 1 GB"),
        (
            "penstock_scheme_describe(void) {",
            "other(void);const penstock_scheme *other(void) {",
            "has no function penstock_",
        ),
    ],
)
def test_a_wrong_library_is_refused(tmp_path: Path, before: str, after: str, message: str) -> None:
    text = (EXAMPLES / "dctcp.c").read_text()
    assert before in text
    library = build(text.replace(before, after), tmp_path, "-Wno-unused-function", "-Wno-error")
    with pytest.raises(penstock.ScenarioError) as refused:
        scenario().resolved(scheme=library)
    assert message in str(refused.value)
    assert library in str(refused.value) and refused.value.hint


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            "limits->limiting = own->ssthresh < UINT64_MAX;\n}\n\nstatic void rp_on_silence",
            "limits->rate = -5;\n}\n\nstatic void rp_on_silence",
            "rp_on_ack sets the rate to -5 bit/s",
        ),
        (
            "    tag->label = PENSTOCK_ECN;",
            "limits->rate = INT64_C(20000000000);",
            "rp_on_send sets the rate to 20000000000 bit/s",
        ),
        ("    tag->label = PENSTOCK_ECN;", "limits->window = -2;", "rp_on_send sets the window to -2 octets"),
    ],
)
def test_a_library_that_breaks_a_rule_ends_the_run(tmp_path: Path, before: str, after: str, message: str) -> None:
    text = (EXAMPLES / "dctcp.c").read_text()
    assert before in text
    library, out = build(text.replace(before, after), tmp_path, "-Wno-unused-parameter"), tmp_path / "out"
    with pytest.raises(penstock.ScenarioError) as ended:
        scenario().run(scheme=library, out=out)
    assert message in str(ended.value) and ended.value.file == library
    assert not out.exists()


def test_no_library_and_no_class(tmp_path: Path) -> None:
    text = tmp_path / "text.so"
    text.write_text("no library")
    (tmp_path / "own.py").write_text("import penstock\nclass Own(penstock.Scheme):\n    pass\n")
    (tmp_path / "bad.py").write_text("x = 1\n1 / 0\n")
    for place, message in (
        (f"{tmp_path}/none.so", "none.so: no such file"),
        (str(text), "cannot be loaded"),
        (f"{tmp_path}/none.py:Own", "none.py: no such file"),
        (f"{tmp_path}/own.py:Other", "has no scheme Other"),
        (f"{tmp_path}/bad.py:Own", "bad.py:2: ZeroDivisionError"),
        (f"{tmp_path}/own.txt", "neither a shared library nor a class"),
    ):
        with pytest.raises(penstock.ScenarioError) as refused:
            scenario().resolved(scheme=place)
        assert message in str(refused.value), place
        assert refused.value.hint


def changed(tmp_path: Path, before: str, after: str) -> str:
    """DCTCP in Python with a change: its place."""
    text = (EXAMPLES / "dctcp.py").read_text()
    assert before in text
    (tmp_path / "mine.py").write_text(text.replace(before, after))
    return f"{tmp_path}/mine.py:Dctcp"


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("self.sent += release.octets", "1 / (release.seq - 15000)", "ZeroDivisionError: division by zero"),
        ("self.sent += release.octets", "self.rate = float('nan')", "ValueError: rate is nan"),
        ("self.sent += release.octets", "self.rate = -1", "ValueError: rate is -1"),
        ("self.sent += release.octets", "self.window = 'wide'", "ValueError: window is wide"),
        ("self.sent += release.octets", "return 1, 2, 3, 4, 5", "ValueError: 5 numbers"),
    ],
)
def test_an_exception_ends_the_run_with_the_line(tmp_path: Path, before: str, after: str, message: str) -> None:
    place, out = changed(tmp_path, before, after), tmp_path / "out"
    with pytest.raises(penstock.ScenarioError) as ended:
        scenario().run(scheme=place, out=out)
    lines = (tmp_path / "mine.py").read_text().splitlines()
    at = next(i for i, line in enumerate(lines, 1) if after in line)
    assert message in str(ended.value)
    assert ended.value.file == str(tmp_path / "mine.py")
    # A value that is refused after the method has the line of the method.
    assert ended.value.line in (at, at - 1)
    assert not out.exists()
    again = scenario().run(scheme=f"{EXAMPLES}/dctcp.py:Dctcp", seed=1)
    assert again.summary["duration_s"] == 0.003, "the next run is a run"


def command(tmp_path: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a folder with the scenario."""
    (tmp_path / "four.toml").write_text(scenario().to_toml())
    words, of_all = [sys.executable, "-m", "penstock", *arguments], os.environ | environment
    return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False, env=of_all)


@pytest.mark.machine
def test_a_library_that_does_not_return_ends_the_process(tmp_path: Path) -> None:
    text = (EXAMPLES / "dctcp.c").read_text()
    build(
        text.replace("own->settled += ack->acked", "for (volatile int i = 1; i;) {}\n    own->settled += ack->acked"),
        tmp_path,
    )
    ended = command(tmp_path, "run", "four.toml", "--scheme", "./libscheme.so", "--out", "out", "--no-figures")
    assert ended.returncode == 2
    assert "./libscheme.so: rp_on_ack has not returned for 10 s: the process ends" in ended.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.machine
def test_a_crash_is_reported(tmp_path: Path) -> None:
    text = (EXAMPLES / "dctcp.c").read_text()
    before = "own->settled += ack->acked"
    build(text.replace(before, f"*(volatile int *)8 = 1;\n    {before}"), tmp_path, "-Wno-error")
    ended = command(tmp_path, "run", "four.toml", "--scheme", "./libscheme.so", "--out", "out", "--no-figures")
    assert ended.returncode == -signal.SIGSEGV
    assert "Segmentation fault" in ended.stderr
    assert not (tmp_path / "out").exists()


def sanitized(tmp_path: Path, source: str) -> subprocess.CompletedProcess[str]:
    """Run a scheme in C under the sanitizers of addresses and undefined behaviour."""
    ask = [["cc", f"-print-file-name={library}"] for library in ("libasan.so", "libubsan.so")]
    preload = [subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip() for words in ask]
    if not all(Path(library).is_absolute() for library in preload):
        pytest.skip("the compiler has no sanitizers as shared libraries")
    build(source, tmp_path, "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
    words = ["run", "four.toml", "--scheme", "./libscheme.so", "--no-figures", "--out", "out"]
    # The interpreter keeps memory to its end.
    return command(tmp_path, *words, LD_PRELOAD=":".join(preload), ASAN_OPTIONS="detect_leaks=0")


@pytest.mark.machine
@pytest.mark.parametrize("name", ["aimd.c", "dctcp.c", "dcqcn.c"])
def test_sanitizers_find_nothing_in_an_example(tmp_path: Path, name: str) -> None:
    run = sanitized(tmp_path, (EXAMPLES / name).read_text())
    assert run.returncode == 0, run.stderr


@pytest.mark.machine
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("((volatile rp *)point)[1].line = 1;", "heap-buffer-overflow"),
        ("volatile int i = 64; i = 1 << i;", "shift exponent 64 is too large"),
    ],
)
def test_sanitizers_find_what_is_wrong(tmp_path: Path, wrong: str, message: str) -> None:
    before, text = "tag->label = PENSTOCK_ROCE;", (EXAMPLES / "dcqcn.c").read_text()
    assert before in text
    run = sanitized(tmp_path, text.replace(before, f"{before} {wrong}"))
    assert run.returncode != 0
    assert message in run.stderr


@pytest.mark.machine
def test_a_method_that_does_not_return_is_ended(tmp_path: Path) -> None:
    changed(tmp_path, "self.sent += release.octets", "while True: pass")
    ended = command(tmp_path, "run", "four.toml", "--scheme", "mine.py:Dctcp", "--out", "out", "--no-figures")
    assert ended.returncode == 2
    line = (tmp_path / "mine.py").read_text().split("while True")[0].count("\n") + 1
    assert f"mine.py:{line}: scheme: the method has not returned for 10 s" in ended.stderr
    assert not (tmp_path / "out").exists()


def test_the_command_line_takes_locations(tmp_path: Path) -> None:
    build(EXAMPLES / "dctcp.c", tmp_path)
    (tmp_path / "own.py").write_text((EXAMPLES / "dctcp.py").read_text())
    run = command(tmp_path, "run", "four.toml", "--scheme", "own.py:Dctcp", "--no-figures")
    assert run.returncode == 0, run.stderr
    assert "% of the time went into the methods of the scheme in Python" in run.stderr
    assert (tmp_path / "results/four-Dctcp-seed1/summary.json").is_file()
    names = "dctcp,./libdctcp.so,own.py:Dctcp"
    both = command(tmp_path, "compare", "four.toml", "--schemes", names, "--out", "both")
    assert both.returncode == 0, both.stderr
    assert "dctcp-c" in both.stdout and "dctcp-py" in both.stdout
    swept = command(
        tmp_path, "sweep", "four.toml", "--schemes", names, "--vary", "duration=1 ms,2 ms", "--out", "swept"
    )
    assert swept.returncode == 0, swept.stderr


def test_the_catalogue_knows_a_scheme_by_its_location(tmp_path: Path) -> None:
    library = build(EXAMPLES / "dctcp.c", tmp_path)
    entry = about(library)
    assert (entry["name"], entry["fluid"], entry["profiles"]) == ("dctcp-c", None, [])
    assert entry["parameters"][0]["name"] == "k"
    assert about("dctcp-c") == entry
    with pytest.raises(ArgumentError, match="no such file"):
        about(f"{tmp_path}/libnothing.so")
    with pytest.raises(ArgumentError, match=r"dctpc: unknown scheme; did you mean dctcp"):
        about("dctpc")
    with pytest.raises(theory.UnsuitedScenarioError, match="there is no fluid model of dctcp-c"):
        theory.margins(scenario(), scheme=library)


def test_two_threads_run_two_libraries(tmp_path: Path) -> None:
    library = build(EXAMPLES / "dctcp.c", tmp_path)
    alone = numbers(scenario().run(scheme=library, seed=1))
    with ThreadPoolExecutor(2) as pool:
        names = [library, f"{EXAMPLES}/dctcp.py:Dctcp"] * 2
        runs = [pool.submit(scenario().run, scheme=name, seed=1) for name in names]
        assert [numbers(run.result()) for run in runs] == [alone] * 4


@pytest.mark.parametrize("name", ["aimd.c", "red.cpp"])
def test_a_template_builds_and_runs(tmp_path: Path, name: str) -> None:
    library = tmp_path / "libown.so"
    compiler = "c++" if name.endswith("cpp") else "cc"
    words = [compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{INCLUDE}", "-o", str(library)]
    subprocess.run([*words, str(EXAMPLES / name)], check=True)
    assert len((EXAMPLES / name).read_text().splitlines()) < 100
    summary = scenario().run(scheme=str(library), seed=1).summary
    assert summary["scheme"] == name.split(".")[0]
    assert summary["jain_index"] > 0.5


def test_the_code_of_the_page_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs/how-to/write-a-scheme-in-python-or-c.md").read_text()
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "halving.py").write_text(block)
    changed = {"schemes.halving.k": "30 KB"}
    own = scenario(f"{tmp_path}/halving.py:Halving").with_(changed).run(seed=1)
    assert own.summary["scheme"] == "halving"
    assert own.summary["actions"]
