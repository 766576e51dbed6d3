"""Replays the vectors of a release in Icarus Verilog: stimulus and response of a core, without Rust.

    python tools/vectors.py [--plant] FOLDER [NAME...]

FOLDER has the files that the lock steps write (cosim/src/recorded.rs), a BUILD.txt for each build. Of each that is part
of a release, or of those named, the plain Verilog is made, and a bench in plain Verilog, which reads the file. In each
clock it drives the inputs and compares every output. Data beside a valid that is low is not compared where Icarus does
not know it. With --plant a register or an operator of each is changed in turn until the bench finds one, and one that
finds none of them is an error.

The file: lines with # first, `# in NAME BITS` and `# out NAME BITS` for each port; then a line a clock, the values of
these ports in that order, hexadecimal. Values are those before the clock's rising edge, inputs and outputs.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import plain
from cores import BUILD, Build, all_cores
from fourstate import is_with_a_valid
from plain import Port

FOLDER = BUILD / "replay"
# Changes to plain Verilog, one of which a bench has to find.
_PLANTS = (
    (r" \+ ", " - "),
    (r" < ", " <= "),
    (r" == ", " != "),
    (r" & ", " | "),
    (r" \^ ", " & "),
    (r" \|\| ", " && "),
)
_TRIES = 40
# A lock step of fewer clocks reaches little.
_CLOCKS = 1000


def main(arguments: list[str]) -> int:
    """Replay what is there; return 0 if each agrees."""
    plant = "--plant" in arguments
    folder, *names = [argument for argument in arguments if argument != "--plant"]
    builds = {build.name: build for core in all_cores() for build in core.builds}
    files = {path.stem: path for path in sorted(Path(folder).glob("*.txt"))}
    if missing := [name for name in names if name not in files or name not in builds]:
        sys.stderr.write(f"vectors: there are none of {missing[0]} in {folder}; make -C rtl vectors writes them\n")
        return 2
    wrong = 0
    # A module that only checks has no response.
    answers = [name for name, path in files.items() if not all(port.is_input for port in ports_of(path))]
    for name in names or [name for name in answers if name in builds]:
        verilog = plain.make(builds[name], FOLDER / name / f"{name}.v")
        said = replay(files[name], builds[name], verilog, FOLDER / name)
        good = " clocks, " in said and "WRONG" not in said
        asked = plant and good and int(said.split()[0]) >= _CLOCKS
        found = planted(files[name], builds[name], verilog, FOLDER / name) if asked else ""
        wrong += not good or (asked and not found)
        print(
            f"{name}: {said.splitlines()[0] if said else 'nothing'}{found or (asked and '; NO BUG FOUND') or ''}",
            flush=True,
        )
    return int(wrong > 0)


def bench_of(path: Path, build: Build) -> str:
    """Return the bench of a file of vectors, in Verilog of 2005; it takes the file as +vectors=FILE."""
    ports = ports_of(path)
    inputs, outputs = ([port for port in ports if port.is_input == way] for way in (True, False))
    wires = "".join(f"  reg [{port.bits - 1}:0] {port.name};\n" for port in inputs)
    wires += "".join(
        f"  wire [{port.bits - 1}:0] {port.name};\n  reg [{port.bits - 1}:0] expect_{port.name};\n" for port in outputs
    )
    fields = plain.structures(build)
    pins = ", ".join([".clk_i(clk_i)", *(pin for port in ports for pin in _pins(port, fields.get(port.name)))])
    read = "".join(
        f'      got = $fscanf(file, "%h", {"" if port.is_input else "expect_"}{port.name}); if (got != 1) done = 1;\n'
        for port in ports
    )
    # An unknown bit beside a valid that is low is no difference.
    checks = "".join(
        f"        if ({_differs(port, build.top)}) begin\n"
        f'          $display("WRONG in clock %0d: {port.name} is %h, not %h", '
        f"clock, {port.name}, expect_{port.name});\n"
        "          wrong = wrong + 1;\n        end\n"
        for port in outputs
    )
    reset = "rst_i" if any(port.name == "rst_i" for port in inputs) else "1'b1"
    return (
        f"// SPDX-License-Identifier: Apache-2.0\n//\n// Replays {path.name}: +vectors={path.name}.\n\n"
        f"module replay;\n  reg clk_i;\n{wires}"
        "  integer file, got, clock, wrong, done, was_reset, c;\n"
        "  reg [8*256-1:0] line;\n  reg [8*1024-1:0] name;\n"
        f"  {build.name} dut ({pins});\n"
        "  initial begin\n    clk_i = 0; clock = 0; wrong = 0; done = 0; was_reset = 0;\n"
        '    if (!$value$plusargs("vectors=%s", name)) name = "vectors.txt";\n'
        '    file = $fopen(name, "r");\n'
        '    if (file == 0) begin $display("WRONG: the file of vectors is not there"); $finish(0); end\n'
        "    c = $fgetc(file);\n"
        '    while (c == "#") begin got = $fgets(line, file); c = $fgetc(file); end\n'
        "    got = $ungetc(c, file);\n"
        "    while (!done) begin\n"
        f"{read}"
        # What a reset reaches a clock later is unknown in the clock behind it.
        "      if (!done) begin\n        #1;\n        if (was_reset > 1) begin\n"
        f"{checks}        end\n        if (was_reset == 1 || (was_reset == 0 && {reset})) was_reset = was_reset + 1;\n"
        "        #1 clk_i = 1; #1 clk_i = 0; clock = clock + 1;\n        if (wrong > 9) done = 1;\n      end\n    end\n"
        '    if (wrong == 0) $display("%0d clocks, every output agrees", clock);\n    $finish(0);\n  end\nendmodule\n'
    )


def _pins(port: Port, fields: list[plain.Field] | None) -> list[str]:
    """Return the pins of a port of a file, which has a structure that is no stream or bus as one value."""
    if fields is None:
        return [f".{port.name}({port.name})"]
    parts = [[f"{port.name}[{low}+:{field.bits}]" for low in reversed(field.lows)] for field in fields]
    return [f".{field.name}({{{', '.join(part)}}})" for field, part in zip(fields, parts, strict=True)]


def _differs(port: Port, top: str) -> str:
    name, expected = port.name, f"expect_{port.name}"
    return f"({name} ^ {expected}) > 0" if is_with_a_valid(name, top) else f"{name} !== {expected}"


def ports_of(path: Path) -> list[Port]:
    """Return the ports that a file of vectors names."""
    with path.open() as file:
        head = [line.split() for line in file if line.startswith("#")]
    found = [words[1:] for words in head if len(words) == 4 and words[1] in ("in", "out")]
    return [Port(name, int(bits), way == "in") for way, name, bits in found]


def replay(vectors: Path, build: Build, verilog: Path, folder: Path) -> str:
    """Compile a core's plain Verilog and its bench, run them, and return what they say."""
    folder.mkdir(parents=True, exist_ok=True)
    bench = folder / f"{vectors.stem}_replay.v"
    bench.write_text(bench_of(vectors, build))
    made = folder / f"{verilog.stem}.vvp"
    _run(["iverilog", "-g2005", "-o", str(made), str(bench), str(verilog)])
    return _run(["vvp", "-n", str(made), f"+vectors={vectors}"])


def planted(vectors: Path, build: Build, verilog: Path, folder: Path) -> str:
    """Return which planted bug the bench finds, "" if none of those that it tries."""
    lines = verilog.read_text().splitlines()
    places = [
        (n, old, new)
        for old, new in _PLANTS
        for n, line in enumerate(lines)
        if line.startswith("  assign") and re.search(old, line)
    ]
    # From all of the file.
    step = max(1, len(places) // _TRIES)
    for tried, (n, old, new) in enumerate(places[::step], 1):
        changed = folder / f"{verilog.stem}_planted.v"
        changed.write_text("\n".join([*lines[:n], re.sub(old, new, lines[n], count=1), *lines[n + 1 :]]) + "\n")
        if "WRONG" in replay(vectors, build, changed, folder):
            return f"; finds a planted bug (of {tried} tried)"
    return ""


def put(build: Build, vectors: Path, folder: Path) -> bool:
    """Put a build's vectors and its bench into a release; return whether there are some."""
    path = vectors / f"{build.name}.txt"
    if not path.exists() or all(port.is_input for port in ports_of(path)):
        return False
    folder.mkdir(exist_ok=True)
    shutil.copy(path, folder)
    (folder / f"{build.name}_replay.v").write_text(bench_of(path, build))
    return True


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
