"""Finds sentences that are too long in docstrings, comments and pages, for check_invariants.py."""

import ast
import re
from collections.abc import Iterator

WORDS_MAX = 35
# A line of text with its number in the file.
Line = tuple[int, str]
COMMENT = {
    **dict.fromkeys((".rs", ".sv"), re.compile(r"\s*(//[/!]?)(?!/)(.*)")),
    **dict.fromkeys((".py", ".pyi", ".toml"), re.compile(r"\s*(#)(.*)")),
    ".ts": re.compile(r"\s*(//|/?\*+/?)(.*)"),
}


def long_sentences(text: str, suffix: str) -> list[tuple[int, int, str]]:
    """The sentences of a file with more than `WORDS_MAX` words: line, number of words, and how each begins."""
    found = []
    for block in blocks_of(text, suffix):
        for unit in units_of(block):
            for sentence in sentences_of(unit):
                words = [word for _, word in sentence if re.search(r"\w", word)]
                # A list of numbers is no sentence.
                numbers = sum(bool(re.search(r"\d", word)) for word in words)
                if len(words) > WORDS_MAX and numbers * 2 < len(words):
                    found.append((sentence[0][0], len(words), " ".join(word for _, word in sentence[:6])))
    return found


def blocks_of(text: str, suffix: str) -> Iterator[list[Line]]:
    """The parts of a file that are text: a page as a whole, each docstring, and comments that have whole lines."""
    lines = list(enumerate(text.splitlines(), start=1))
    if suffix == ".md":
        yield [(number, re.sub(r"(?<!\$)\$[^$]+\$", "$formula", line)) for number, line in lines]
        return
    if suffix in (".py", ".pyi"):
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.Expr(value=ast.Constant(value=str(docstring)), lineno=first):
                    yield list(enumerate(docstring.splitlines(), start=first))
    block: list[Line] = []
    marker = ""
    for number, line in [*lines, (0, "")]:
        comment = COMMENT[suffix].match(line)
        if comment is None or (comment[1] != marker and suffix != ".ts"):
            yield block
            block = []
        if comment is not None:
            marker = comment[1]
            block.append((number, comment[2]))


def units_of(block: list[Line]) -> Iterator[list[Line]]:
    """The paragraphs, list items, cells of tables and entries of sections such as `Args`; no code, no formulas."""
    unit: list[Line] = []
    fence, section, last = False, False, 0
    for number, line in block:
        text = line.strip().removeprefix("> ")
        indent = len(line) - len(line.lstrip())
        mark = re.match(r"```|\$\$", text)
        if mark or fence:
            fence ^= bool(mark) and text.count(mark[0] if mark else "") % 2 == 1
            text = ""
        cells = text.strip("|").split("|") if text.startswith("|") else []
        header = re.fullmatch(r"(Args|Attributes|Raises|Returns|Yields):", text)
        entry = re.match(r"([-*+]|\d+\.) |#+ ", text) or re.search(r"\S {2,}\S", text)
        aside = section and bool(unit) and indent == len(unit[0][1]) - len(unit[0][1].lstrip())
        if not text or cells or header or entry or aside or indent < last:
            yield unit
            unit = []
        for cell in cells:
            yield [(number, cell)]
        if text and not cells and not header:
            unit.append((number, line))
        section = bool(text) and (section or bool(header))
        last = indent if text else 0
    yield unit


def sentences_of(unit: list[Line]) -> Iterator[list[tuple[int, str]]]:
    """The sentences of a paragraph, as words with their lines. A colon ends one where a name or a quotation follows."""
    sentence: list[tuple[int, str]] = []
    for number, word in ((number, word) for number, line in unit for word in line.split()):
        before = sentence[-1][1].rstrip(")\"'`*_") if sentence else ""
        full_stop = before.endswith((".", "!", "?")) and before != "al." and not word[0].islower()
        colon = before.endswith((":", ";")) and (word[0].isupper() or word[0] in '"`')
        if full_stop or colon:
            yield sentence
            sentence = []
        sentence.append((number, word))
    if sentence:
        yield sentence
