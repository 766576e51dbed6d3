"""Mutation testing: a core with one operator or constant changed must fail the test that holds it to its state machine.

For each core whose `core.toml` has

    [mutation]
    sources = ["rtl/x.sv"]     # what is changed
    tests = ["x"]              # tests of rtl/cosim that must fail

every mutant is built and tested. One that passes is an error, unless `[[mutation.equivalent]]` names it (`line`,
`change`) with its `reason`.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

import pyslang.parsing
import pyslang.syntax

from cores import BUILD, RTL

# What an operator becomes.
_OPERATORS = {
    "+": "-",
    "-": "+",
    "*": "+",
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "&&": "||",
    "||": "&&",
    "&": "|",
    "|": "&",
    "^": "&",
    "<<": ">>",
    ">>": "<<",
    ">>>": ">>",
}
_BLOCKS = ("AlwaysFFBlock", "AlwaysCombBlock", "ContinuousAssign", "FunctionDeclaration")
# A mutant that hangs is caught too.
_SECONDS = 600


@dataclass(frozen=True)
class Mutant:
    """A source with one change."""

    source: Path
    start: int
    end: int
    text: str
    line: str
    number: int

    @property
    def change(self) -> str:
        """What becomes of what."""
        before = self.source.read_text()[self.start : self.end].strip()
        return f"{' '.join(before.split())} -> {' '.join(self.text.split())}"


def main(names: list[str]) -> int:
    """Test the mutants of the cores that are named, or of all; return 0 if none survives."""
    survivors = 0
    for path in sorted(RTL.glob("*/core.toml")):
        plan = tomllib.loads(path.read_text()).get("mutation")
        if plan and (not names or path.parent.name in names):
            survivors += _core(path.parent, plan)
    return int(survivors > 0)


def _core(folder: Path, plan: dict) -> int:  # type: ignore[type-arg]  # what TOML holds
    mutants = [mutant for source in plan["sources"] for mutant in mutants_of(folder / source)]
    equivalent = {(each["line"], each["change"]) for each in plan.get("equivalent", [])}
    workers: SimpleQueue[Path] = SimpleQueue()
    count = len(os.sched_getaffinity(0))
    for index in range(count):
        workers.put(_copy(index))
    survivors = []
    with ThreadPoolExecutor(count) as pool:
        for done, (mutant, caught) in enumerate(
            pool.map(lambda m: (m, _caught(m, folder, plan["tests"], workers)), mutants), 1
        ):
            print(f"\r{folder.name}: {done} of {len(mutants)} mutants", end="", file=sys.stderr, flush=True)
            if not caught:
                survivors.append(mutant)
    print(file=sys.stderr)
    wrong = 0
    for mutant in survivors:
        known = (mutant.line, mutant.change) in equivalent
        wrong += not known
        said = "equivalent" if known else "SURVIVES"
        print(f"{mutant.source.relative_to(RTL)}:{mutant.number}: {said}: {mutant.change}\n    {mutant.line}")
    print(f"{folder.name}: {len(mutants) - len(survivors)} of {len(mutants)} mutants caught, {wrong} survive")
    return wrong


def mutants_of(source: Path) -> list[Mutant]:
    """Return every mutant of a source."""
    text = source.read_text()
    octets = text.encode()
    found = []
    tree = pyslang.syntax.SyntaxTree.fromText(text, source.name)
    for block in _blocks(tree.root):
        for start, end, new in _changes(block):
            # The parser counts octets.
            before, after = octets[:start].decode(), octets[:end].decode()
            line = before.count("\n")
            found.append(Mutant(source, len(before), len(after), new, text.splitlines()[line].strip(), line + 1))
    return found


def _blocks(node: pyslang.syntax.SyntaxNode) -> Iterator[pyslang.syntax.SyntaxNode]:
    for child in node:
        if isinstance(child, pyslang.parsing.Token):
            continue
        if child.kind.name in _BLOCKS:
            yield child
        else:
            yield from _blocks(child)


def _changes(node: pyslang.syntax.SyntaxNode) -> Iterator[tuple[int, int, str]]:
    """Return places in a block and what stands there instead."""
    kind = node.kind.name
    # Selections and casts say how wide something is; a compiler tells where they are wrong.
    if kind in ("RangeSelect", "AscendingRangeSelect", "SimpleRangeSelect", "ElementSelect"):
        return
    if kind == "UnaryLogicalNotExpression":
        yield _span(node.operatorToken, "")
    if kind == "ConditionalExpression":
        yield _span(node, f"{node.predicate} ? {node.right} : {node.left}")
    if kind == "ConditionalStatement":
        yield _span(node.predicate, f"!({node.predicate})")
    if kind == "IntegerLiteralExpression":
        yield _span(node, str(int(str(node).strip().replace("_", "")) + 1))
    if kind == "UnbasedUnsizedLiteralExpression":
        yield _span(node, "'1" if "0" in str(node) else "'0")
    if kind == "IntegerVectorExpression" and str(node).strip() in ("1'b0", "1'b1"):
        yield _span(node, "1'b1" if str(node).strip() == "1'b0" else "1'b0")
    children = [child for child in node if child is not None]
    for child in children:
        if isinstance(child, pyslang.parsing.Token):
            # An assignment is an expression to the parser, and a clocked one looks like a comparison.
            binary = kind.endswith("Expression") and "Assignment" not in kind and len(children) > 2
            if binary and child.valueText in _OPERATORS:
                yield _span(child, f" {_OPERATORS[child.valueText]} ")
        elif not (kind == "CastExpression" and child is node.left):
            yield from _changes(child)


def _span(at: object, new: str) -> tuple[int, int, str]:
    span = at.range if isinstance(at, pyslang.parsing.Token) else at.sourceRange  # type: ignore[attr-defined]
    return span.start.offset, span.end.offset, new


def _copy(index: int) -> Path:
    """Make a copy of the cores in which a worker changes sources."""
    root = BUILD / "mutants" / str(index)
    copy = root / "rtl"
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir(parents=True)
    for folder in sorted(RTL.iterdir()):
        if (folder / "core.toml").is_file() or folder.name == "cosim":
            shutil.copytree(folder, copy / folder.name, ignore=shutil.ignore_patterns("target"))
    crates = root / "crates"
    if not crates.exists():
        crates.symlink_to(RTL.parent / "crates")
        (root / "Cargo.toml").symlink_to(RTL.parent / "Cargo.toml")
    return root


def _caught(mutant: Mutant, folder: Path, tests: list[str], workers: "SimpleQueue[Path]") -> bool:
    root = workers.get()
    target = root / "rtl" / mutant.source.relative_to(RTL)
    text = mutant.source.read_text()
    try:
        target.write_text(text[: mutant.start] + mutant.text + text[mutant.end :])
        command = ["cargo", "test", "--quiet", "--locked", "--manifest-path", str(root / "rtl/cosim/Cargo.toml")]
        for test in tests:
            command += ["--test", test]
        environment = {**os.environ, "CARGO_TARGET_DIR": str(root / "target"), "PENSTOCK_CORE": folder.name}
        try:
            run = subprocess.run(
                command, env=environment, capture_output=True, check=False, timeout=_SECONDS, start_new_session=True
            )
        except subprocess.TimeoutExpired:
            return True
        return run.returncode != 0
    finally:
        target.write_text(text)
        workers.put(root)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
