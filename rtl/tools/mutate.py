"""Mutation testing: a core with one operator or constant changed must fail the test that holds it to its state machine.

For each core whose `core.toml` has

    [mutation]
    sources = ["rtl/x.sv"]     # the sources that are changed
    tests = ["x"]              # tests of rtl/cosim of which one must fail, of this core or those made of it

every mutant of the sources is tested, with the whole tests. One that passes is an error, unless
`[[mutation.equivalent]]` names it (`line`, `changes`) with its `reason`; so is an entry there that is caught. One that
no test can see, and a proof can, is named in `[[mutation.proved]]` with that `proof`, which must fail with it.

With `--quick` a test is only run for a moment: a mutant that is left then is not yet a survivor, but mostly is one.

All mutants of a core are built at once: each changed expression chooses between itself and its changes by a number,
which the simulation takes from the environment when it starts. A mutant that hangs is caught too.
"""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pyslang.parsing
import pyslang.syntax

from cores import BUILD, GENERATED, RTL, all_cores, wanted
from prove import solved

# The mutants of an operator.
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
_UNARY = ("!", "~", "-")
_BLOCKS = ("AlwaysFFBlock", "AlwaysCombBlock", "ContinuousAssign", "FunctionDeclaration", "NamedPortConnection")
# They say how wide something is, or which part of it; a compiler tells where they are wrong.
_SELECTS = ("RangeSelect", "AscendingRangeSelect", "SimpleRangeSelect", "ElementSelect")
# Seconds of the processor in which most mutants are caught.
MOMENT = 1
# The number of the mutant comes in here; 0 is none.
_NUMBER = "PENSTOCK_MUTANT"
_COSIM = Path("cosim", "Cargo.toml")
_PREFACE = f"""\
`ifndef {_NUMBER}
`define {_NUMBER}
package mutant_pkg;
  int number = $c32("std::getenv(\\"{_NUMBER}\\") ? std::atoi(std::getenv(\\"{_NUMBER}\\")) : 0");
endpackage
`endif
// verilator lint_off WIDTHEXPAND
// verilator lint_off WIDTHTRUNC
// verilator lint_off UNSIGNED
// verilator lint_off CMPCONST
// verilator lint_off CASEINCOMPLETE
// verilator lint_off CASEOVERLAP
"""


@dataclass(frozen=True)
class Mutant:
    """One change: the text from `start` to `end` becomes `text`."""

    source: Path
    start: int
    end: int
    text: str
    # For people, and for core.toml: the line's text and number, and the change in words.
    line: str
    place: int
    change: str

    @property
    def statement(self) -> bool:
        """It stands for statements, not for an expression."""
        return self.text.endswith(";")


def main(arguments: list[str]) -> int:
    """Test the mutants of the cores that are named, or of all; return 0 if none survives."""
    named = wanted("mutate", arguments)
    wrong = 0
    for folder, plan in _plans().items():
        if folder.name in named:
            wrong += _core(folder, plan, quick="--quick" in arguments)
    return int(wrong > 0)


def _plans() -> dict[Path, dict[str, Any]]:
    every = {path.parent: tomllib.loads(path.read_text()).get("mutation") for path in sorted(RTL.glob("*/core.toml"))}
    return {folder: plan for folder, plan in every.items() if plan}


def stale() -> list[str]:
    """Return a message for each entry of a core.toml that names a line that its sources do not have."""
    said = []
    for folder, plan in _plans().items():
        lines = {_words(line) for source in plan["sources"] for line in text_of(folder / source).splitlines()}
        named = {line for each in plan.get("equivalent", []) + plan.get("proved", []) for line, _ in _named(each)}
        said += [
            f"{folder.name}/core.toml: [mutation]: no source has this line: {line}" for line in sorted(named - lines)
        ]
    return said


def _words(line: str) -> str:
    """Return a line by which it is known however its columns are laid out."""
    return " ".join(line.split())


def _core(folder: Path, plan: dict[str, Any], *, quick: bool) -> int:
    seen: Counter[tuple[str, str]] = Counter()
    mutants = [mutant for source in plan["sources"] for mutant in mutants_of(folder / source, seen)]
    proofs = {named: each["proof"] for each in plan.get("proved", []) for named in _named(each)}
    listed = {named for each in plan.get("equivalent", []) for named in _named(each)} | set(proofs)
    tests = build_with(folder, plan, mutants)
    seconds = seconds_of_all(folder, tests, quick=quick)
    # A test that has caught many of a source is tried first. Mutants that are listed as equivalent are given a moment
    # alone.
    kills = {mutant.source: Counter(dict.fromkeys(tests, 0)) for mutant in mutants}

    def caught(number: int) -> bool:
        mutant = mutants[number - 1]
        order = [test for test, _ in kills[mutant.source].most_common()]
        moment = quick or (mutant.line, mutant.change) in listed
        test = first_to_fail(order, number, None if moment else seconds)
        if test:
            kills[mutant.source][test] += 1
        return test is not None

    survivors = []
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for number, dead in enumerate(pool.map(caught, range(1, len(mutants) + 1)), 1):
            print(f"\r{folder.name}: {number} of {len(mutants)} mutants", end="", file=sys.stderr, flush=True)
            if not dead:
                survivors.append(mutants[number - 1])
                if (survivors[-1].line, survivors[-1].change) not in listed:
                    print(file=sys.stderr)
                    print(_said(survivors[-1]), flush=True)
    print(file=sys.stderr)
    left = {(mutant.line, mutant.change) for mutant in survivors}
    for line, change in sorted(listed - left):
        print(f"{folder.name}/core.toml: listed as equivalent, but does not survive: {change}\n    {line}")
    proved = [mutant for mutant in survivors if (mutant.line, mutant.change) in proofs]
    held = [mutant for mutant in proved if not proof_fails(mutant, proofs[mutant.line, mutant.change])]
    for mutant in held:
        print(f"{folder.name}/core.toml: the proof {proofs[mutant.line, mutant.change]} holds with it")
        print(_said(mutant), flush=True)
    equivalent = len(left & listed) - len(proved)
    wrong = len(left - listed) + len(listed - left) + len(held)
    print(
        f"{folder.name}: {len(mutants)} mutants, {len(mutants) - len(survivors)} caught by tests, "
        f"{len(proved) - len(held)} by proofs, {equivalent} equivalent" + (f", {wrong} wrong" if wrong else ""),
        flush=True,
    )
    return wrong


def first_to_fail(tests: list[tuple[Path, str]], number: int, seconds: int | None) -> tuple[Path, str] | None:
    """Return the first of the tests that fails with a mutant; None if all pass.

    Each is run for a moment before one is run to its end. `seconds` are those that the longest takes; without them a
    moment is all.
    """
    for limit in (MOMENT,) if seconds is None else (MOMENT, 5 * seconds + 20):
        for test in tests:
            if fails(test, number, limit, hangs=limit > MOMENT):
                return test
    return None


def _named(entry: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the mutants that an entry of a core.toml names."""
    return [(_words(entry["line"]), change) for change in entry["changes"]]


def proof_fails(mutant: Mutant, name: str) -> bool:
    """Return whether a proof does not hold with a mutant."""
    proof = next(proof for core in all_cores() for proof in core.proofs if proof.name == name)
    source = BUILD / "mutants" / "proofs" / mutant.source.name
    source.parent.mkdir(parents=True, exist_ok=True)
    text = text_of(mutant.source)
    changed = mutant.text if mutant.statement else f"({mutant.text})"
    source.write_text(text[: mutant.start] + changed + text[mutant.end :])
    sources = tuple(source if each == mutant.source else each for each in proof.sources)
    run = solved(replace(proof, name=f"{name}_mutant", sources=sources), proof.mode, proof.depth)
    return run.returncode in (2, 4)


def _said(mutant: Mutant) -> str:
    where = mutant.source.relative_to(RTL)
    return f"{where}:{mutant.place}: SURVIVES: {mutant.change}\n    {mutant.line}"


def mutants_of(source: Path, seen: Counter[tuple[str, str]]) -> list[Mutant]:
    """Return every mutant of a source; `seen` counts those that would be called the same."""
    text = text_of(source)
    tree = pyslang.syntax.SyntaxTree.fromText(text, source.name)
    constants = _constants(tree.root)
    lines = text.splitlines()
    found = []
    for block in _blocks(tree.root):
        for start, end, new, change in _changes(block, constants):
            number = text.count("\n", 0, start)
            line = _words(lines[number])
            seen[line, change] += 1
            said = change if seen[line, change] == 1 else f"{change} #{seen[line, change]}"
            found.append(Mutant(source, start, end, new, line, number + 1, said))
    return found


def text_of(source: Path) -> str:
    """Return a source with a question mark for each letter that is not ASCII: the parser counts octets."""
    return source.read_text().encode("ascii", "replace").decode()


def _constants(node: pyslang.syntax.SyntaxNode) -> set[str]:
    """Return the names of a source's local parameters."""
    names: set[str] = set()
    for child in node:
        if isinstance(child, pyslang.parsing.Token):
            continue
        if child.kind.name == "ParameterDeclaration" and child.keyword.valueText == "localparam":
            names |= {each.name.valueText for each in child.declarators if not isinstance(each, pyslang.parsing.Token)}
        else:
            names |= _constants(child)
    return names


def _blocks(node: pyslang.syntax.SyntaxNode) -> Iterator[pyslang.syntax.SyntaxNode]:
    for child in node:
        if isinstance(child, pyslang.parsing.Token):
            continue
        if child.kind.name in _BLOCKS:
            yield child
        else:
            yield from _blocks(child)


def _changes(node: pyslang.syntax.SyntaxNode, constants: set[str]) -> Iterator[tuple[int, int, str, str]]:
    """Return the positions of expressions in a block, the new text there, and how that is called."""
    kind = node.kind.name
    if kind in _SELECTS:
        return
    # Its text begins with the comments in front of it.
    said = re.sub(r"//[^\n]*", "", str(node)).strip()
    if kind.startswith("Unary") and node.operatorToken.valueText in _UNARY:
        yield *_span(node), str(node.operand), f"{node.operatorToken.valueText} -> "
    elif kind == "ConditionalExpression":
        yield *_span(node), f"{node.predicate} ? {node.right} : {node.left}", f"{_short(said)} -> swapped"
    elif kind == "ConditionalStatement":
        yield *_span(node.predicate), f"!({node.predicate})", f"{_short(str(node.predicate))} -> inverted"
    elif kind == "IntegerLiteralExpression":
        more = str(int(said.replace("_", "")) + 1)
        yield *_span(node), more, f"{said} -> {more}"
    elif kind == "UnbasedUnsizedLiteralExpression":
        other = "'1" if "0" in said else "'0"
        yield *_span(node), other, f"{said} -> {other}"
    elif kind == "IntegerVectorExpression":
        more = _next(said)
        yield *_span(node), more, f"{said} -> {more}"
    elif kind == "IdentifierName" and said in constants:
        # Signed, for a sum with an unsigned number would be unsigned, and with it the expression around the constant.
        yield *_span(node), f"{said} + 2'sd1", f"{said} -> {said} + 1"
    children = [child for child in node if child is not None]
    # An assignment is an expression to the parser, and a clocked one looks like a comparison.
    if kind.endswith("Expression") and "Assignment" not in kind and len(children) == 3:
        for child in children:
            if isinstance(child, pyslang.parsing.Token) and child.valueText in _OPERATORS:
                new = _OPERATORS[child.valueText]
                yield *_span(node), f"({node.left}) {new} ({node.right})", f"{child.valueText} -> {new}"
    for child in children:
        if isinstance(child, pyslang.parsing.Token):
            continue
        if kind == "CastExpression" and child is node.left:
            continue
        if kind == "MultipleConcatenationExpression" and child is node.expression:
            continue
        if kind == "StreamingConcatenationExpression" and child is node.sliceSize:
            continue
        yield from _changes(child, constants)


def _next(literal: str) -> str:
    """Return the next number of a literal's width."""
    width, rest = literal.replace("_", "").split("'")
    base = rest.lstrip("sS")[0].lower()
    value = int(rest.lstrip("sS")[1:], {"b": 2, "o": 8, "d": 10, "h": 16}[base])
    return f"{width}'d{(value + 1) % (1 << int(width))}"


def _short(said: str) -> str:
    return " ".join(said.split())


def _span(node: pyslang.syntax.SyntaxNode) -> tuple[int, int]:
    span = node.sourceRange
    return span.start.offset, span.end.offset


def switched(source: Path, mutants: list[tuple[int, Mutant]]) -> str:
    """Return a source in which each expression chooses between itself and its mutants, by their numbers."""
    text = text_of(source)
    # An expression comes before those within it; mutants of one expression stand together.
    ordered = sorted(mutants, key=lambda each: (each[1].start, -each[1].end))
    sites = [(span, list(each)) for span, each in groupby(ordered, key=lambda each: (each[1].start, each[1].end))]

    def render(start: int, end: int, inside: list[tuple[tuple[int, int], list[tuple[int, Mutant]]]]) -> str:
        pieces, at = [], start
        while inside:
            (first, last), here = inside[0]
            within = [site for site in inside[1:] if site[0][0] < last]
            inside = inside[1 + len(within) :]
            piece = render(first, last, within)
            piece = piece if here[0][1].statement else f"({piece})"
            for number, mutant in here:
                if mutant.statement:
                    piece = f"if (mutant_pkg::number == {number}) begin {mutant.text} end else begin {piece} end"
                else:
                    piece = f"((mutant_pkg::number == {number}) ? ({mutant.text}) : {piece})"
            pieces += [text[at:first], piece]
            at = last
        return "".join(pieces) + text[at:end]

    return _PREFACE + render(0, len(text), sites)


def build_with(
    folder: Path,
    plan: dict[str, Any],
    mutants: list[Mutant],
    *,
    kind: str = "rtl",
    fixed: dict[Path, str] | None = None,
) -> list[tuple[Path, str]]:
    """Build the tests with all mutants, and return them: program and name.

    Sources in `fixed` have that text. Each `kind` of mutants has its copy of the sources.
    """
    root = BUILD / "mutants"
    texts = {
        path.relative_to(RTL): path.read_text()
        for each in RTL.iterdir()
        if (each / "core.toml").is_file() or each.name == "cosim"
        for path in each.rglob("*")
        if path.is_file() and "target" not in path.relative_to(each).parts
    }
    texts.update({path.relative_to(RTL): path.read_text() for path in GENERATED.iterdir()})
    numbered = list(enumerate(mutants, 1))
    for source in plan["sources"]:
        path = folder / source
        here = [each for each in numbered if each[1].source == path]
        texts[path.relative_to(RTL)] = (fixed or {}).get(path) or switched(path, here)
    copy = root / kind
    # A file that has not changed keeps its time, so that it is not built again; a list of mutants is no part of a core.
    for name in [name for name in texts if name.name == "core.toml"]:
        texts[name] = texts[name].partition("\n[mutation]")[0]
    for path in [path for path in copy.rglob("*") if path.is_file() and path.relative_to(copy) not in texts]:
        path.unlink()
    for name, text in texts.items():
        path = copy / name
        if not path.exists() or path.read_text() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    for link in (root / "crates", root / "Cargo.toml"):
        if not link.exists():
            link.symlink_to(RTL.parent / link.name)
    command = ["cargo", "test", "--no-run", "--locked", "--message-format=json-render-diagnostics", "--manifest-path"]
    command += [
        str(copy / _COSIM),
        "--features",
        "setups",
        *(option for test in plan["tests"] for option in ("--test", test)),
    ]
    # A core that is not built alone is tested in those that contain it.
    paths = {test["name"]: Path(test["path"]) for test in tomllib.loads(texts[_COSIM])["test"]}
    folders = ",".join(sorted({paths[test].parts[1] for test in plan["tests"]}))
    environment = {**os.environ, "CARGO_TARGET_DIR": str(root / "target"), "PENSTOCK_CORE": folders}
    run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode:
        raise SystemExit(f"{folder.name}: the mutants cannot be built")
    said = [json.loads(line) for line in run.stdout.splitlines()]
    programs = [Path(each["executable"]) for each in said if each.get("executable")]
    return [(program, name) for program in programs for name in _names(program)]


def _names(program: Path) -> list[str]:
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout
    return [line.removesuffix(": test") for line in listed.splitlines() if line.endswith(": test")]


def seconds_of_all(folder: Path, tests: list[tuple[Path, str]], *, quick: bool) -> int:
    """Return how long the longest test takes where nothing is changed, in seconds of the processor; it must pass."""
    limit = MOMENT if quick else 3600
    longest = 0.0
    for test in tests:
        before = _used()
        if fails(test, 0, limit, hangs=not quick):
            raise SystemExit(f"{folder.name}: {test[1]} fails without a change")
        longest = max(longest, _used() - before)
    return int(longest) + 1


def _used() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def fails(test: tuple[Path, str], number: int, seconds: int, *, hangs: bool) -> bool:
    """Return whether a test fails with a mutant; where it needs more of the processor `hangs` says so."""
    program, name = test
    # A test that fails here is not to keep a vector of the core itself. The shell's limit counts the processor's time,
    # so that the verdict does not depend on other work of the machine.
    with tempfile.TemporaryDirectory() as kept:
        environment = {**os.environ, _NUMBER: str(number), "PENSTOCK_VECTORS": kept}
        command = ["/bin/sh", "-c", 'ulimit -t "$1"; exec "$2" --exact "$3"', "sh", str(seconds), str(program), name]
        run = subprocess.run(command, env=environment, capture_output=True, check=False)
    out_of_time = -run.returncode in (signal.SIGXCPU, signal.SIGKILL)
    return hangs if out_of_time else run.returncode != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
