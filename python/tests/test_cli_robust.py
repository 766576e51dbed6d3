"""Requests that cannot be met, and events that were not foreseen: a message and a status, never a traceback."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import SMALL, Command
from typer.testing import CliRunner

from penstock import OutputError, Result, Scenario
from penstock.cli import app
from penstock.terminal import printable, printable_json

EVIL = "\x1b[31mred\x9b2J\u202e"


def ask(*arguments: str | Path) -> tuple[int, str, str]:
    """Return the status of a command in this process, and what it says on either stream."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture
def here(small: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder with the small scenario, which is the working directory."""
    monkeypatch.chdir(small.parent)
    return small.parent


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("compare small.toml --seeds 1000000000", "--seeds"),
        ("tune small.toml --goal latency --seeds 1000000000", "--seeds"),
        ("tune small.toml --goal latency --verdict-seeds 1000000000", "--verdict-seeds"),
        ("tune small.toml --goal latency --trials 1000000000", "--trials"),
        ("theory overlay small.toml --seeds 1000000000", "--seeds"),
        ("theory overlay small.toml --seeds 10000 --set duration=100s", "too many"),
        ("reproduce --jobs 1000000000", "--jobs"),
        ("theory phase small.toml --duration inf", "--duration"),
        ("theory phase small.toml --duration nan", "--duration"),
        ("theory sliding small.toml --offset inf", "--offset"),
        ("theory sliding small.toml --target nan", "--target"),
        ("theory margin small.toml --at inf", "--at"),
        ("theory sliding small.toml --simulate", "no period is longer than 300 ms"),
        ("theory map small.toml --x flows=2..4:1000000000 --y delay=1us..1ms", "points"),
        (f"theory map small.toml --x flows=2..4:{'9' * 5000} --y delay=1us..1ms", "points"),
        ("theory map small.toml --x flows=2..2000000:3 --y delay=1us..1ms", "a count is at most"),
        ("theory map small.toml --x flows=2..1e308:3 --y delay=1us..1ms", "has an exponent"),
        ("theory map small.toml --x flows=2..4:2 --y delay=1us..1ms:2 --simulate 1000000000", "--simulate"),
        ("theory map small.toml --x flows=2..4:2 --y delay=1us..1ms:2 --out m.txt", "unknown type of file"),
        ("theory map small.toml --x flows=2..4:2 --y delay=1us..1ms:2 --out .", "unknown type of file"),
        ("theory map small.toml --x flows=2..4:2 --y delay=1us..1ms:2 --out folder.png", "is a folder"),
        ("theory map small.toml --x flows=2..4:2 --y delay=1us..1ms:2 --out small.toml/m.png", "is a file"),
        ("theory overlay small.toml --out folder.png", "is a folder"),
        ("theory phase small.toml --out small.toml/m.png", "is a file"),
        (f"theory phase small.toml --out {'x' * 300}.png", "too long"),
        (f"tune small.toml --goal latency --out {'x' * 300}.toml", "too long"),
        ("tune small.toml --goal latency --out small.toml/m.toml", "is a file"),
        (f"run small.toml --out {'x' * 300}", "too long"),
        (f"compare small.toml --schemes qcn --out {'x' * 300}", "too long"),
        ("run small.toml --out small.toml/x", "is a file"),
        (f"run {'x' * 300}", ""),
        (f"theory margin {'x' * 300}.toml", ""),
    ],
)
def test_refused_before_the_work(arguments: str, words: str, here: Path) -> None:
    (here / "folder.png").mkdir()
    status, stdout, stderr = ask(*arguments.split())
    assert status == 2, stderr
    assert words in stderr
    assert stdout == ""
    assert "Traceback" not in stderr
    assert {path.name for path in here.iterdir()} == {"small.toml", "folder.png"}


@pytest.mark.parametrize(
    ("arguments", "module", "extra"),
    [
        ("theory phase small.toml", "scipy", "theory"),
        ("theory overlay small.toml", "scipy", "theory"),
        ("theory figures 2", "scipy", "theory"),
        ("tune small.toml --goal latency --trials 1", "optuna", "tune"),
    ],
)
def test_a_missing_extra_is_named(arguments: str, module: str, extra: str, here: Path) -> None:
    # In a separate process: here the modules are loaded already.
    words = (
        f"import sys; sys.modules[{module!r}] = None; sys.argv[1:] = {arguments.split()!r};"
        "from penstock.__main__ import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", words], cwd=here, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"this needs {module}" in done.stderr
    assert f"pip install 'penstock[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_text_from_users_is_no_formula(here: Path) -> None:
    status, _, stderr = ask("run", "small.toml", "--set", r"question=$\frac{1}{2$ and 5$", "--out", "out", "--quiet")
    assert (status, stderr) == (0, "")
    assert (here / "out" / "overview.png").is_file()
    result = Result.open(here / "out")
    assert result.question == r"$\frac{1}{2$ and 5$"


@pytest.mark.parametrize("command", ["run", "compare"])
def test_a_figure_that_fails_loses_no_run(command: str, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise ValueError("no ink")

    monkeypatch.setattr("penstock.figures.write_all", fails)
    monkeypatch.setattr("penstock.figures.write_comparison", fails)
    more = ["--seeds", "2"] if command == "compare" else []
    status, stdout, stderr = ask(command, "small.toml", *more, "--out", "out", "--json")
    assert status == 1
    assert "error: the figures could not be drawn: ValueError: no ink" in stderr
    assert json.loads(stdout)
    assert (here / "out" / ("compare.json" if more else "summary.json")).is_file()


def command(*arguments: str, words: str = "", **options: Any) -> "subprocess.CompletedProcess[bytes]":
    """Run the command line as a process."""
    start = words or "from penstock.__main__ import main; main()"
    return subprocess.run([sys.executable, "-c", start, *arguments], stderr=subprocess.PIPE, check=False, **options)


def test_any_terminal_is_written_to(here: Path) -> None:
    latin = command(
        "run", "small.toml", "--no-figures", "--out", "out",
        stdout=subprocess.PIPE, env={**os.environ, "PYTHONIOENCODING": "latin-1"},
    )  # fmt: skip
    assert latin.returncode == 0, latin.stderr
    assert b"sigma" in latin.stdout and b"1 996" in latin.stdout
    closed = command(
        "schemes",
        words=f"import os; os.execv({sys.executable!r}, [{sys.executable!r}, '-m', 'penstock', 'schemes'])",
        preexec_fn=lambda: os.close(1),
    )
    assert closed.returncode == 1
    assert b"standard output: Bad file descriptor" in closed.stderr
    assert b"Traceback" not in closed.stderr
    for asked in ("schemes", "--help", "--version"):
        with Path("/dev/full").open("wb") as full:
            filled = command(asked, stdout=full)
        assert filled.returncode == 1
        assert filled.stderr == b"error: standard output: No space left on device\n"


def test_a_back_end_of_notebooks_draws_files(here: Path) -> None:
    env = {**os.environ, "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    done = command("run", "small.toml", "--out", "out", "--quiet", env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (here / "out" / "overview.png").is_file()


def test_escape_sequences_are_shown_not_obeyed(penstock: Command, here: Path) -> None:
    (here / f"{EVIL}.toml").write_text(SMALL)
    (here / "broken.toml").write_text(SMALL.replace("hosts = 3", f'"{"ho"}\\u001b[31m" = 3'))
    for arguments in (
        ("run", f"{EVIL}.toml", "--no-figures"),
        ("run", f"{EVIL}no.toml"),
        ("run", "broken.toml"),
        ("compare", f"{EVIL}.toml", "--seeds", "2"),
        ("scenarios", "."),
        ("run", "small.toml", "--seed", EVIL),
        ("theory", "margin", f"{EVIL}.toml"),
    ):
        done = penstock(*arguments)
        for text in (done.stdout, done.stderr):
            assert not {"\x1b", "\x9b", "\u202e"} & set(text), (arguments, text)
            assert "Traceback" not in text


def test_control_characters_are_printed_as_escapes() -> None:
    assert printable("a\tb\nc") == "a\tb\nc"
    assert printable(EVIL) == "\\x1b[31mred\\x9b2J\\u202e"
    text = json.dumps({"name": EVIL}, ensure_ascii=False)
    assert json.loads(printable_json(text)) == {"name": EVIL}
    assert "\x9b" not in printable_json(text)


@pytest.mark.parametrize("name", ["a\nb", EVIL, ".hidden", "back\\slash", "..", "x" * 200, " a ", "$1$"])
def test_a_scenario_of_any_file_name_runs_again(name: str, here: Path) -> None:
    (here / f"{name}.toml").write_text(SMALL)
    first = Scenario.load(here / f"{name}.toml").run(out=here / "out", force=True)
    again = Scenario.load(here / "out" / "scenario.toml").run()
    assert again.fingerprint() == first.fingerprint()
    status, _, stderr = ask("run", f"{name}.toml", "--quiet", "--no-figures")
    assert (status, stderr) == (0, "")


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("scenario.toml", b"\xff"),
        ("summary.json", b"{}"),
        ("summary.json", b"[1"),
        ("queues.parquet", b"PAR1"),
        ("queues.parquet", b""),
        ("flows.parquet", None),
    ],
)
def test_a_damaged_folder_is_told(file: str, content: bytes | None, tmp_path: Path) -> None:
    Scenario.from_toml(SMALL).run(out=tmp_path / "out")
    path = tmp_path / "out" / file
    if content is None:
        path.write_bytes(path.read_bytes()[:-100])
    else:
        path.write_bytes(content)
    with pytest.raises(OutputError, match=file.replace(".", r"\.")):
        opened = Result.open(tmp_path / "out")
        assert opened.question
        for table in opened.tables:
            opened._table(table)


def test_threads_set_keys_of_one_scenario() -> None:
    from concurrent.futures import ThreadPoolExecutor

    scenario = Scenario.from_toml(SMALL)

    def work(thread: int) -> None:
        for number in range(200):
            scenario.set("seed" if thread else "warmup", number + 1 if thread else f"{number} us")
            assert scenario.to_toml()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    plan = scenario.describe()
    assert (plan["seed"], round(plan["warmup_s"] * 1e6)) == (200, 199)
