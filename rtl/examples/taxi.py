"""Runs the taxi library's bench of its asynchronous FIFO on the core `async_frame_fifo`, between two of taxi's interfaces.

    make -C rtl shims                      fetches taxi from GitHub, at the commit below
    make -C rtl shims TAXI=/path/to/taxi   takes this clone

Nothing of taxi's stands in this repository. Its interface (MIT) and its bench (CERN-OHL-S) are read where they lie. The
bench sends frames of every length, with gaps and stalls; overruns the FIFO; and resets either side while frames go in
and out. Left out is its test of pause requests, pins that this FIFO has not.
"""

import os
import subprocess
import sys
from pathlib import Path

from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

RTL = Path(__file__).resolve().parent.parent
BUILD = RTL / "build" / "taxi"
REPOSITORY, COMMIT = (
    "https://github.com/fpganinja/taxi",
    "2f2fe728487bcb67d2f2abd580bd639fd57390e9",
)
WANTED = ("src/axis/rtl/taxi_axis_if.sv", "src/axis/tb/taxi_axis_async_fifo")
TEST = "test_taxi_axis_async_fifo"
SOURCES = (
    *(
        "common/rtl/penstock_pkg.sv",
        "common/rtl/cn_frame_pkg.sv",
        "common/rtl/small_fifo.sv",
    ),
    *("common/rtl/event_counter.sv", "common/rtl/stream_check.sv"),
    *(
        f"clock_crossing/rtl/{name}.sv"
        for name in ("sync_bits", "crossing_reset", "async_frame_fifo")
    ),
    "build/generated/clock_crossing_checks.sv",
    *(
        f"examples/taxi/{name}.sv"
        for name in ("axis_from_taxi", "axis_to_taxi", "taxi_crossing")
    ),
)


def fetched() -> Path:
    """Return the folder of taxi's files, from a clone that is there or from GitHub."""
    clone = os.environ.get("TAXI")
    folder = BUILD / "library"
    if not clone and not (folder / WANTED[0]).exists():
        clone = str(BUILD / "clone")
        subprocess.run(["git", "init", "--quiet", "--bare", clone], check=True)
        get = [
            "git",
            "-C",
            clone,
            "fetch",
            "--quiet",
            "--depth",
            "1",
            REPOSITORY,
            COMMIT,
        ]
        if subprocess.run(get, check=False).returncode:
            raise SystemExit(
                f"{REPOSITORY} cannot be fetched: give a clone, make -C rtl shims TAXI=/path/to/taxi"
            )
    if clone:
        folder.mkdir(parents=True, exist_ok=True)
        archive = subprocess.run(
            ["git", "-C", clone, "archive", COMMIT, *WANTED],
            check=True,
            capture_output=True,
        )
        subprocess.run(
            ["tar", "x", "-C", str(folder)], input=archive.stdout, check=True
        )
    return folder


def run(library: Path, bits: int, *, drops: bool) -> tuple[int, int]:
    """Run the bench with streams of this width; return how many tests it had, and how many failed."""
    runner = get_runner("verilator")
    folder = BUILD / f"{bits}_{'drops' if drops else 'waits'}"
    arguments = [
        "-Wno-fatal",
        "-Wno-lint",
        "--timing",
        "--assert",
        f"-DPENSTOCK_DATA_W={bits}",
    ]
    runner.build(
        sources=[library / WANTED[0], *(RTL / source for source in SOURCES)],
        hdl_toplevel="taxi_crossing",
        build_dir=folder,
        build_args=[*arguments, "-CFLAGS", "-std=c++20 -fcoroutines"],
        parameters={
            "DEPTH": 4096 if bits == 64 else 16384,
            "DROP_WHEN_FULL": int(drops),
        },
        timescale=("1ns", "1ps"),
        always=True,
    )
    results = runner.test(
        hdl_toplevel="taxi_crossing",
        test_module=TEST,
        test_filter=r"^(?!.*run_test_pause).*$",
        build_dir=folder,
        test_dir=library / WANTED[1],
        results_xml=str(folder / "results.xml"),
        extra_env={
            "COCOTB_LOG_LEVEL": "WARNING",
            "PYTHONPATH": str(library / WANTED[1]),
        },
    )
    return get_results(results)


def main() -> int:
    """Return 0 if each test of the bench passes on the core."""
    # The wheel's makefile has no option for its precompiled header.
    os.environ["MAKEFLAGS"] = " -- CFG_CXXFLAGS_PCH_I=-include"
    library = fetched()
    wrong = 0
    for bits, drops in ((64, False), (64, True), (512, False)):
        tests, failed = run(library, bits, drops=drops)
        print(
            f"taxi's bench, {bits} bits, {'drops' if drops else 'waits'}: {tests} tests, {failed} failed",
            flush=True,
        )
        wrong += failed + (tests < 10)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
