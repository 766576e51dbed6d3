"""Makes NAME_checks.sv for every core with streams or registers, into build/generated: their rules, for simulation.

A file binds `stream_check` (common/rtl) to each stream of each module of a core, and `axil_check` to its register bus,
beside the core's sources. Both are found by the names of the ports. Those of a stream are PREFIX, which is the beat,
PREFIX_tvalid, PREFIX_tready, and PREFIX_octets_i if it is there. Those of a bus are s_axil_i and s_axil_o.
"""

import re
from pathlib import Path

from cores import GENERATED, Core, all_cores

_MODULE = re.compile(r"^module (\w+)(.*?)^\);$", re.MULTILINE | re.DOTALL)
_PORT = re.compile(r"^\s+(?:input|output) var\s[^/\n]*?\b(\w+?),?$", re.MULTILINE)
# A module's only register bus.
_BUS = re.compile(r"\baxil_req_t\s+s_axil_i\b")
# Its beats have more beside them.
_BEAT = {"stream_buffer": "[$bits(penstock_pkg::axis_t)-1:0]"}
# No length stands beside a stream.
NO_LENGTH = "'0"
# They take frames with holes in tkeep for bad ones.
_HOLES = {("cp", "s_axis")}
# It has a reset besides, that leaves its table.
_RESETS = {"forwarding_table": "rst_i || stop_i"}


def main() -> None:
    """Write the file of each core that has streams or a register bus."""
    GENERATED.mkdir(parents=True, exist_ok=True)
    for core in all_cores():
        binds = [bind for source in core.own_sources for bind in binds_of(source.read_text())]
        path = GENERATED / name_of(core)
        text = (
            "// SPDX-License-Identifier: Apache-2.0\n"
            f"// Made by tools/checks.py: rules of the streams and registers of {core.folder.name}, in simulation.\n\n"
            + "\n".join(binds)
        )
        if not binds:
            path.unlink(missing_ok=True)
        elif not path.exists() or path.read_text() != text:
            path.write_text(text)


def name_of(core: Core) -> str:
    """Return the name of a core's file."""
    return f"{core.folder.name}_checks.sv"


def checks_of(core: Core) -> Path | None:
    """Return a core's file; None if it has nothing to check."""
    path = GENERATED / name_of(core)
    return path if path.exists() else None


def binds_of(text: str) -> list[str]:
    """Return a bind for each stream and each register bus of each module of a source."""
    found = []
    for module, header in _MODULE.findall(text):
        ports = set(_PORT.findall(header))
        prefixes = sorted(port.removesuffix("_tvalid") for port in ports if port.endswith("_tvalid"))
        whole = [
            each
            for each in prefixes
            if {each, f"{each}_tready", *(f"{_side(each, ports)}{pin}" for pin in ("clk_i", "rst_i"))} <= ports
        ]
        found += [_bind(module, prefix, ports) for prefix in whole]
        if _BUS.search(header):
            pins = ".clk_i, .rst_i, .req_i(s_axil_i), .rsp_i(s_axil_o)"
            found.append(f"bind {module} axil_check u_check_s_axil (\n  {pins}\n);\n")
    return found


def _side(prefix: str, ports: set[str]) -> str:
    """Return what stands before the names of a stream's clock and reset: where there are two clocks, its side."""
    return "" if "clk_i" in ports else f"{prefix[0]}_"


def _bind(module: str, prefix: str, ports: set[str]) -> str:
    octets, side = f"{prefix}_octets_i", _side(prefix, ports)
    parameters = [f".Streams($bits({prefix}_tvalid))"]
    if (module, prefix) in _HOLES:
        parameters.append(".Holes(1'b1)")
    if octets in ports:
        parameters.append(".Lengths(1'b1)")
    pins = [f".axis_i({prefix}{_BEAT.get(module, '')})"]
    pins += [f".{part}_i({prefix}_{part})" for part in ("tvalid", "tready")]
    pins.append(f".octets_i({octets if octets in ports else NO_LENGTH})")
    return (
        f"bind {module} stream_check #({', '.join(parameters)}) u_check_{prefix} (\n"
        f"  .clk_i{f'({side}clk_i)' if side else ''}, .rst_i({_RESETS.get(module, f'{side}rst_i')}), "
        f"{', '.join(pins)}\n);\n"
    )


if __name__ == "__main__":
    main()
