"""Builds and runs `scoreboard_dpi.sv` in Verilator: with the golden model, and with a wrong one, which has to be caught.

make -C rtl example
"""

import subprocess
import sys
from pathlib import Path

RTL = Path(__file__).resolve().parent.parent
LIBRARY = RTL.parent / "target" / "debug"
FOLDER = RTL / "build" / "scoreboard_dpi"


def main() -> int:
    """Return 0 if the model agrees and the wrong one does not."""
    sources = [
        RTL / "common" / "rtl" / "penstock_pkg.sv",
        RTL / "common" / "rtl" / "cn_frame_pkg.sv",
        RTL / "token_bucket" / "rtl" / "token_bucket.sv",
        RTL / "dpi" / "penstock_dpi_pkg.sv",
        RTL / "examples" / "scoreboard_dpi.sv",
    ]
    build = [
        *(
            Path(sys.executable).parent / "verilator",
            "--binary",
            "--timing",
            "--assert",
            "-Wno-fatal",
            "--Mdir",
            FOLDER,
        ),
        *("--top-module", "scoreboard_dpi", "-o", "bench"),
        *("-CFLAGS", "-std=c++20 -fcoroutines"),
        *("-LDFLAGS", f"-L{LIBRARY} -lpenstock -Wl,-rpath,{LIBRARY}"),
        *sources,
    ]
    subprocess.run(build, check=True)
    bench = FOLDER / "bench"
    if subprocess.run([bench], check=False).returncode != 0:
        return 1
    if (
        subprocess.run([bench, "+wrong"], check=False, capture_output=True).returncode
        == 0
    ):
        print("a wrong model was not caught", file=sys.stderr)
        return 1
    print("the wrong model was caught, as it had to be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
