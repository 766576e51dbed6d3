"""Prints the size of the library for C on small machines, a row a scheme, as the page call-schemes-from-c has it.

    python tools/capi_size.py

Each scheme is built alone, for size, and linked with the functions of a source and a destination; what they do not need
goes. The columns are code and constants, octets. It needs rustup, which fetches the targets.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from struct import unpack_from

ROOT = Path(__file__).resolve().parent.parent
SCHEMES = ("dcqcn", "qcn", "dctcp", "swift")
TARGETS = {"thumbv7em-none-eabi": "Cortex-M4", "riscv32imac-unknown-none-elf": "RV32IMAC"}
# Of the section headers of 32-bit ELF: what is loaded, what is code, what takes no room in the file.
ALLOC, EXECUTE, NOBITS = 2, 4, 8
SMALL = {"OPT_LEVEL": "s", "PANIC": "abort", "LTO": "fat", "DEBUG": "false"}


def main() -> int:
    """Print the table."""
    names = re.findall(
        r"penstock_(?:scheme|rp|np)_[a-z_]+(?=\()", (ROOT / "crates/capi/include/penstock.h").read_text()
    )
    roots = [option for name in dict.fromkeys(names) for option in ("-u", name)]
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], check=True, capture_output=True, text=True).stdout.strip()
    linker = next(Path(sysroot).glob("lib/rustlib/*/bin/rust-lld"))
    subprocess.run(["rustup", "--quiet", "target", "add", *TARGETS], check=True)
    print("| Scheme |" + "".join(f" {machine}: code, constants (octets) |" for machine in TARGETS.values()))
    print("|---|" + "---|" * len(TARGETS))
    for scheme in SCHEMES:
        sizes = [size(scheme, target, linker, roots) for target in TARGETS]
        print(f"| `{scheme}` |" + "".join(f" {code}, {constants} |" for code, constants in sizes))
    return 0


def size(scheme: str, target: str, linker: Path, roots: list[str]) -> tuple[int, int]:
    """Return the octets of code and of constants."""
    small = {f"CARGO_PROFILE_RELEASE_{key}": value for key, value in SMALL.items()}
    folder = ROOT / ".build" / "capi-size"
    build = ["cargo", "rustc", "--locked", "--quiet", "--release", "-p", "penstock-capi", "--no-default-features"]
    build += ["--crate-type", "staticlib", "--target", target, "--target-dir", str(folder)]
    subprocess.run(build, cwd=ROOT, env=os.environ | small | {"PENSTOCK_SCHEMES": scheme}, check=True)
    library, linked = folder / target / "release" / "libpenstock.a", folder / f"{scheme}-{target}"
    link = [str(linker), "-flavor", "gnu", "--gc-sections", "--unresolved-symbols=ignore-all", "-e", roots[1], *roots]
    subprocess.run([*link, "-o", str(linked), str(library)], check=True)
    return sections(linked.read_bytes())


def sections(elf: bytes) -> tuple[int, int]:
    """Return what the sections of a 32-bit little-endian program that are loaded hold: code, and all else."""
    start = unpack_from("<I", elf, 32)[0]
    entry, count = unpack_from("<HH", elf, 46)
    code = constants = 0
    for number in range(count):
        _, kind, flags, _, _, octets = unpack_from("<6I", elf, start + number * entry)
        if not flags & ALLOC or kind == NOBITS:
            continue
        if flags & EXECUTE:
            code += octets
        else:
            constants += octets
    return code, constants


if __name__ == "__main__":
    sys.exit(main())
