"""Checks that the laboratory's engine asks its page for nothing: no clock, no random numbers, no files.

    python tools/wasm_imports.py target/wasm32-unknown-unknown/web/penstock_web.wasm

Each import must be one of wasm-bindgen's, by which values cross to JavaScript. (WebAssembly Core Specification 2.0,
sections 5.5.2 and 5.5.5: a section is its number, its size and its content; an import is a module, a name and a kind.)
"""

import sys
from pathlib import Path

GLUE = "__wbindgen_"
_IMPORTS = 2


class _Reader:
    def __init__(self, octets: bytes) -> None:
        self.octets, self.at = octets, 0

    def octet(self) -> int:
        self.at += 1
        return self.octets[self.at - 1]

    def number(self) -> int:
        """Return an unsigned LEB128."""
        value = shift = 0
        while True:
            octet = self.octet()
            value |= (octet & 0x7F) << shift
            shift += 7
            if octet < 0x80:
                return value

    def text(self) -> str:
        length = self.number()
        self.at += length
        return self.octets[self.at - length : self.at].decode()

    def description(self) -> None:
        """Skip what is imported: a function, table, memory, global or tag."""
        kind = self.octet()
        if kind == 1:
            self.octet()
        if kind in (1, 2):
            bounded = self.octet() & 1
            self.number()
            if bounded:
                self.number()
        elif kind == 3:
            self.at += 2
        elif kind == 4:
            self.octet()
            self.number()
        else:
            self.number()


def imports(module: bytes) -> list[str]:
    """Return the imports of a module, ``module.name`` each.

    Raises:
        ValueError: this is no module of WebAssembly 1.
    """
    if module[:8] != b"\0asm\x01\0\0\0":
        raise ValueError("this is no module of WebAssembly 1")
    reader, found = _Reader(module), []
    reader.at = 8
    while reader.at < len(module):
        section, size = reader.octet(), reader.number()
        end = reader.at + size
        if section == _IMPORTS:
            for _ in range(reader.number()):
                found.append(f"{reader.text()}.{reader.text()}")
                reader.description()
        reader.at = end
    return found


def main() -> int:
    """Print the imports that are none of wasm-bindgen's; the exit status says whether there are any."""
    (path,) = sys.argv[1:]
    found = imports(Path(path).read_bytes())
    foreign = [name for name in found if not name.startswith(GLUE)]
    print(f"{path}: {len(found)} imports", *(f"  {name} is not of wasm-bindgen" for name in foreign), sep="\n")
    return 1 if foreign or not found else 0


if __name__ == "__main__":
    sys.exit(main())
