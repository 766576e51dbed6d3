"""Holds releases to their promise: two stand in one design, for FuseSoC, for Bender and for a plain list of files.

    python tools/together.py    with FuseSoC (requirements/rtl-release.txt) beside the Python that runs this

The releases of a reaction point and a congestion point (tools/export.py) are linted with a module that has both, their
parameters set, the checks of their streams on: neither may define anything twice, or warn. Of every release that there
is FuseSoC runs the target lint; Bender's list is the plain one, and Verilator reads its script. Bender has to refuse a
manifest that names a source which is not there.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

RTL = Path(__file__).resolve().parent.parent
EXPORT = RTL / "build" / "export"
FOLDER = RTL / "build" / "together"
# Verilator, by the name that FuseSoC calls it by.
TOOLS = RTL / "build" / "venv" / "bin"
BENDER = RTL / "build" / "bender" / "bin" / "bender"
CORES = ("qcn_rp", "cp")
_LINT = ("--lint-only", "-Wall", "--no-timing")

DESIGN = """\
module both (
  input var logic clk_i,
  input var logic rst_i,
  output var logic [31:0] dropped_o,
  output var logic [31:0] frames_o
);
  /* verilator lint_off PINMISSING */
  rate_gate #(
      .LineRate(64'd10_000_000_000),
      .Depth(65_535)
  ) u_gate (
      .clk_i,
      .rst_i,
      .rate_i('0),
      .s_axis('0),
      .s_axis_tvalid(1'b0),
      .s_axis_octets_i('0),
      .m_axis_tready(1'b1),
      .dropped_o
  );
  cp #(
      .BufferOctets(20_000)
  ) u_cp (
      .clk_i,
      .rst_i,
      .s_axis('0),
      .s_axis_tvalid(1'b0),
      .m_axis_tready(1'b1),
      .m_axis_message_tready(1'b1),
      .q_eq_i('0),
      .w_i('0),
      .sample_base_i('0),
      .sample_jitter_i('0),
      .sample_count_i('0),
      .sample_probability_i('0),
      .cp_mac_i('0),
      .cp_id_i('0),
      .cnm_priority_i('0),
      .random_i('0),
      .frames_o
  );
  /* verilator lint_on PINMISSING */
endmodule
"""
CORE = """\
CAPI=2:

name: penstock:tests:both:0

filesets:
  rtl:
    files: [both.sv]
    file_type: systemVerilogSource
    depend: [{depend}]

targets:
  default:
    filesets: [rtl]
    toplevel: both
    flow: lint
    flow_options:
      tool: verilator
      verilator_options: ["-Wall", "--no-timing"]
"""


def main() -> int:
    """Lint the design with both tools, and each target of the releases; return 0 if nothing is said."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "both.sv").write_text(DESIGN)
    (FOLDER / "both.core").write_text(CORE.format(depend=", ".join(f"penstock:cores:{name}" for name in CORES)))
    environment = {**os.environ, "PATH": f"{TOOLS}:{os.environ['PATH']}"}
    roots = [option for folder in (*(EXPORT / name for name in CORES), FOLDER) for option in ("--cores-root", folder)]
    fusesoc = [str(Path(sys.executable).with_name("fusesoc")), *map(str, roots), "run"]
    runs = {
        "FuseSoC, both in a design": [*fusesoc, "--flag", "checks", "penstock:tests:both"],
        "FuseSoC, cp with another buffer": [
            *fusesoc,
            "--target",
            "lint",
            "penstock:cores:cp",
            "--BufferOctets",
            "9000",
        ],
        "FuseSoC, a part of cp": [*fusesoc, "--target", "lint_cp_feedback", "penstock:cores:cp"],
        "FuseSoC, the model of cp": [*fusesoc, "--target", "sim", "--setup", "penstock:cores:cp"],
        "Verilator, both lists in one": [
            *(str(TOOLS / "verilator"), *_LINT, "--top-module", "both"),
            *map(str, sorted(EXPORT.glob("*/rtl/*.vlt"))),
            *("-F", str(EXPORT / "together.f"), str(FOLDER / "both.sv")),
        ],
        "Bender, both in a design": [*_by_bender(EXPORT, "both"), str(FOLDER / "both.sv")],
    }
    # Of each core alone, its first top module.
    for release in sorted(path.parent for path in EXPORT.glob("*/rtl")):
        if "  lint:" in (release / f"{release.name}.core").read_text():
            alone = [fusesoc[0], "--cores-root", str(release), "run", "--target", "lint"]
            runs[f"FuseSoC, {release.name}"] = [*alone, f"penstock:cores:{release.name}"]
        top = re.search(r"toplevel: (\w+)\n.*parameters: (.*)", (release / f"{release.name}.core").read_text())
        if top:
            widths = [f"-D{width}" for width in re.findall(r"PENSTOCK_\w+=\d+", top[2])]
            runs[f"Bender, {release.name}"] = [*_by_bender(release, top[1]), *widths]
    wrong = _lists()
    for name, command in runs.items():
        run = subprocess.run(command, cwd=FOLDER, env=environment, capture_output=True, text=True, check=False)
        said = run.stdout + run.stderr
        bad = run.returncode != 0 or "%Warning" in said or "%Error" in said
        wrong += bad
        print(f"{name}: {'clean' if not bad else 'NOT CLEAN'}", flush=True)
        if bad:
            print(said[-4000:])
    return int(wrong > 0)


def _by_bender(folder: Path, top: str) -> list[str]:
    """Return how Verilator reads the script that Bender makes of a release, with its checks."""
    script = FOLDER / f"{folder.name}.bender.f"
    script.write_text(_bender(folder, "verilator").stdout)
    waivers = map(str, sorted(folder.glob("**/rtl/*.vlt")))
    return [str(TOOLS / "verilator"), *_LINT, "--top-module", top, *waivers, "-f", str(script)]


def _bender(folder: Path, form: str) -> subprocess.CompletedProcess[str]:
    command = [str(BENDER), "--dir", str(folder), "script", form, "--target", "simulation"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _lists() -> int:
    """Return how many of Bender's lists are not those of the releases: of each core, and of all together."""
    wrong = 0
    for folder in (EXPORT, *sorted(path.parent for path in EXPORT.glob("*/rtl"))):
        listed = folder / ("together.f" if folder == EXPORT else f"{folder.name}.f")
        checks = {path.name for path in folder.glob("rtl/*_checks.sv")}
        run = _bender(folder, "flist")
        found = [line for line in run.stdout.splitlines() if line.endswith(".sv")]
        plain = [path for path in found if not path.endswith("_checks.sv")]
        bad = run.returncode != 0 or plain != [str(folder / name) for name in listed.read_text().split()]
        bad |= folder != EXPORT and {Path(path).name for path in found} - {Path(path).name for path in plain} != checks
        if bad:
            print(f"Bender, {folder.name}: NOT THE LIST\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
        wrong += bad
    # The same sources from another folder; then one of them misspelt.
    moved = FOLDER / "moved"
    moved.mkdir(exist_ok=True)
    text = re.sub(r"- (?=\w+/rtl/)", f"- {EXPORT}/", (EXPORT / "Bender.yml").read_text())
    for name, good in (("cp_parser.sv", True), ("cp_passer.sv", False)):
        (moved / "Bender.yml").write_text(text.replace("cp_parser.sv", name))
        run = _bender(moved, "flist")
        if (run.returncode == 0) != good:
            print(f"Bender, a manifest with {name}: {run.returncode}\n{run.stdout[-500:]}{run.stderr[-500:]}")
            wrong += 1
    print(f"Bender: {'each list is the plain one' if not wrong else f'{wrong} lists differ'}", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
