"""Wrong schemes of files: the message has file and function or line, and nothing waits for longer than is said."""

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from foreign_cases import EXAMPLES, INCLUDE, build, changed, columns, command, numbers, scenario

import penstock
from penstock import _core

FOREVER = "{ extern unsigned sleep(unsigned); for (;;) sleep(1); }"
"""It does not return, and leaves the processor to others."""


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


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("self.sent += release.octets", "1 / (release.seq - 15000)", "ZeroDivisionError: division by zero"),
        ("self.sent += release.octets", "self.rate = float('nan')", "ValueError: rate is nan"),
        ("self.sent += release.octets", "self.rate = -1", "ValueError: rate is -1"),
        ("self.sent += release.octets", "self.window = 'wide'", "ValueError: window is wide"),
        ("self.sent += release.octets", "return 1, 2, 3, 4, 5", "ValueError: 5 numbers"),
        ("self.sent += release.octets", "self.rate = 2e10", "ValueError: rate is 20000000000.0: a number from 0 to"),
        ("self.sent += release.octets", "self.timeout = 'soon'", "ValueError: timeout is soon"),
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


@pytest.mark.machine
def test_a_library_that_does_not_return_ends_the_process(tmp_path: Path) -> None:
    text = (EXAMPLES / "dctcp.c").read_text()
    build(
        text.replace("own->settled += ack->acked", f"{FOREVER}\n    own->settled += ack->acked"),
        tmp_path,
    )
    ended = command(tmp_path, "run", "four.toml", "--scheme", "./libscheme.so", "--out", "out", "--no-figures")
    assert ended.returncode == 2
    assert "./libscheme.so: rp_on_ack has not returned for 10 s: the process ends" in ended.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.machine
@pytest.mark.parametrize(
    ("wrong", "number", "message"),
    [
        ("*(volatile int *)8 = 1;", signal.SIGSEGV, "rp_on_ack has ended the process: SIGSEGV, a wrong address"),
        ("volatile int i = 0; i = 7 / i;", signal.SIGFPE, "rp_on_ack has ended the process: SIGFPE"),
        ("__builtin_trap();", signal.SIGILL, "rp_on_ack has ended the process: SIGILL, an illegal instruction"),
        ("extern void abort(void); abort();", signal.SIGABRT, "rp_on_ack has ended the process: SIGABRT"),
        ("rp_on_ack(point, call, flow, ack, limits);", signal.SIGSEGV, "rp_on_ack has ended the process: SIGSEGV"),
    ],
    ids=["address", "division", "trap", "abort", "stack"],
)
def test_a_crash_is_reported_with_library_and_function(tmp_path: Path, wrong: str, number: int, message: str) -> None:
    text = (EXAMPLES / "dctcp.c").read_text()
    before = "own->settled += ack->acked"
    # Without optimization, which would make a loop of a recursion.
    build(text.replace(before, f"{wrong}\n    {before}"), tmp_path, "-Wno-error", "-O0")
    ended = command(tmp_path, "run", "four.toml", "--scheme", "./libscheme.so", "--out", "out", "--no-figures")
    assert ended.returncode == -number
    assert f"Error: ./libscheme.so: {message}" in ended.stderr
    assert "Fatal Python error" in ended.stderr, "and who called it"
    assert not (tmp_path / "out").exists()


@pytest.mark.machine
def test_a_crash_of_something_else_names_no_library(tmp_path: Path) -> None:
    library = build(EXAMPLES / "dctcp.c", tmp_path)
    code = (
        "import ctypes, penstock, sys\n"
        f"penstock.Scenario.load('four.toml').run(scheme={library!r})\n"
        "ctypes.string_at(8)\n"
    )
    (tmp_path / "four.toml").write_text(scenario().to_toml())
    words = [sys.executable, "-c", code]
    ended = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == -signal.SIGSEGV
    assert "Segmentation fault" in ended.stderr
    assert "libdctcp.so" not in ended.stderr


@pytest.mark.machine
@pytest.mark.parametrize(
    ("wrong", "status", "message"),
    [
        ("*(volatile int *)8 = 1;", -signal.SIGSEGV, "penstock_scheme_describe has ended the process: SIGSEGV"),
        (FOREVER, 2, "penstock_scheme_describe has not returned for 10 s"),
    ],
    ids=["crash", "loop"],
)
def test_a_description_that_does_not_come(tmp_path: Path, wrong: str, status: int, message: str) -> None:
    text = (EXAMPLES / "dctcp.c").read_text()
    build(text.replace("{ return &scheme; }", f"{{ {wrong} return &scheme; }}"), tmp_path, "-Wno-error")
    ended = command(tmp_path, "run", "four.toml", "--scheme", "./libscheme.so", "--out", "out", "--no-figures")
    assert ended.returncode == status
    assert f"Error: ./libscheme.so: {message}" in ended.stderr


@pytest.mark.machine
def test_an_exception_in_cpp_ends_the_process_with_its_function(tmp_path: Path) -> None:
    text = (EXAMPLES / "red.cpp").read_text()
    before = "if (ack->echo.marked) {"
    assert before in text
    (tmp_path / "red.cpp").write_text(text.replace(before, f"if (ack->acked > 0) throw 1;\n    {before}"))
    library = tmp_path / "libred.so"
    subprocess.run(["c++", "-shared", "-fPIC", f"-I{INCLUDE}", "-o", library, tmp_path / "red.cpp"], check=True)
    ended = command(tmp_path, "run", "four.toml", "--scheme", "./libred.so", "--out", "out", "--no-figures")
    assert ended.returncode == 2
    assert "Error: ./libred.so: rp_on_ack has thrown an exception: the process ends" in ended.stderr


CATCHES = """import time
            while True:
                try:
                    time.sleep(0.01)
                except BaseException:
                    pass"""


@pytest.mark.machine
@pytest.mark.parametrize(
    "wrong",
    [
        CATCHES,
        "import time; time.sleep(1000)",
    ],
    ids=["catches", "sleeps"],
)
def test_a_method_that_cannot_be_interrupted_ends_the_process(tmp_path: Path, wrong: str) -> None:
    changed(tmp_path, "self.sent += release.octets", wrong)
    ended = command(tmp_path, "run", "four.toml", "--scheme", "mine.py:Dctcp", "--out", "out", "--no-figures")
    assert ended.returncode == 2
    assert "not returned for 10 s" in ended.stderr
    assert not (tmp_path / "out").exists()


def test_a_timer_in_python_is_cleared_before_its_method(tmp_path: Path) -> None:
    start = "def on_send(self, release):"
    once = """def on_start(self, now, flow):
            self.timeout = now + 10**6

        def on_timer(self, now):
            pass

        """
    place = changed(tmp_path, start, once + start)
    plain = scenario().run(scheme=f"{EXAMPLES}/dctcp.py:Dctcp", seed=1)
    assert columns(scenario().run(scheme=place, seed=1), "rates") == columns(plain, "rates")
    place = changed(tmp_path, start, once.replace("pass", "self.timeout = now") + start)
    with pytest.raises(penstock.ScenarioError, match="a time later than now") as ended:
        scenario().run(scheme=place)
    assert ended.value.line is not None


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
@pytest.mark.parametrize("name", ["aimd.c", "dctcp.c", "dcqcn.c", "qcn.c"])
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
    changed(tmp_path, "self.sent += release.octets", "import time\n            while True: time.sleep(0.01)")
    ended = command(tmp_path, "run", "four.toml", "--scheme", "mine.py:Dctcp", "--out", "out", "--no-figures")
    assert ended.returncode == 2
    line = (tmp_path / "mine.py").read_text().split("while True")[0].count("\n") + 1
    assert f"mine.py:{line}: scheme: the method has not returned for 10 s" in ended.stderr
    assert not (tmp_path / "out").exists()


def test_a_run_of_a_sweep_that_fails_ends_none_of_the_others(tmp_path: Path) -> None:
    place = changed(tmp_path, "self.sent += release.octets", "self.rate = -1")
    swept = penstock.sweep(scenario(duration="1 ms"), {}, schemes=["dctcp", place], seeds=2, out=tmp_path / "swept")
    assert list(swept.to_pandas()["scheme"]) == ["dctcp", "dctcp"]
    reasons = [entry["reason"] for entry in swept.failed]
    assert len(reasons) == 2
    assert all(f"{tmp_path}/mine.py:22: scheme: ValueError: rate is -1" in reason for reason in reasons)


def test_a_run_in_steps_ends_with_the_fault(tmp_path: Path) -> None:
    for place, message in (
        (
            changed(tmp_path, "self.sent += release.octets", "self.rate = -1"),
            "mine.py:22: scheme: ValueError: rate is -1",
        ),
        (
            build(
                (EXAMPLES / "dctcp.c")
                .read_text()
                .replace("    tag->label = PENSTOCK_ECN;", "(void)tag, limits->rate = -5;"),
                tmp_path,
            ),
            "rp_on_send sets the rate to -5 bit/s",
        ),
    ):
        with pytest.raises(penstock.ScenarioError, match=message):
            stepped = _core.Stepper(scenario(duration="1 ms")._core, [], place)
            for _ in range(100):
                stepped.advance(1e-5)


def test_two_threads_run_two_libraries(tmp_path: Path) -> None:
    library = build(EXAMPLES / "dctcp.c", tmp_path)
    alone = numbers(scenario().run(scheme=library, seed=1))
    with ThreadPoolExecutor(2) as pool:
        names = [library, f"{EXAMPLES}/dctcp.py:Dctcp"] * 2
        runs = [pool.submit(scenario().run, scheme=name, seed=1) for name in names]
        assert [numbers(run.result()) for run in runs] == [alone] * 4
