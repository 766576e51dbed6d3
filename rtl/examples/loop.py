"""Builds `loop.sv` from the releases of five cores, in one run of Verilator, and runs its bench.

    make -C rtl example

`build/export/together.f` lists each source of the five once; beside it stand the checks of their streams.
"""

import subprocess
import sys
from pathlib import Path

RTL = Path(__file__).resolve().parent.parent
EXPORT = RTL / "build" / "export"
FOLDER = RTL / "build" / "loop"
CORES = ("qcn_rp", "cp", "output_port", "udp_packet_generator", "random_words")


def main() -> int:
    """Return 0 if the loop works."""
    checks = {
        path.name: path
        for name in CORES
        for path in sorted(EXPORT.glob(f"{name}/rtl/*_checks.sv"))
    }
    build = [
        Path(sys.executable).parent / "verilator",
        *(
            "--binary",
            "--timing",
            "--assert",
            "-Wall",
            "-Wno-TIMESCALEMOD",
            "-Wno-DECLFILENAME",
            "-Wno-PROCASSINIT",
            "--Mdir",
            FOLDER,
        ),
        *(
            "--top-module",
            "loop_bench",
            "-o",
            "bench",
            "-CFLAGS",
            "-std=c++20 -fcoroutines",
        ),
        *sorted(
            {
                path.name: path
                for name in CORES
                for path in EXPORT.glob(f"{name}/rtl/*.vlt")
            }.values()
        ),
        *("-F", EXPORT / "together.f"),
        *checks.values(),
        *(RTL / "examples" / name for name in ("loop.sv", "loop_bench.sv")),
    ]
    subprocess.run(build, check=True)
    return subprocess.run([FOLDER / "bench"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
