"""Simulates cores with Icarus Verilog, which knows unknown values: what does a reset of one clock leave unknown?

    python tools/fourstate.py             every top module; every source is read
    python tools/fourstate.py NAME...     these builds of a core.toml

Each build is made plain Verilog first (plain.py), and is read by Icarus Verilog and Yosys' own reader. Then everything
is unknown; there is one clock of reset, with known inputs; and from the next on every output is known but for data
beside a valid that is low. The line of an output port must then show frames without one unknown bit, at its rate.
"""

import re
import subprocess
import sys
from pathlib import Path

import plain
from cores import RTL, Build, all_cores, builds

# Outputs that mean something only while something else is valid, or in clocks that the core's page states.
_WITH_A_VALID = re.compile(
    r"t(data|keep|last|user)(_o)?$|^(destination|fb|cp_id|q_off|q_delta|mem_write_data|mem_write_address|mem_read_address)_o$"
    r"|^(cn_tagged|congested|data|event_dropped|event_queue|interval|none|value)_o$"
    r"|^m_axis$|^header_|_(source|ports|octets|flow|side|data|rdata|rresp|bresp)_o$|^s_axil_[rb](data|resp)$"
)
# Registers and counters are known whatever they are of.
_REGISTERS = re.compile(r"control_|line_(?!axis_)")
# Of a FIFO that is not empty.
_OF_A_FIFO = {("stream_length", "octets_o")}
_SETUPS = ("netfpga_setup", "dcqcn_setup")
CLOCKS = 40
# Known a clock later: the reset itself sets the register of a NIC's largest rate; a counter that is the sum of others.
# Rates and stages of qcn_flows are those of the flow that is served.
_A_CLOCK_LATER = re.compile(
    r"^nic\.(current|target)_rate_o$|^switch_input\.control_o$"
    r"|^qcn_(flows|rp_many)\.(current_rate|target_rate|byte_stage|time_stage|phase)_o$"
)


def main(names: list[str]) -> int:
    """Simulate the builds that are named, or every top module; return 0 if all is known that should be."""
    there = {build.name: build for build in builds()}
    if unknown := [name for name in names if name not in there]:
        sys.stderr.write(f"fourstate: there is no build {unknown[0]}; there are {', '.join(sorted(there))}\n")
        return 2
    chosen = [there[name] for name in names] or _every_top()
    wrong = [build.name for build in chosen if not _known(build)]
    if any(build.name == "output_port" for build in chosen) and not _frames(there["output_port"]):
        wrong.append("output_port with frames")
    print(
        f"fourstate: {len(chosen)} builds" + (f", not {', '.join(wrong)}" if wrong else ", each known after its reset")
    )
    return int(bool(wrong))


def is_with_a_valid(name: str, top: str) -> bool:
    """Return whether an output of a module means something only while something else is valid."""
    return (top, name) in _OF_A_FIFO or bool(not _REGISTERS.match(name) and _WITH_A_VALID.search(name))


def _every_top() -> list[Build]:
    """Return a build of each top module, and see that no source is in none of them."""
    tops = {(build.top, build.parameters.get("Smcc")): build for build in reversed(builds()) if not _whole_setup(build)}
    read = {source for build in tops.values() for source in build.sources}
    for core in all_cores():
        own = [source for source in core.own_sources if source.stem not in _SETUPS]
        if missing := [source for source in own if source not in read]:
            raise SystemExit(f"{missing[0]}: no build has it")
    return list(tops.values())


def _whole_setup(build: Build) -> bool:
    """Return whether it is a set-up, whose parts are each simulated by themselves."""
    return build.top in _SETUPS


def _known(build: Build) -> bool:
    """Return whether all outputs of a build are known from the clock behind a reset of one clock on."""
    module = plain.make(build)
    plain.yosys([f"read_verilog {module.relative_to(RTL)}"])
    ports = plain.ports(module)
    watched = [port for port in ports if not port.is_input and not is_with_a_valid(port.name, build.top)]
    checks = "".join(
        f"      if (k >= {int(bool(_A_CLOCK_LATER.match(f'{build.top}.{port.name}')))} && ^{port.name} === 1'bx)"
        f' $display("{port.name} in clock %0d", k);\n'
        for port in watched
    )
    # A reset that leaves a table as it is comes with the reset of all.
    resets = [*_named("rst_i", ports), *_named("stop_i", ports)]
    bench = _bench(
        build,
        ports,
        f"    {_all(resets, 1)} clock; {_all(resets, 0)} #1;\n"
        f"    for (k = 0; k < {CLOCKS}; k = k + 1) begin\n{checks}      clock;\n    end\n",
    )
    said = _simulate(build.name, bench, module)
    print(f"{build.name}: {'all known' if not said else 'UNKNOWN: ' + said.splitlines()[0]}", flush=True)
    return not said


def _frames(build: Build) -> bool:
    """Return whether an output port after a reset of one clock sends known frames, as many as its rate says."""
    module = plain.make(build)
    # 60 octets in eight beats, without a gap, at 1 Gb/s and 125 MHz: a frame each 84 clocks.
    bench = _bench(
        build,
        plain.ports(module),
        """    rate_i = 1000000000; m_axis_tready = 1; s_axis_tvalid = 1; s_axis_tdata = 1; s_axis_tkeep = 255;
    rst_i = 1; clock; rst_i = 0; #1;
    n = 0;
    for (k = 0; k < 84 * 100; k = k + 1) begin
      s_axis_tlast = n == 7; s_axis_tkeep = n == 7 ? 15 : 255; s_axis_tdata = k; #1;
      if (^{s_axis_tready, m_axis_tvalid, start_o, free_o, free_soon_o, rate_o, frames_o, octets_o} === 1'bx)
        $display("something is unknown in clock %0d", k);
      if (m_axis_tvalid && ^{m_axis_tdata, m_axis_tkeep, m_axis_tlast, m_axis_tuser} === 1'bx)
        $display("a beat is unknown in clock %0d", k);
      if (s_axis_tready === 1'b1) n = n == 7 ? 0 : n + 1;
      clock;
    end
    if (frames_o < 99 || frames_o > 101) $display("%0d frames instead of 100", frames_o);
""",
    )
    said = _simulate(f"{build.name}_frames", bench, module)
    print(f"{build.name}: {'100 frames, all known' if not said else said.splitlines()[0]}", flush=True)
    return not said


def _bench(build: Build, ports: list[plain.Port], does: str) -> str:
    """Return a test bench in Verilog: inputs are 0, and it does what is said; it prints what is wrong."""
    wires = "".join(
        f"  {'reg' if port.is_input else 'wire'} [{port.bits - 1}:0] {port.name}{' = 0' if port.is_input else ''};\n"
        for port in ports
    )
    pins = ", ".join(f".{port.name}({port.name})" for port in ports)
    clocks = _named("clk_i", ports)
    return (
        f"module bench;\n{wires}  integer k, n;\n  {build.top} dut ({pins});\n"
        f"  task clock; begin #1 {_all(clocks, 1)} #1 {_all(clocks, 0)} #1; end endtask\n"
        f"  initial begin\n{does}    $finish(0);\n  end\nendmodule\n"
    )


def _named(name: str, ports: list[plain.Port]) -> list[str]:
    """Return the ports of a name: one, or one of each side of a clock crossing."""
    return [port.name for port in ports if port.name in (name, f"s_{name}", f"m_{name}")]


def _all(names: list[str], value: int) -> str:
    return " ".join(f"{name} = {value};" for name in names)


def _simulate(name: str, bench: str, module: Path) -> str:
    """Compile and run a bench with Icarus Verilog; return what it printed."""
    source, made = module.parent / f"{name}_bench.v", module.parent / f"{name}.vvp"
    source.write_text(bench)
    _run(["iverilog", "-g2005", "-o", str(made), str(source), str(module)])
    return _run(["vvp", "-n", str(made)])


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
