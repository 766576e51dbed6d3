"""Runs the bench of the clock crossing (clock_crossing/tb/crossing.sv) in Verilator; it has to find planted bugs.

    python tools/crossing.py            64 bits: a FIFO that drops, and one that makes its source wait
    python tools/crossing.py --plant    all widths at length, and the planted bugs, each of which must end the bench

The lines between the clocks differ by up to 150 ps, less than any period in the bench. Registers that the constraints
name must be in the sources.
"""

import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cores import BUILD, GENERATED, RTL, TOOLS, place_of

CORE = RTL / "clock_crossing"
FOLDER = BUILD / "crossing"
Edit = tuple[str, str, str]
SOURCES = (
    *(RTL / "common" / "rtl" / f"{name}.sv" for name in ("penstock_pkg", "cn_frame_pkg", "small_fifo")),
    *(RTL / "common" / "rtl" / f"{name}.sv" for name in ("event_counter", "stream_check")),
    *(CORE / "rtl" / f"{name}.sv" for name in ("sync_bits", "reset_bridge", "crossing_reset", "async_frame_fifo")),
    GENERATED / "clock_crossing_checks.sv",
    CORE / "tb" / "crossing.sv",
)
# Bits of data.
RUNS = (64,)
ALL_RUNS = (64, 128, 256, 512)
# Bugs: a source, what stands in it, and what is put there.
BUGS = {
    "binary, not Gray, to the input": ("async_frame_fifo", "<= to_gray(out_q + 1'b1);", "<= out_q + 1'b1;"),
    "binary, not Gray, to the output": (
        "async_frame_fifo",
        "<= to_frame_gray(frame_in_q + 1'b1);",
        "<= frame_in_q + 1'b1;",
    ),
    "room for one beat too many": ("async_frame_fifo", "32'(used) + 2 <= Words", "32'(used) <= Words"),
    "room for descriptors too many": (
        "async_frame_fifo",
        "32'(frames_used) + 3 <= Frames",
        "32'(frames_used) <= Frames",
    ),
    "a frame is read before it is whole": (
        "async_frame_fifo",
        "described_q <= ends;",
        "described_q <= writes && first_q;",
    ),
    "a cut frame is not marked": ("async_frame_fifo", "user: 1'b1, last: 1'b1", "user: 1'b0, last: 1'b1"),
    "a cut frame has no end": ("async_frame_fifo", "<= pop || cut;", "<= pop;"),
    "a cut frame that waits has no end": ("async_frame_fifo", "(cut_q || !m_run)", "!m_run"),
    "a reset lets the rest of a frame pass": ("async_frame_fifo", " || (!s_run && !first_q);", ";"),
    "a side runs before the other is cleared": ("crossing_reset", "{run_q[0], other_q[1]}", "{run_q[0], 1'b1}"),
    "the length lacks the FCS": ("async_frame_fifo", ")) + FcsOctets;", "));"),
}


def main(arguments: list[str]) -> int:
    """Return 0 if all runs end well, and all planted bugs are found."""
    plant = "--plant" in arguments
    wrong = _unknown_registers()
    episodes = 400 if plant else 40
    runs: list[tuple[str, int, Edit | None, int]] = [
        (f"{width} bits", width, None, episodes) for width in (ALL_RUNS if plant else RUNS)
    ]
    runs += [(name, 64, edit, 40) for name, edit in BUGS.items()] if plant else []
    # The first compiles Verilator's own sources, for the others too.
    first = _run(*runs[0])
    with ThreadPoolExecutor(2) as pool:
        ends = [first, *pool.map(lambda run: _run(*run), runs[1:])]
    for (name, _, edit, _), (status, said) in zip(runs, ends, strict=True):
        good = (status == 0) != bool(edit)
        wrong += not good
        lines = [line for line in said.splitlines() if "WRONG" in line or "came out" in line or "rror" in line]
        print(f"{name}: {'as it should be' if good else 'NOT SO'}: {'; '.join(lines[:2])}", flush=True)
    return int(wrong > 0)


def _run(name: str, width: int, edit: Edit | None, episodes: int) -> tuple[int, str]:
    folder = FOLDER / re.sub(r"\W+", "_", name)
    folder.mkdir(parents=True, exist_ok=True)
    sources = []
    for source in SOURCES:
        path = source
        if edit and source.stem == edit[0]:
            text = source.read_text()
            start, end = place_of(text, edit[1], str(source))
            path = folder / source.name
            path.write_text(f"{text[:start]} {edit[2]}{text[end:]}")
        sources.append(path)
    build: list[str | Path] = [
        *(TOOLS / "verilator", "--binary", "--timing", "--assert", "--Mdir", folder / "made", "-o", "bench"),
        *("--x-assign", "unique", "--x-initial", "unique", "--top-module", "crossings", "-Wno-fatal", "-Wno-lint"),
        *("-Wno-TIMESCALEMOD", "-Wno-ZERODLY", "-CFLAGS", "-std=c++20 -fcoroutines"),
        # The wheel's makefile has no option for its precompiled header.
        *("-MAKEFLAGS", "CFG_CXXFLAGS_PCH_I=-include"),
        *(f"-DPENSTOCK_DATA_W={width}", "-DPENSTOCK_CROSSING_JITTER=150ps"),
        f"-GEpisodes={episodes}",
        *sources,
    ]
    _take_objects(folder / "made")
    made = subprocess.run(build, capture_output=True, text=True, check=False)
    if made.returncode:
        raise SystemExit(f"{name}: {made.stderr[-3000:]}")
    ran = subprocess.run([folder / "made" / "bench", "+verilator+seed+1"], capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout + ran.stderr


def _take_objects(made: Path) -> None:
    """Copy what is compiled of Verilator's own sources from the first run, with its times."""
    made.mkdir(exist_ok=True)
    first = FOLDER / f"{RUNS[0]}_bits" / "made"
    if made != first:
        for path in (*first.glob("verilated*.o"), *first.glob("verilated*.d")):
            shutil.copy2(path, made)


def _unknown_registers() -> int:
    """Return how many registers that the constraints name are in no source."""
    text = "".join(path.read_text() for path in sorted((CORE / "rtl").glob("*.sv")))
    constraints = "".join(path.read_text() for path in sorted((CORE / "constraints").iterdir()))
    names = sorted(set(re.findall(r"(\w+_q)_reg", constraints)))
    unknown = [name for name in names if not re.search(rf"\b{name}\b", text)]
    if unknown or not names:
        print(f"the constraints name registers that no source has: {unknown}")
    return len(unknown) or int(not names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
