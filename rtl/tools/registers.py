"""Makes the register blocks of registers/registers.rdl, into build/generated.

A SystemVerilog module with a package of its control and status structures, a table for the documentation, a header for
C. The map as the registers' test reads it, and the addresses for all other tests. SystemRDL's own compiler reads the
description.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from systemrdl.compiler import RDLCompiler
from systemrdl.node import AddrmapNode, FieldNode, RegfileNode, RegNode

from cores import GENERATED, RTL

SOURCE = RTL / "registers" / "registers.rdl"
MAPS = ("switch_registers", "nic_registers", "pfc_registers")
# Requests and answers of axil_front, with their widths.
_ASKS = {"req": "", "req_is_wr": "", "addr": "[{}:0] ", "wr_data": "[31:0] ", "wr_strobe": "[3:0] "}
_ANSWERS = {"rd_ack": "", "rd_err": "", "rd_data": "[31:0] ", "wr_ack": "", "wr_err": ""}
_LICENCE = "// SPDX-License-Identifier: Apache-2.0\n// Made from registers/registers.rdl by tools/registers.py.\n\n"


@dataclass(frozen=True)
class Register:
    """A register, or all of an array of them."""

    # As software sees it, with the indices of an array left open: "reaction_point[].mac".
    path: str
    bits: int
    # Setting, Pulse, Counter or Identity.
    kind: str
    wide: bool
    reset: int
    unit: str
    says: str
    # The address of each, in the order of the array, and its name.
    addresses: tuple[int, ...]
    names: tuple[str, ...]
    # The group it is in, how many of these there are, and the prefix of the group's types.
    group: str = ""
    groups: int = 1
    prefix: str = ""

    @property
    def port(self) -> str:
        """Return the module's port whose structure has the register."""
        return "status_i" if self.kind == "Counter" else "control_o"

    def element(self, place: int) -> str:
        """Return the field of the port, for an index of an array."""
        return f"{self.port}.{self.names[place]}"

    def __post_init__(self) -> None:
        """Refuse a register that has no field in the module."""
        if self.bits > 32 and not self.wide:
            raise SystemExit(f"{SOURCE}: {self.path} has more bits than its word")
        if self.wide and any(address % 8 for address in self.addresses):
            raise SystemExit(f"{SOURCE}: {self.path} does not begin at a multiple of 8")


# A register, its index in its array, and its address.
Place = tuple[Register, int, int]


def main() -> None:
    """Make everything for each map."""
    GENERATED.mkdir(parents=True, exist_ok=True)
    table = ["# Registers", ""]
    rust = ["// Made from registers/registers.rdl by tools/registers.py.\n"]
    addresses = [*rust]
    for name in MAPS:
        top = _compile(name)
        registers = list(_registers(top))
        width = (top.size - 1).bit_length()
        (GENERATED / f"{name}.sv").write_text(_module(name, width, registers))
        (GENERATED / f"{name}.h").write_text(_header(name, top, registers))
        table += _table(top, registers)
        rust.append(_map(name, registers))
        addresses += _addresses(name, top, registers)
    (GENERATED / "registers.md").write_text("\n".join(table) + "\n")
    (GENERATED / "registers.rs").write_text("\n".join(rust))
    (GENERATED / "addresses.rs").write_text("\n".join(addresses))


def _compile(name: str) -> AddrmapNode:
    compiler = RDLCompiler()
    compiler.compile_file(str(SOURCE))
    return compiler.elaborate(name).top


def _registers(top: AddrmapNode) -> Iterator[Register]:
    """Yield the registers; an array, of registers or of groups of them, counts once."""
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
        group = node.parent
        if kind != "Identity" and not (isinstance(group, RegfileNode) and isinstance(group.parent, AddrmapNode)):
            raise SystemExit(f"{SOURCE}: {path} is not in a group of registers")
        name = group.inst_name if isinstance(group, RegfileNode) else ""
        yield Register(
            path=path,
            bits=value.width,
            kind=kind,
            wide=node.get_property("regwidth") == 64,
            reset=reset if isinstance(reset, int) else 0,
            unit=node.get_property("unit") or "",
            says=node.get_property("desc") or "",
            addresses=tuple(n.absolute_address for n in places),
            names=tuple(n.get_rel_path(top) for n in places),
            group=name,
            groups=math.prod(group.array_dimensions or [1]) if isinstance(group, RegfileNode) else 1,
            prefix=(group.orig_type_name or name).removesuffix("_registers") if name else "",
        )


def _open(path: str) -> str:
    """Return a path without the indices in its arrays."""
    return re.sub(r"\[\d+\]", "[]", path)


def _package(name: str, registers: list[Register]) -> str:
    """Return a package with the structures: what registers control, and the status that they show.

    Each has a structure for each group of registers, with their names.
    """
    types: dict[str, list[str]] = {}
    for way, port in (("control", "control_o"), ("status", "status_i")):
        whole: dict[str, str] = {}
        for register in _of_port(registers, port):
            structure = f"{register.prefix}_{way}_t"
            whole[register.group] = f"{structure}{_range(register.groups)} {register.group};"
            each = len(register.addresses) // register.groups
            field = f"logic{_range(each)}{_range(register.bits)} {register.path.rpartition('.')[2].removesuffix('[]')};"
            if field not in types.setdefault(structure, []):
                types[structure].append(field)
        types[f"{name.removesuffix('_registers')}_{way}_t"] = list(whole.values())
    # A register may have a name that C++ has, too (queue): as a field it is none there.
    lines = [f"package {name}_pkg;", "  // verilator lint_off SYMRSVDWORD"]
    for structure, fields in types.items():
        lines += ["  typedef struct packed {", *(f"    {field}" for field in fields), f"  }} {structure};", ""]
    return "\n".join([*lines[:-1], "  // verilator lint_on SYMRSVDWORD", "endpackage", ""])


def _of_port(registers: list[Register], port: str) -> list[Register]:
    """Return the registers that are fields of a port."""
    return [register for register in registers if register.group and register.port == port]


def _range(count: int) -> str:
    """Return the range of an array or of bits; none for one."""
    return f" [{count - 1}:0]" if count > 1 else ""


def _lowest_bits(registers: list[Register]) -> dict[str, int]:
    """Return the position in its port's structure of each register, by name: the first field has the highest bits."""
    lows: dict[str, int] = {}
    for port in ("control_o", "status_i"):
        low = 0
        for group in reversed(dict.fromkeys(register.group for register in _of_port(registers, port))):
            members = [register for register in _of_port(registers, port) if register.group == group]
            for at in range(members[0].groups):
                for register in reversed(members):
                    each = len(register.names) // register.groups
                    for name in register.names[at * each : (at + 1) * each]:
                        lows[name] = low
                        low += register.bits
    return lows


def _module(name: str, width: int, registers: list[Register]) -> str:
    """Return the package and the module, which has a port for all that registers control, and one for the status."""
    kind = name.removesuffix("_registers")
    asks = "\n".join(f"    .{signal}_o({signal})," for signal in _ASKS)
    answers = ",\n".join(f"    .{signal}_i({signal})" for signal in _ANSWERS)
    wires = [f"  logic {bits.format(width - 1)}{signal};" for signal, bits in {**_ASKS, **_ANSWERS}.items()]
    places = [(register, place, at) for register in registers for place, at in enumerate(register.addresses)]
    body = "\n".join((_there(width, places), _writes(width, places), _reads(width, places)))
    return (
        f"{_LICENCE}`default_nettype none\n\n{_package(name, registers)}\n"
        f"module {name}\n  import penstock_pkg::*;\n  import {name}_pkg::*;\n(\n"
        "  input var logic clk_i,\n  input var logic rst_i,\n\n"
        "  input var axil_req_t s_axil_i,\n  output var axil_rsp_t s_axil_o,\n"
        f"  output var {kind}_control_t control_o,\n  input var {kind}_status_t status_i\n);\n"
        + "\n".join(wires)
        + "\n"
        f"\n  axil_front #(\n    .AddressW({width})\n  ) u_front (\n    .clk_i,\n    .rst_i,\n"
        f"    .s_axil_i,\n    .s_axil_o,\n{asks}\n{answers}\n  );\n\n"
        "  // Nothing happens between accesses.\n  logic clk;\n  clock_gate u_clock (\n    .clk_i,\n"
        f"    .enable_i(rst_i || req),\n    .clk_o(clk)\n  );\n\n{body}"
        "endmodule\n\n`default_nettype wire\n"
    )


def _word(width: int, address: int) -> str:
    """Return the number of a word as a constant."""
    return f"{width - 2}'h{address // 4:x}"


def _there(width: int, places: list[Place]) -> str:
    """Return the logic that says whether an address has a register."""
    words = [at + 4 * n for register, _, at in places for n in range(1 + register.wide)]
    cases = ", ".join(_word(width, address) for address in sorted(words))
    return (
        "  // An access to an address without a register is an error, and does nothing.\n"
        f"  logic there_q;\n  always_ff @(posedge clk) begin\n    if (req) begin\n      case (addr[{width - 1}:2])\n"
        f"        {cases}: there_q <= 1'b1;\n        default: there_q <= 1'b0;\n      endcase\n    end\n  end\n"
    )


def _writes(width: int, places: list[Place]) -> str:
    """Return settings and pulses, and the logic that writes them: a clock finds the register, the next writes it."""
    resets: list[str] = []
    ends: list[str] = []
    finds: list[str] = []
    sets: list[str] = []
    for register, place, at in places:
        if register.kind not in ("Setting", "Pulse"):
            continue
        port, here = register.element(place), len(finds)
        finds.append(f"        {_word(width, at + 4 * register.wide)}: here_q[{here}] <= 1'b1;")
        resets.append(f"      {port} <= {register.bits}'h{register.reset:x};")
        if register.kind == "Pulse":
            ends.append(f"      {port} <= here_q[{here}] && strobe_q[0] && data_q[0];")
            continue
        sets.append(f"      if (here_q[{here}]) begin")
        sets += [f"        {line}" for line in _octets(port, register)]
        sets.append("      end")
    lines = [
        "  // Which register is written, and the data; of one of two words the lower waits for the higher.",
        f"  logic [{len(finds) - 1}:0] here_q;",
        f"  logic [{width - 1}:2] write_at_q;",
        "  logic [31:0] data_q;",
        "  logic [3:0] strobe_q;",
        "  logic [31:0] low_q;",
        "  logic [3:0] low_strobe_q;",
        "  always_ff @(posedge clk) begin",
        "    if (rst_i) begin",
        "      wr_ack <= 1'b0;",
        "      here_q <= '0;",
        "      strobe_q <= '0;",
        "    end else begin",
        "      wr_ack <= req && req_is_wr;",
        "      here_q <= '0;",
        "      if (req && req_is_wr) begin",
        f"        case (addr[{width - 1}:2])",
        *(f"  {line}" for line in finds),
        "          default: ;",
        "        endcase",
        "        strobe_q <= wr_strobe;",
        "      end",
        "    end",
        "    if (req && req_is_wr) begin",
        f"      write_at_q <= addr[{width - 1}:2];",
        "      data_q <= wr_data;",
        "      low_q <= data_q;",
        f"      low_strobe_q <= {{1'b0, addr[{width - 1}:3]}} == {{write_at_q[2], write_at_q[{width - 1}:3]}}"
        " ? strobe_q : '0;",
        "    end",
        "  end",
        "  assign wr_err = !there_q;",
        "",
        "  always_ff @(posedge clk) begin",
        "    if (rst_i) begin",
        *resets,
        "    end else begin",
        *ends,
        *sets,
        "    end",
        "  end",
    ]
    return "\n".join(lines) + "\n"


def _octets(port: str, register: Register) -> Iterator[str]:
    """Yield the statements that write each octet of a setting."""
    for low in range(0, register.bits, 8):
        high = min(low + 8, register.bits) - 1
        half, at = ("low_", low) if register.wide and low < 32 else ("", low % 32)
        bits = f"[{high}:{low}]" if register.bits > 1 else ""
        word = f"[{at + high - low}:{at}]"
        yield f"if ({half}strobe_q[{at // 8}]) {port}{bits} <= {half or 'data_'}q{word};"


def _reads(width: int, places: list[Place]) -> str:
    """Return the logic of a read: the group of eight pairs of words and the pair, its value, the group's, the word.

    Each group has separate registers for the number of the pair, next to its values.
    """
    pairs: dict[int, dict[int, dict[int, str]]] = {}
    for register, place, at in places:
        group, pair = pairs.setdefault(at >> 6, {}), at >> 3 & 7
        value = {"Identity": f"32'h{register.reset:x}", "Pulse": "'0"}.get(register.kind, register.element(place))
        if register.wide:
            group[pair] = {0: f"{{1'b1, 64'({value})}}"}
        else:
            group.setdefault(pair, {})[at >> 2 & 1] = value
    groups, here, either = [], [], []
    for index, (number, group) in enumerate(sorted(pairs.items())):
        groups += [f"    if (group_here_q[{index}]) begin", f"      case (pair_at_q[{index}])"]
        for pair, words in sorted(group.items()):
            low, high = words.get(0, "'0"), words.get(1, "'0")
            both = low if low.startswith("{") else f"{{1'b0, 32'({high}), 32'({low})}}"
            groups.append(f"        3'd{pair}: group_q[{index}] <= {both};")
        groups += [f"        default: group_q[{index}] <= '0;", "      endcase", "    end"]
        is_it = f"addr[{width - 1}:6] == {width - 6}'d{number}"
        here.append(f"      group_here_q[{index}] <= {is_it};")
        here.append(f"      if ({is_it}) pair_at_q[{index}] <= addr[5:3];")
        either.append(f"({{65{{group_here_q[{index}]}}}} & group_q[{index}])")
    lines = [
        "  // Pairs of words, and whether both are one register: each group of eight, then the group.",
        f"  logic [{len(pairs) - 1}:0][64:0] group_q;",
        f"  logic [{len(pairs) - 1}:0][2:0] pair_at_q;",
        f"  logic [{len(pairs) - 1}:0] group_here_q;",
        "  logic [64:0] pair_q;",
        f"  logic [{width - 1}:2] address_q;",
        "  logic asking_q;",
        "  logic reading_q;",
        "  always_ff @(posedge clk) begin",
        "    if (req) begin",
        f"      address_q <= addr[{width - 1}:2];",
        *here,
        "    end",
        *groups,
        "    if (reading_q) begin",
        "      pair_q <= " + "\n          | ".join(either) + ";",
        "    end",
        "  end",
        "",
        "  // The higher word of the register whose lower was read last is that of the same moment.",
        f"  logic [{width - 4}:0] high_at_q;",
        "  logic high_kept_q;",
        "  logic high_shows_q;",
        "  logic [31:0] high_q;",
        "  always_ff @(posedge clk) begin",
        "    if (rst_i) begin",
        "      asking_q <= 1'b0;",
        "      reading_q <= 1'b0;",
        "      rd_ack <= 1'b0;",
        "      high_kept_q <= 1'b0;",
        "    end else begin",
        "      asking_q <= req && !req_is_wr;",
        "      reading_q <= asking_q;",
        "      rd_ack <= reading_q;",
        "      if (rd_ack) high_kept_q <= pair_q[64] && !address_q[2];",
        "    end",
        f"    high_shows_q <= address_q[2] && high_kept_q && high_at_q == address_q[{width - 1}:3];",
        "    if (rd_ack && !address_q[2]) begin",
        f"      high_at_q <= address_q[{width - 1}:3];",
        "      high_q <= pair_q[63:32];",
        "    end",
        "  end",
        "  assign rd_err = !there_q;",
        "  always_comb begin",
        "    if (high_shows_q) rd_data = high_q;",
        "    else rd_data = address_q[2] ? pair_q[63:32] : pair_q[31:0];",
        "  end",
    ]
    return "\n".join(lines) + "\n"


def _table(top: AddrmapNode, registers: list[Register]) -> list[str]:
    """Return the map as Markdown."""
    lines = [f"## {top.get_property('name')}", "", top.get_property("desc") or "", ""]
    lines += ["| Address | Register | Access | Bits | Unit | After reset | Meaning |", "|---|---|---|---|---|---|---|"]
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


def _header(name: str, top: AddrmapNode, registers: list[Register]) -> str:
    """Return the map as a header for C: address, bits and value after reset of each register."""
    prefix = "PENSTOCK_" + name.removesuffix("_registers").upper()
    guard = f"{prefix}_REGISTERS_H"
    lines = [
        "/* SPDX-License-Identifier: Apache-2.0",
        " *",
        f" * Registers of the {top.get_property('name')}. Made from registers/registers.rdl by tools/registers.py.",
        " *",
        " * Addresses are octets from the beginning of the map. A register of more than 32 bits has two words, the",
        " * lower first: a write counts as a whole when the higher is written, a read of the lower keeps the higher.",
        " */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        f"#define {prefix}_SIZE {top.size:#x}u",
    ]
    for register in registers:
        macro = f"{prefix}_{register.path.replace('[]', '').replace('.', '_').upper()}"
        first, count = register.addresses[0], len(register.addresses)
        access = {"Setting": "read, write", "Pulse": "write", "Counter": "read", "Identity": "read"}[register.kind]
        unit = f", {register.unit}" if register.unit else ""
        lines += ["", f"/* {register.says}{unit} ({access}) */"]
        if count > 1:
            step = register.addresses[1] - first
            if register.addresses != tuple(range(first, first + count * step, step)):
                raise SystemExit(f"{SOURCE}: {register.path} has no even steps")
            lines.append(f"#define {macro}(n) ({first:#x}u + {step:#x}u * (n))")
            lines.append(f"#define {macro}_COUNT {count}u")
        else:
            lines.append(f"#define {macro} {first:#x}u")
        lines.append(f"#define {macro}_BITS {register.bits}u")
        if register.kind in ("Setting", "Identity"):
            suffix = "ull" if register.reset > 0xFFFF_FFFF else "u"
            lines.append(f"#define {macro}_DEFAULT {register.reset:#x}{suffix}")
    return "\n".join([*lines, "", f"#endif /* {guard} */", ""])


def _map(name: str, registers: list[Register]) -> str:
    """Return the map as a Rust module: each register, and how its port is read or driven."""
    lines = [
        f"mod {name}_map {{",
        f"    use penstock_cosim::{name}::{{In, Out}};",
        "    use super::{Bits, Kind, Register};",
    ]
    lines.append("    pub const REGISTERS: &[Register<In, Out>] = &[")
    lows = _lowest_bits(registers)
    for register in registers:
        for address, path in zip(register.addresses, register.names, strict=True):
            at = f"{lows.get(path)}, {register.bits}"
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


def _addresses(name: str, top: AddrmapNode, registers: list[Register]) -> list[str]:
    """Return the addresses as a Rust constant: name, address, bits of each register."""
    lines = [f"/// Registers of the {top.get_property('name')}: name, address, bits."]
    lines.append(f"pub const {name.upper()}: &[(&str, u16, u32)] = &[")
    for register in registers:
        for address, path in zip(register.addresses, register.names, strict=True):
            lines.append(f'    ("{path}", {address:#x}, {register.bits}),')
    return [*lines, "];", ""]


if __name__ == "__main__":
    main()
