"""Checks that the library for C calculates without floating point where a scheme's state is integer.

    python tools/capi_floats.py

The library is built with names of functions that say which scheme they serve, and disassembled. Each function of a
point is followed to all that it calls by name. Parameters are read and points made and configured with floating point,
so those functions are left out. Schemes whose state has floating point are the negative control: it has to be found.
It needs objdump, on a machine whose processor is of the x86-64 family.
"""

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import penstock

ROOT = Path(__file__).resolve().parent.parent
BUILD = ("cargo", "rustc", "--locked", "--quiet", "-p", "penstock-capi", "--features", "penstock-schemes/one-engine")
NAMED = ("--lib", "--crate-type", "cdylib", "--", "-Csymbol-mangling-version=v0")
POINT = re.compile(r"<penstock::points::[RCN]p<penstock_schemes::(\w+)::\w+> as penstock::points::Any[RCN]p>::(\w+)")
WITH_PARAMETERS = ("configure",)
# What a panic writes is no calculation of a point.
BEYOND = ("core::panicking", "core::fmt", "core::option::", "core::result::", "alloc::alloc", "alloc::raw_vec")
FLOAT = re.compile(r"v?(cvt\w+|(add|sub|mul|div|sqrt|max|min|u?comi)[sp][sd])\b")
"""Arithmetic, comparisons and conversions; moves and logic of the same registers also copy structures."""

Functions = dict[str, tuple[str, list[str], set[str]]]
"""By address: the name, instructions of floating point, and the addresses of the functions that are called."""


def main() -> int:
    """Build, check and print; return the exit status."""
    subprocess.run([*BUILD, *NAMED], cwd=ROOT, check=True)
    functions = disassembled(ROOT / "target/debug/libpenstock.so")
    roots = defaultdict(list)
    for address, (name, _, _) in functions.items():
        of = POINT.match(name)
        if of is not None and of[2] not in WITH_PARAMETERS:
            roots[of[1]].append(address)
    wrong = 0
    for entry in penstock.schemes():
        module = entry["name"].replace("-", "_")
        found = [chain for root in roots[module] if (chain := floating(functions, root))]
        if roots[module]:
            print(f"{entry['name']}: {len(roots[module])} functions, {len(found)} with floating point")
        if entry["integer_state"] and found:
            print("  " + " > ".join(found[0]))
            wrong += 1
    controls = [name for name in ("swift", "timely") if any(floating(functions, root) for root in roots[name])]
    if len(controls) < 2:
        print(f"floating point of swift and timely was found for {controls} alone: the check sees nothing")
        wrong += 1
    return min(wrong, 1)


def disassembled(library: Path) -> Functions:
    """Return the functions of a library."""
    words = ["objdump", "--disassemble", "--demangle", "--no-show-raw-insn", str(library)]
    text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    functions: Functions = {}
    here = ""
    for line in text.splitlines():
        title = re.match(r"0*([0-9a-f]+) <(.*)>:$", line)
        if title is not None:
            here = title[1]
            functions[here] = (title[2], [], set())
            continue
        instruction = line.partition(":\t")[2]
        if not instruction or not here:
            continue
        if FLOAT.match(instruction):
            functions[here][1].append(instruction.strip())
        called = re.match(r"(?:call|jmp)\s+([0-9a-f]+) <", instruction)
        if called is not None:
            functions[here][2].add(called[1])
    return functions


def floating(functions: Functions, root: str) -> list[str]:
    """Return the first chain of calls from a function to an instruction of floating point; empty if there is none."""
    seen, waiting = set(), [[root]]
    while waiting:
        path = waiting.pop()
        known = functions.get(path[-1])
        if path[-1] in seen or known is None or any(part in known[0] for part in BEYOND):
            continue
        seen.add(path[-1])
        if known[1]:
            return [*(functions[address][0] for address in path), known[1][0]]
        waiting.extend([*path, address] for address in known[2])
    return []


if __name__ == "__main__":
    sys.exit(main())
