"""Writes the types of the engine's JSON and the table of schemes from the declarations in Rust.

    python tools/generate_types.py
    python tools/generate_types.py --check

    python/penstock/summary.py     a run's summary: crates/sim/src/metrics.rs and crates/results/src/summary.rs
    python/penstock/declared.py    descriptions and the catalogue: crates/scenario/src/{description,catalogue}.rs
    python/penstock/document.py    a scenario file: the JSON schema
    lab/src/types.ts               of all but the last what the laboratory imports, and the columns of its tables
    README.md                      between its two comments, what each scheme can be used for: INFO of each scheme

declared.py begins with lists of names: schemes, topologies, metrics. `--check` writes nothing, and fails if a
file is out of date. It reads the declarations from the extension, which `make lint` does without; so test_types.py
has the check.
"""

import ast
import json
import keyword
import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock import _core

from scheme_names import uses_table

ROOT = Path(__file__).resolve().parent.parent
COMMAND = "python tools/generate_types.py"
WIDTH = 120

SUMMARY = '''"""The types of a run's summary, as ``summary.json`` and ``penstock run --json`` hold it.

Counts cover the whole run; means, deviations, extremes, throughput and utilisation cover the time after the warm-up and
are time-weighted, not sampled.

Written by ``python tools/generate_types.py`` from the declaration in Rust: change that, not this file.
"""

from typing import NotRequired, TypedDict
'''
DECLARED = '''"""The types of what the engine says of schemes and scenarios, and the names of schemes and metrics.

:func:`penstock.schemes` and :func:`penstock.keys` return the catalogue, :meth:`Scenario.describe` a description.

Written by ``python tools/generate_types.py`` from the declaration in Rust: change that, not this file.
"""

from typing import Literal, TypedDict
'''
DOCUMENT = '''"""The types of a scenario file, table by table, as :class:`penstock.Scenario` takes them.

Quantities are text with a unit. :func:`penstock.keys` and ``penstock schema`` explain each key.

Written by ``python tools/generate_types.py`` from the JSON schema: change the declaration in Rust, not this file.
"""

from collections.abc import Sequence
from typing import Literal, Required, TypedDict

from penstock.declared import SchemeName
'''
TYPES = """/**
 * The engine's JSON: catalogue, descriptions, summaries; names of schemes, metrics and columns.
 *
 * Written by `python tools/generate_types.py` from the declaration in Rust: change that, not this file.
 */
"""

Names = dict[str, list[str]]


def files() -> dict[Path, str]:
    """The text of each file."""
    summary = related(json.loads(_core.objects()))
    declared = [*json.loads(_core.catalogue_objects()), *json.loads(_core.description_objects())]
    lists = names()
    return {
        ROOT / "python/penstock/summary.py": "\n\n".join([SUMMARY, *map(typed, summary)]),
        ROOT / "python/penstock/declared.py": "\n\n".join([f"{DECLARED}\n{literals(lists)}\n", *map(typed, declared)]),
        ROOT / "python/penstock/document.py": "\n\n".join([DOCUMENT, *document(json.loads(_core.schema()), lists)]),
        ROOT / "lab/src/types.ts": "\n".join(
            [
                TYPES,
                *needed(
                    {
                        **unions({**lists, **columns()}),
                        **{about["name"]: interface(about) for about in [*declared, *summary]},
                    }
                ),
            ]
        ),
        ROOT / "README.md": readme(),
    }


def readme() -> str:
    """README.md with the schemes and their uses as the registry has them."""
    before, begin, rest = (ROOT / "README.md").read_text(encoding="utf-8").partition(f"<!-- {COMMAND} -->\n")
    _, end, after = rest.partition("<!-- end -->\n")
    uses = uses_table(json.loads(_core.schemes()), lambda name: f"crates/schemes/src/{name.replace('-', '_')}/page.md")
    return f"{before}{begin}\n{uses}\n\n{end}{after}"


def related(objects: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Objects without the keys of another one that has part of theirs: that is their base, and precedes them."""
    ordered: dict[str, dict[str, Any]] = {}
    for about in objects:
        parts = [other for other in objects if len(other["keys"]) < len(about["keys"])]
        parts = [other for other in parts if all(key in about["keys"] for key in other["keys"])]
        if parts and about["base"] is None:
            base = max(parts, key=lambda other: len(other["keys"]))
            ordered.setdefault(base["name"], base)
            own = [key for key in about["keys"] if key not in base["keys"]]
            about = {**about, "base": base["name"], "keys": own}
        ordered.setdefault(about["name"], about)
    return list(ordered.values())


def names() -> Names:
    """Lists of names, each in the order of its registry."""
    metrics = json.loads(_core.metrics())
    properties = json.loads(_core.schema())["properties"]

    def every(key: str) -> list[str]:
        return list(dict.fromkeys(metric[key] for metric in metrics if metric[key] is not None))

    return {
        "SchemeName": [scheme["name"] for scheme in json.loads(_core.schemes())],
        "TopologyName": list(properties["topology"]["properties"]),
        "MetricName": every("name"),
        "MetricLevel": every("level"),
        "MetricKind": every("kind"),
        "Better": every("better"),
    }


def columns() -> Names:
    """The columns that are the same under each scheme, by table."""
    tables = json.loads(_core.tables())
    return {f"{title(table['name'])}Column": [column["name"] for column in table["columns"]] for table in tables}


def title(name: str) -> str:
    """A name of several words as that of a type."""
    return "".join(word.capitalize() for word in name.replace("_", "-").replace(".", "-").split("-"))


# Python.


def literals(lists: Names) -> str:
    """The lists of names as types of Python."""
    return "\n".join(f"{name} = {literal(words)}" for name, words in lists.items())


def literal(words: Sequence[str]) -> str:
    """The type of one of some texts: on one line if it fits into a module, else a line each."""
    quoted = [f'"{word}"' for word in words]
    line = f"Literal[{', '.join(quoted)}]"
    return line if len(line) < WIDTH - 30 else "\n".join(["Literal[", *(f"    {word}," for word in quoted), "]"])


def typed(about: dict[str, Any]) -> str:
    """The type of an object, each key with what it holds."""
    lines = [f"class {about['name']}({about['base'] or 'TypedDict'}):", *docstring(about["description"]), ""]
    for key in about["keys"]:
        kind = f"NotRequired[{key['type']}]" if key["optional"] else key["type"]
        lines += [f"    {key['name']}: {kind}", *docstring(meaning(key))]
    return "\n".join(lines) + "\n"


def meaning(key: dict[str, Any]) -> str:
    """The description of a key, with its unit after the first sentence."""
    unit = f", {key['unit']}" if key["unit"] and key["unit"] != "frames" else ""
    first, rest = sentence(key["description"])
    return f"{first}{unit}.{rest}"


def sentence(description: str) -> tuple[str, str]:
    """The first sentence of a description, without its full stop, and the rest."""
    first, stop, rest = description.partition(". ")
    return (first, f" {rest}") if stop else (description.removesuffix("."), "")


def docstring(words: str) -> list[str]:
    """The lines of a docstring: in one line if they fit, else with the first sentence by itself."""
    words = words.replace("`", "``")
    whole = f'    """{words}"""'
    if len(whole) <= WIDTH:
        return [whole]
    first, stop, rest = words.partition(". ")
    lines = wrapped(f'"""{first}{stop.strip()}')
    return [*lines, *(["", *wrapped(rest)] if rest else []), '    """']


def wrapped(words: str) -> list[str]:
    """Words in indented lines."""
    lines = textwrap.wrap(words, WIDTH - 4, break_on_hyphens=False, break_long_words=False)
    return [f"    {line}" for line in lines]


# The tables of a scenario file.


@dataclass
class Tables:
    """The types of the tables of a schema.

    Tables with the same keys share one, called after the first path by :func:`rank`.
    """

    lists: Names
    paths: dict[str, str] = field(default_factory=dict)
    """The path after which a table is called, by its text."""
    texts: list[str] = field(default_factory=list)

    def kind(self, schema: dict[str, Any], path: str) -> str:
        """The type of a value; a table is `<text>`, which :meth:`named` replaces."""
        if "enum" in schema:
            same = [name for name, words in self.lists.items() if words == schema["enum"]]
            return same[0] if same else literal(schema["enum"])
        if "anyOf" in schema:
            return " | ".join(dict.fromkeys(self.kind(inner, path) for inner in schema["anyOf"]))
        match schema["type"]:
            case "array":
                return f"Sequence[{self.kind(schema['items'], path)}]"
            case "object" if "patternProperties" in schema:
                (value,) = schema["patternProperties"].values()
                return f"dict[str, {self.kind(value, path)}]"
            case "object":
                return self.table(schema, path)
            case plain:
                return {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}[plain]

    def table(self, schema: dict[str, Any], path: str) -> str:
        """The mark of a table's type."""
        required = schema.get("required", [])
        keys = {}
        for key, inner in schema["properties"].items():
            kind = self.kind(inner, f"{path}.{key}".strip("."))
            # A type of several lines has its own, as the formatter has it.
            inside = f"\n{textwrap.indent(kind, '    ')}\n" if "\n" in kind else kind
            keys[key] = f"Required[{inside}]" if key in required else kind
        text = json.dumps(keys)
        if text not in self.paths:
            self.texts.append(text)
        self.paths[text] = min(self.paths.get(text, path), path, key=rank)
        return f"<{self.texts.index(text)}>"

    def named(self, words: str) -> str:
        """Some text with the names of types."""
        for number, text in enumerate(self.texts):
            words = words.replace(f"<{number}>", title(self.paths[text]) or "Document")
        return words

    def write(self) -> Iterable[str]:
        """The types, each before those that have it."""
        for number, text in enumerate(self.texts):
            keys = {key: self.named(kind) for key, kind in json.loads(text).items()}
            path = self.paths[text]
            about = f"``{path}`` of a scenario file." if path else "A scenario file."
            base = self.base(number)
            inherited = {} if base is None else json.loads(self.texts[base])
            own = {key: kind for key, kind in keys.items() if key not in inherited}
            of = "TypedDict" if base is None else self.named(f"<{base}>")
            yield python_table(self.named(f"<{number}>"), about, own, of)

    def base(self, number: int) -> int | None:
        """An earlier table of the same last name whose keys are a part of a table's: a change takes no profile, say."""
        path, own = self.paths[self.texts[number]], json.loads(self.texts[number]).items()
        for earlier, text in enumerate(self.texts[:number]):
            same = self.paths[text].rpartition(".")[2] == path.rpartition(".")[2]
            if same and json.loads(text).items() < own:
                return earlier
        return None


def rank(path: str) -> tuple[int, bool]:
    """The order of paths to a table: short ones first, and that of a flow before those of other traffic."""
    return path.count("."), not path.startswith("flow.")


def document(schema: dict[str, Any], lists: Names) -> Iterable[str]:
    """The types of the tables of a scenario file, the whole file last."""
    tables = Tables(lists)
    tables.table(schema, "")
    return tables.write()


def python_table(name: str, about: str, keys: dict[str, str], base: str) -> str:
    """The type of a table of which most keys may be absent; a class unless some key is no name in Python."""
    if all(key.isidentifier() and not keyword.iskeyword(key) for key in keys):
        lines = [f"class {name}({base}, total=False):", f'    """{about}"""', ""]
        lines += [f"    {key}: {kind}".replace("\n", "\n    ") for key, kind in keys.items()]
    else:
        lines = [f"{name} = TypedDict(", f'    "{name}",', "    {"]
        lines += [f'        "{key}": {kind},'.replace("\n", "\n        ") for key, kind in keys.items()]
        lines += ["    },", "    total=False,", ")", f'"""{about}"""']
    return "\n".join(lines).rstrip() + "\n"


# TypeScript.


def needed(types: dict[str, str]) -> list[str]:
    """The types that a file of the laboratory imports, and those that they name."""
    sources = (source for source in (ROOT / "lab/src").glob("*.ts") if source.name != "types.ts")
    imports = re.findall(r'(?:import|export) type \{([^}]*)\} from "./types"', "\n".join(map(Path.read_text, sources)))
    found: set[str] = set()
    new = {name for names in imports for name in re.findall(r"\w+", names) if name in types}
    while new:
        found |= new
        code = re.sub(r"/\*\*.*?\*/", "", "".join(types[name] for name in new), flags=re.DOTALL)
        new = {name for name in re.findall(r"\w+", code) if name in types} - found
    return [text for name, text in types.items() if name in found]


def unions(lists: Names) -> dict[str, str]:
    """The lists of names as types of TypeScript."""
    types = {}
    for name, words in lists.items():
        lines = textwrap.wrap(" | ".join(f'"{word}"' for word in words), WIDTH, break_on_hyphens=False)
        types[name] = f"export type {name} =\n  " + "\n  ".join(lines).replace(" |\n  ", "\n  | ") + ";\n"
    return types


def interface(about: dict[str, Any]) -> str:
    """The type of an object in TypeScript."""
    base = f" extends {about['base']}" if about["base"] else ""
    lines = [f"/** {about['description']} */", f"export interface {about['name']}{base} {{"]
    for key in about["keys"]:
        kind = script(ast.parse(key["type"], mode="eval").body)
        lines += [f"  /** {meaning(key)} */", f"  {key['name']}{'?' if key['optional'] else ''}: {kind};"]
    return "\n".join([*lines, "}", ""])


def script(kind: ast.expr) -> str:
    """A type of Python as one of TypeScript."""
    match kind:
        case ast.Name(name):
            return {"str": "string", "int": "number", "float": "number", "bool": "boolean"}.get(name, name)
        case ast.Constant(None):
            return "null"
        case ast.Constant(word):
            return json.dumps(word)
        case ast.BinOp(left, ast.BitOr(), right):
            return f"{script(left)} | {script(right)}"
        case ast.Subscript(ast.Name("list"), inner):
            item = script(inner)
            return f"({item})[]" if " | " in item else f"{item}[]"
        case ast.Subscript(ast.Name("dict"), ast.Tuple([_, inner])):
            return f"Record<string, {script(inner)}>"
        case ast.Subscript(ast.Name("Literal"), words):
            return " | ".join(map(script, words.elts if isinstance(words, ast.Tuple) else [words]))
    raise ValueError(ast.unparse(kind))


def main(arguments: Sequence[str]) -> int:
    """Writes the files, or says which are out of date."""
    texts = files()
    if "--check" not in arguments:
        for file, text in texts.items():
            file.write_text(text, encoding="utf-8")
        return 0
    old = outdated(texts)
    for name in old:
        print(f"{name} is out of date: {COMMAND}", file=sys.stderr)
    return 1 if old else 0


def outdated(texts: dict[Path, str]) -> list[str]:
    """The files that have another text."""
    return [
        str(file.relative_to(ROOT))
        for file, text in texts.items()
        if not file.is_file() or file.read_text(encoding="utf-8") != text
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
