"""JSON with the line of each key: a reader for files in which faults are to be named by line."""

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

_SPACE = re.compile(r"[ \t\n\r]*")
_ATOM = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_DEEPEST = 32


class JsonFaultError(ValueError):
    """Text that is no JSON; ``line`` counts from 1."""

    def __init__(self, line: int, reason: str) -> None:
        self.line = line
        super().__init__(reason)


class LinedDict(dict[str, Any]):
    """An object that knows the lines of its keys, and the keys that stand twice."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[str, int] = {}
        self.repeated: list[tuple[str, int, int]] = []
        """Key, line of the first, line of the last."""


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self._counted = (0, 1)

    def line(self, at: int) -> int:
        # Positions only grow, but for faults.
        before, line = self._counted if at >= self._counted[0] else (0, 1)
        line += self.text.count("\n", before, at)
        self._counted = (at, line)
        return line

    def fault(self, at: int, reason: str) -> JsonFaultError:
        return JsonFaultError(self.line(min(at, len(self.text))), reason)

    def skip(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        return found.end() if found else at

    def value(self, at: int, depth: int) -> tuple[Any, int]:
        if depth > _DEEPEST:
            raise self.fault(at, f"objects are nested deeper than {_DEEPEST}")
        first = self.text[at : at + 1]
        if first == "{":
            return self.object(at, depth)
        if first == "[":
            return self.array(at, depth)
        if first == '"':
            return self.string(at)
        found = _ATOM.match(self.text, at)
        if not found:
            shown = self.text[at : at + 20].split("\n")[0] or "the end of the file"
            raise self.fault(at, f"a value is expected, not {shown!r}")
        if len(found[0]) > 40:
            raise self.fault(at, f"a number of {len(found[0])} digits")
        return json.loads(found[0]), found.end()

    def string(self, at: int) -> tuple[str, int]:
        try:
            text, end = scanstring(self.text, at + 1, True)
        except json.JSONDecodeError as error:
            raise self.fault(error.pos, error.msg) from None
        return text, end

    def array(self, at: int, depth: int) -> tuple[list[Any], int]:
        values: list[Any] = []
        at = self.skip(at + 1)
        if self.text[at : at + 1] == "]":
            return values, at + 1
        while True:
            value, at = self.value(at, depth + 1)
            values.append(value)
            at = self.skip(at)
            if self.text[at : at + 1] == "]":
                return values, at + 1
            at = self.comma(at, "]")

    def object(self, at: int, depth: int) -> tuple[LinedDict, int]:
        found = LinedDict()
        at = self.skip(at + 1)
        if self.text[at : at + 1] == "}":
            return found, at + 1
        while True:
            if self.text[at : at + 1] != '"':
                raise self.fault(at, "a key in double quotes is expected")
            line = self.line(at)
            key, at = self.string(at)
            at = self.skip(at)
            if self.text[at : at + 1] != ":":
                raise self.fault(at, f"a colon is expected after {key!r}")
            value, at = self.value(self.skip(at + 1), depth + 1)
            if key in found:
                found.repeated.append((key, found.lines[key], line))
            found[key] = value
            found.lines[key] = line
            at = self.skip(at)
            if self.text[at : at + 1] == "}":
                return found, at + 1
            at = self.comma(at, "}")

    def comma(self, at: int, end: str) -> int:
        if self.text[at : at + 1] != ",":
            raise self.fault(at, f"a comma or {end} is expected")
        return self.skip(at + 1)


def read_json(text: str) -> Any:
    """Return the value of a text; its objects are :class:`LinedDict`.

    Raises:
        JsonFaultError: the text is no JSON (RFC 8259), nested deeper than 32, or has a number of more than 40 digits.
    """
    reader = _Reader(text.removeprefix("\ufeff"))
    value, at = reader.value(reader.skip(0), 0)
    if reader.skip(at) < len(reader.text):
        raise reader.fault(reader.skip(at), "more text follows the value")
    return value
