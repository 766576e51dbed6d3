"""Makes the register blocks of registers/registers.rdl, into build/generated.

SystemVerilog by PeakRDL, a module with plain ports around it, a table for the documentation, and the map as the tests
read it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from peakrdl_regblock import RegblockExporter
from peakrdl_regblock.cpuif.passthrough import PassthroughCpuif
from peakrdl_regblock.udps import ALL_UDPS
from systemrdl.compiler import RDLCompiler
from systemrdl.node import AddrmapNode, FieldNode, RegNode

from cores import GENERATED, RTL

SOURCE = RTL / "registers" / "registers.rdl"
MAPS = ("switch_registers", "nic_registers")
# Ports of AXI4-Lite, as PeakRDL names them, so that its own interface could take the place of axil_front: direction,
# name, and which width.
_BUS = (
    ("output", "awready", ""),
    ("input", "awvalid", ""),
    ("input", "awaddr", "address"),
    ("input", "awprot", "[2:0] "),
    ("output", "wready", ""),
    ("input", "wvalid", ""),
    ("input", "wdata", "[31:0] "),
    ("input", "wstrb", "[3:0] "),
    ("input", "bready", ""),
    ("output", "bvalid", ""),
    ("output", "bresp", "[1:0] "),
    ("output", "arready", ""),
    ("input", "arvalid", ""),
    ("input", "araddr", "address"),
    ("input", "arprot", "[2:0] "),
    ("input", "rready", ""),
    ("output", "rvalid", ""),
    ("output", "rdata", "[31:0] "),
    ("output", "rresp", "[1:0] "),
)
# What goes to a block and comes from it, with their widths.
_ASKS = {"req": "", "req_is_wr": "", "addr": "[{}:0] ", "wr_data": "[31:0] ", "wr_biten": "[31:0] "}
_ANSWERS = {"rd_ack": "", "rd_err": "", "rd_data": "[31:0] ", "wr_ack": "", "wr_err": ""}
_LICENCE = "// SPDX-License-Identifier: Apache-2.0\n// Made from registers/registers.rdl by tools/registers.py.\n\n"


@dataclass(frozen=True)
class Register:
    """A register, or all of an array of them."""

    # As software sees it, with the places of an array left open: "reaction_point[].mac".
    path: str
    port: str
    bits: int
    # Setting, Pulse, Counter or Identity.
    kind: str
    wide: bool
    reset: int
    unit: str
    says: str
    # The address of each, in the order of the array; (hwif) its name in the block's structures.
    addresses: tuple[int, ...]
    names: tuple[str, ...]


def main() -> None:
    """Make everything for each map."""
    GENERATED.mkdir(parents=True, exist_ok=True)
    table = ["# Registers", ""]
    rust = ["// Made from registers/registers.rdl by tools/registers.py.\n"]
    places = list(rust)
    for name in MAPS:
        top = _compile(name)
        block = f"{name}_block"
        RegblockExporter().export(
            top,
            str(GENERATED),
            cpuif_cls=PassthroughCpuif,
            module_name=block,
            retime_read_fanin=True,
            err_if_bad_addr=True,
        )
        # Each always_comb of it writes other members of one structure, which Verilator takes for the same.
        made = GENERATED / f"{block}.sv"
        made.write_text(f"// verilator lint_off MULTIDRIVEN\n{made.read_text()}// verilator lint_on MULTIDRIVEN\n")
        registers = list(_registers(top))
        width = (top.size - 1).bit_length()
        (GENERATED / f"{name}.sv").write_text(_module(name, block, width, registers))
        table += _table(top, registers)
        rust.append(_map(name, registers))
        places.append(_places(name, registers))
    (GENERATED / "registers.md").write_text("\n".join(table) + "\n")
    (GENERATED / "registers.rs").write_text("\n".join(rust))
    (GENERATED / "places.rs").write_text("\n".join(places))


def _compile(name: str) -> AddrmapNode:
    compiler = RDLCompiler()
    for udp in ALL_UDPS:
        compiler.register_udp(udp, soft=False)
    compiler.compile_file(str(SOURCE))
    return compiler.elaborate(name).top


def _registers(top: AddrmapNode) -> Iterator[Register]:
    """Yield the registers; an array, of registers or of what holds them, counts once."""
    unrolled = [node for node in top.descendants(unroll=True) if isinstance(node, RegNode)]
    for node in top.descendants(unroll=False):
        if not isinstance(node, RegNode):
            continue
        path = node.get_rel_path(top, empty_array_suffix="[]")
        places = [place for place in unrolled if _open(place.get_rel_path(top)) == path]
        value = node.get_child_by_name("value")
        if not isinstance(value, FieldNode):
            raise SystemExit(f"{SOURCE}: {path} has no field value")
        reset = value.get_property("reset")
        writable, readable = value.is_sw_writable, value.is_sw_readable
        kind = ("Setting" if readable else "Pulse") if writable else ("Counter" if value.is_hw_writable else "Identity")
        yield Register(
            path=path,
            port=path.replace("[]", "").replace(".", "_") + ("_i" if kind == "Counter" else "_o"),
            bits=value.width,
            kind=kind,
            wide=node.get_property("regwidth") == 64,
            reset=reset if isinstance(reset, int) else 0,
            unit=node.get_property("unit") or "",
            says=node.get_property("desc") or "",
            addresses=tuple(n.absolute_address for n in places),
            names=tuple(n.get_rel_path(top) for n in places),
        )


def _open(path: str) -> str:
    """Return a path without the places in its arrays."""
    return re.sub(r"\[\d+\]", "[]", path)


def _module(name: str, block: str, width: int, registers: list[Register]) -> str:
    """Return a module with a plain port for each register."""
    ports = ["  input var logic clk_i,", "  input var logic rst_i,", ""]
    for direction, signal, bits in _BUS:
        bits = f"[{width - 1}:0] " if bits == "address" else bits
        ports.append(f"  {direction} var logic {bits}s_axil_{signal},")
    lines = []
    for register in registers:
        if register.kind == "Identity":
            continue
        count = len(register.addresses)
        array = f"[{count - 1}:0]" if count > 1 else ""
        bits = f"{array}[{register.bits - 1}:0] " if register.bits > 1 or count > 1 else ""
        direction = "input" if register.kind == "Counter" else "output"
        ports.append(f"  {direction} var logic {bits}{register.port},")
        for place, path in enumerate(register.names):
            port = f"{register.port}[{place}]" if count > 1 else register.port
            if register.kind == "Counter":
                lines.append(f"  assign hwif_in.{path}.value.next = {port};")
            else:
                lines.append(f"  assign {port} = hwif_out.{path}.value.value;")
    ports[-1] = ports[-1].rstrip(",")
    bus = "\n".join(f"    .s_axil_{signal}," for _, signal, _ in _BUS if not signal.endswith("prot"))
    asks = "\n".join(f"    .{signal}_o({signal})," for signal in _ASKS)
    answers = ",\n".join(f"    .{signal}_i({signal})" for signal in _ANSWERS)
    block_bus = "\n".join(f"    .s_cpuif_{signal}({signal})," for signal in (*_ASKS, *_ANSWERS))
    wires = [f"  logic {bits.format(width - 1)}{signal};" for signal, bits in {**_ASKS, **_ANSWERS}.items()]
    return (
        f"{_LICENCE}`default_nettype none\n\nmodule {name} (\n" + "\n".join(ports) + "\n);\n" + "\n".join(wires) + "\n"
        f"  {block}_pkg::{name}__in_t hwif_in;\n  {block}_pkg::{name}__out_t hwif_out;\n\n"
        f"  axil_front #(\n    .AddressW({width})\n  ) u_front (\n    .clk_i,\n    .rst_i,\n"
        f"{bus}\n{asks}\n{answers}\n  );\n\n"
        f"  {block} u_block (\n    .clk(clk_i),\n    .rst(rst_i),\n{block_bus}\n"
        f"    .s_cpuif_req_stall_wr(),\n    .s_cpuif_req_stall_rd(),\n"
        f"    .hwif_in(hwif_in),\n    .hwif_out(hwif_out)\n  );\n\n" + "\n".join(lines) + "\nendmodule\n\n"
        "`default_nettype wire\n"
    )


def _table(top: AddrmapNode, registers: list[Register]) -> list[str]:
    """Return the map as Markdown."""
    lines = [f"## {top.get_property('name')}", "", top.get_property("desc") or "", ""]
    lines += ["| Address | Register | Access | Bits | Unit | After reset | What |", "|---|---|---|---|---|---|---|"]
    access = {"Setting": "read, write", "Pulse": "write", "Counter": "read", "Identity": "read"}
    for register in registers:
        first, count = register.addresses[0], len(register.addresses)
        step = f" + {register.addresses[1] - first:#x} *n*, *n* to {count - 1}" if count > 1 else ""
        path = register.path.replace("[]", "[*n*]")
        reset = "" if register.kind in ("Counter", "Pulse") else f"{register.reset:#x}"
        if register.kind == "Setting" and register.unit:
            reset = f"{register.reset:,}".replace(",", " ")
        lines.append(
            f"| {first:#05x}{step} | `{path}` | {access[register.kind]} | {register.bits} | {register.unit} | {reset} "
            f"| {register.says} |"
        )
    return [*lines, ""]


def _map(name: str, registers: list[Register]) -> str:
    """Return the map as a Rust module: each register, and how its port is read or driven."""
    lines = [
        f"mod {name}_map {{",
        f"    use penstock_cosim::{name}::{{In, Out}};",
        "    use super::{Bits, Kind, Register};",
    ]
    lines.append("    pub const REGISTERS: &[Register<In, Out>] = &[")
    for register in registers:
        for place, (address, path) in enumerate(zip(register.addresses, register.names, strict=True)):
            at = f"{place * register.bits}, {register.bits}"
            get = f"|out| out.{register.port}.get({at})" if register.kind in ("Setting", "Pulse") else "|_| 0"
            put = (
                f"|given, value| given.{register.port}.put({at}, value)" if register.kind == "Counter" else "|_, _| ()"
            )
            lines.append(
                f'        Register {{ name: "{path}", address: {address:#x}, bits: {register.bits}, wide: '
                f"{str(register.wide).lower()}, reset: {register.reset:#x}, kind: Kind::{register.kind}, "
                f"get: {get}, put: {put} }},"
            )
    return "\n".join([*lines, "    ];", "}", ""])


def _places(name: str, registers: list[Register]) -> str:
    """Return where each register lies, as a Rust table: name, address, and whether it has two words."""
    lines = [f"/// Name, address and whether it has two words, of each register of `{name}`."]
    lines.append(f"pub const {name.upper()}: &[(&str, u16, bool)] = &[")
    for register in registers:
        for address, path in zip(register.addresses, register.names, strict=True):
            lines.append(f'    ("{path}", {address:#x}, {str(register.wide).lower()}),')
    return "\n".join([*lines, "];", ""])


if __name__ == "__main__":
    main()
