"""Has OpenSTA read the constraints of the clock crossing (clock_crossing/constraints/clock_crossing.sdc).

Yosys maps a FIFO to the few cells of a library that is written here, with registers named as most tools name them.
OpenSTA then has two clocks that know nothing of each other, and reads the file. It may not warn. Every path from one
clock to the other must have a largest delay of the file, or be none of its paths; and none may have a hold check. The
same is to be seen when a line of the file is left out, or a register in it is misspelt.
"""

import re
import shutil
import subprocess
import sys

import plain
from cores import BUILD, RTL, all_cores

FOLDER = BUILD / "constraints"
SDC = RTL / "clock_crossing" / "constraints" / "clock_crossing.sdc"
# Their edges come 0.1 ns apart at the least, so a path that is not constrained is the worst to its register.
PERIODS = {"s": 6.4, "m": 6.5}
# Gates of Yosys, by their functions.
GATES = {
    "NOT": "(!A)",
    "AND": "(A B)",
    "NAND": "(!(A B))",
    "OR": "(A+B)",
    "NOR": "(!(A+B))",
    "XOR": "(A^B)",
    "XNOR": "(!(A^B))",
    "MUX": "((A (!S))+(B S))",
}
# Registers to which paths cross, each in a word or alone.
CROSSED = ("u_out_seen/first_q", "u_frame_out_seen/first_q", "u_frame_in_seen/first_q", "next_q", "raw_q")


def main() -> int:
    """Return 0 if the file is good, and each change of it is seen to be bad."""
    if not shutil.which("sta"):
        sys.stderr.write("sta: OpenSTA is missing: apt-get install opensta, or its own sources\n")
        return 2
    FOLDER.mkdir(parents=True, exist_ok=True)
    _netlist()
    text = SDC.read_text()
    faults = _faults(text)
    print(f"{SDC.name}: {'; '.join(faults[:5]) or 'every path between the clocks is constrained'}", flush=True)
    wrong = len(faults)
    changes = {"a register is misspelt": text.replace("raw_q_reg", "row_q_reg")}
    for line in [line for line in text.splitlines() if line.lstrip().startswith("set_")]:
        command = line.split()[0]
        if command != "set":
            changes[f"without {line.strip()[:70]}"] = text.replace(line, "", 1)
    for says, changed in changes.items():
        found = _faults(changed)
        wrong += not found
        print(f"{says}: {found[0] if found else 'NOT SEEN'}", flush=True)
    return int(wrong > 0)


def _faults(sdc: str) -> list[str]:
    """Return what is wrong with the constraints."""
    (FOLDER / "read.sdc").write_text(sdc)
    paths = "[get_clocks {}] -to [get_clocks {}] -group_count 100000"
    ways = [(delay, *way) for delay in ("max", "min") for way in (("s", "m"), ("m", "s"))]
    script = ["read_liberty cells.lib", "read_verilog netlist.v", "link_design top"]
    script += [f"create_clock -name {name} -period {period} {name}_clk_i" for name, period in PERIODS.items()]
    script += ["source read.sdc", 'puts "PATHS"']
    for delay, start, end in ways:
        script.append(f"report_checks -path_delay {delay} -format full -from {paths.format(start, end)}")
    (FOLDER / "check.tcl").write_text("\n".join([*script, "exit", ""]))
    run = subprocess.run(["sta", "-exit", "check.tcl"], cwd=FOLDER, capture_output=True, text=True, check=False)
    said, _, reported = (run.stdout + run.stderr).partition("PATHS")
    faults = [line for line in said.splitlines() if line.startswith(("Warning", "Error"))]
    if run.returncode or (not reported and not faults):
        faults.append(f"OpenSTA ends with {run.returncode}: {said[-300:]}")
    ends = set()
    for path in reported.split("Startpoint: ")[1:]:
        start = path.split()[0]
        ended = re.search(r"Endpoint: (\S+)", path)
        kind = re.search(r"Path Type: (\w+)", path)
        if not ended or not kind:
            raise SystemExit(f"OpenSTA reports a path in another form:\n{path}")
        ends.add(ended[1])
        if kind[1] == "min" or "max_delay" not in path:
            faults.append(f"{start} to {ended[1]} is not constrained ({kind[1]})")
    reached = {name for name in CROSSED if any(end.startswith(f"u_fifo/{name}_reg") for end in ends)}
    if not faults and reached != set(CROSSED):
        faults.append(f"no path reaches {', '.join(sorted(set(CROSSED) - reached))}")
    return faults


def _netlist() -> None:
    """Write the library, and a FIFO of its cells."""
    (FOLDER / "cells.lib").write_text(_library())
    build = next(build for core in all_cores() for build in core.builds if build.name == "async_frame_fifo")
    place, sources = FOLDER.relative_to(RTL), " ".join(str(source.relative_to(RTL)) for source in build.sources)
    plain.yosys(
        [
            f"read_slang -j 1 --keep-hierarchy --top {build.top} -GWords=16 -GFrames=4 {sources}",
            f"synth -top {build.top} -run begin:fine",
            "memory_map",
            "opt -fast",
            "techmap",
            "opt -fast",
            f"dfflibmap -liberty {place}/cells.lib",
            "simplemap",
            "setundef -zero",
            "opt_clean -purge",
            *(f"chtype -set {name} t:$_{name}_" for name in GATES),
            f"write_verilog -noattr -noexpr -nohex {place}/mapped.v",
        ]
    )
    text = re.sub(r"\b(DFF\w*) \S+ \((.*?)\);", _named, (FOLDER / "mapped.v").read_text(), flags=re.DOTALL)
    found = re.search(rf"^module {build.top}\(.*?^endmodule", text, re.DOTALL | re.MULTILINE)
    if not found:
        raise SystemExit(f"{FOLDER}/mapped.v has no module {build.top}")
    ports = re.findall(r"^  (input|output) (\[\d+:\d+\] )?(\S+) ?;", found[0], re.MULTILINE)
    declared = "".join(f"  {way} {bits}{name};\n" for way, bits, name in ports)
    pins = ", ".join(f".{name}({name})" for _, _, name in ports)
    names = ", ".join(name for _, _, name in ports)
    top = f"module top({names});\n{declared}  {build.top} u_fifo ({pins});\nendmodule\n"
    (FOLDER / "netlist.v").write_text(f"{text}\n{top}")


def _named(cell: re.Match[str]) -> str:
    """Return a flip-flop with the name of its register."""
    net = re.search(r"\.Q\(\\?(\w+)(\S*?)( \[\d+\]|\[\d+\])? ?\)", cell[2])
    if not net:
        return cell[0]
    return f"{cell[1]} \\{net[1]}_reg{net[2]}{(net[3] or '').strip()}  ({cell[2]});"


def _library() -> str:
    """Return a library of inverters, gates and flip-flops, all equally fast."""
    scalar = "".join(
        f'{each}(scalar) {{ values ("0.1"); }} '
        for each in ("cell_rise", "cell_fall", "rise_transition", "fall_transition")
    )
    check = 'rise_constraint(scalar) { values ("0.05"); } fall_constraint(scalar) { values ("0.05"); }'

    def pin(name: str, says: str = "") -> str:
        return f"pin({name}) {{ direction : input; capacitance : 0.001; {says} }} "

    def output(name: str, function: str, arcs: str) -> str:
        return f'pin({name}) {{ direction : output; function : "{function}"; {arcs} }} '

    cells = ""
    for name, function in GATES.items():
        inputs = sorted(set(re.findall("[ABS]", function)))
        arcs = "".join(f'timing() {{ related_pin : "{each}"; timing_sense : non_unate; {scalar}}} ' for each in inputs)
        cells += f"cell({name}) {{ area : 1; {''.join(map(pin, inputs))}{output('Y', function, arcs)}}}\n"
    for name, asynchronous in (("DFF", ""), ("DFFS", "preset"), ("DFFR", "clear")):
        setup, hold = (
            f'timing() {{ related_pin : "C"; timing_type : {kind}_rising; {check} }} ' for kind in ("setup", "hold")
        )
        state = (
            f'ff(IQ, IQN) {{ clocked_on : "C"; next_state : "D"; {f"{asynchronous} : S; " if asynchronous else ""}}} '
        )
        state = state.replace(": S;", ': "S";')
        pins = pin("C", "clock : true;") + pin("D", setup + hold)
        if asynchronous:
            recovery = f'timing() {{ related_pin : "C"; timing_type : recovery_rising; {check} }} '
            removal = f'timing() {{ related_pin : "C"; timing_type : removal_rising; {check} }} '
            pins += pin("S", recovery + removal)
        arcs = f'timing() {{ related_pin : "C"; timing_type : rising_edge; {scalar}}} '
        cells += f"cell({name}) {{ area : 4; {state}{pins}{output('Q', 'IQ', arcs)}}}\n"
    return (
        'library(few) {\n  time_unit : "1ns"; capacitive_load_unit (1, pf); voltage_unit : "1V";\n'
        '  current_unit : "1mA"; pulling_resistance_unit : "1kohm"; delay_model : table_lookup;\n'
        f"{cells}}}\n"
    )


if __name__ == "__main__":
    sys.exit(main())
