"""The generated types: they are as declared, and the engine's JSON has their keys, and values of their types."""

import inspect
import json
from collections.abc import Iterable
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints, is_typeddict

import generate_types
import pytest

from penstock import Scenario, __version__, _core, keys, schemes
from penstock.catalogue import schema
from penstock.declared import Description, Key, MetricName, Scheme, SchemeName, TopologyName
from penstock.document import Document
from penstock.metrics.registry import METRICS
from penstock.scenario_template import TOPOLOGIES
from penstock.summary import Summary

# Each has something that the others lack: changes, a tree of copies, pauses, pools, loads.
DESCRIBED = (
    "baseline/ten-gig",
    "netfpga/eight-sources-100us",
    "multicast/star",
    "victim-flow/pfc-qcn",
    "arena/saturation-tree",
    "arena/link-failure",
    "loads/closed-loop",
)
BASE = """
question = "Which keys are there?"
duration = "1 ms"
scheme = "qcn"
topology.star = { hosts = 3, link_rate = "10 Gbps", buffer = "10 MB" }
"""
TWO = BASE + 'flow = [{ from = "h0..h1", to = "h2" }]\n'
FULL = (
    BASE
    + """
flow = [
  { from = "h0..h1", to = "h2" },
  { from = "h0", to = "h2", size = "10 KB", transport = "tcp", priority = 1 },
  { from = "h1", to = "h2", traffic = "on-off", rate = "1 Gbps", on = "10 us", off = "10 us", controlled = false },
]
priority = [{ priority = 1, scheme = "none" }]
pfc = { priorities = [0] }
buffer = [{ name = "all", size = "4 MB", priorities = [0, 1] }]
change = [
  { at = "0.3 ms", link = "sw0->h2", rate = "5 Gbps" },
  { at = "0.5 ms", link = "sw0->h2", state = "down" },
  { at = "0.6 ms", link = "sw0->h2", state = "up" },
  { at = "0.7 ms", schemes = { qcn = { q_eq = "30 KB" } } },
]
window = [{ name = "late", start = "0.5 ms", end = "1 ms" }]
record = { percentiles = true }
"""
)


def faults(value: Any, kind: Any, path: str) -> Iterable[str]:
    """Where a value is not of a type: keys that lack or are too many, values of another type."""
    origin, arguments = get_origin(kind), get_args(kind)
    plain = dict if is_typeddict(kind) else origin or kind
    if plain in (dict, list) and not isinstance(value, plain):
        yield f"{path} is no {plain.__name__}"
    elif is_typeddict(kind):
        have, required = set(value), kind.__required_keys__
        known = get_type_hints(kind)
        yield from (f"{path} lacks {key}" for key in sorted(required - have))
        yield from (f"{path} has {key}, which is not declared" for key in sorted(have - known.keys()))
        for key in have & known.keys():
            yield from faults(value[key], known[key], f"{path}.{key}")
    elif origin is UnionType:
        every = [list(faults(value, inner, path)) for inner in arguments]
        if all(every):
            yield every[0][0]
    elif origin is list:
        for number, item in enumerate(value):
            yield from faults(item, arguments[0], f"{path}[{number}]")
    elif origin is dict:
        for key, item in value.items():
            yield from faults(item, arguments[1], f"{path}.{key}")
    elif origin is Literal:
        if value not in arguments:
            yield f"{path} is {value!r}, none of {arguments}"
    elif not isinstance(value, (int, float) if kind is float else kind) or (
        kind is not bool and isinstance(value, bool)
    ):
        yield f"{path} is {value!r}, no {kind.__name__}"


def test_the_files_are_as_declared() -> None:
    old = generate_types.outdated(generate_types.files())
    assert not old, f"{', '.join(old)}: the declaration has changed: {generate_types.COMMAND}"


def test_a_file_that_is_out_of_date_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert generate_types.main(["--check"]) == 0
    texts = {file: text + "\n" for file, text in generate_types.files().items()}
    monkeypatch.setattr(generate_types, "files", lambda: texts)
    assert generate_types.main(["--check"]) == 1
    out = capsys.readouterr().err
    assert "lab/src/types.ts is out of date: python tools/generate_types.py" in out
    assert out.count("\n") == len(texts)


@pytest.mark.parametrize("name", DESCRIBED)
def test_a_description_is_of_its_type(name: str) -> None:
    assert list(faults(Scenario.named(name).describe(), Description, name)) == []


def test_a_description_with_all_parts_is_of_its_type() -> None:
    description = Scenario.from_toml(FULL).describe()
    assert list(faults(description, Description, "description")) == []
    held = next(link["flow_control"] for link in description["links"] if link["flow_control"])
    assert held["pools"]
    assert {change["event"] for change in description["changes"]} == {"rate", "down", "up"}
    assert description["parameter_changes"]


def test_the_catalogue_is_of_its_type() -> None:
    assert list(faults(schemes(), list[Scheme], "schemes")) == []
    assert list(faults(keys(), list[Key], "keys")) == []
    assert [scheme["name"] for scheme in schemes()] == [*get_args(SchemeName)]
    assert {metric.name for metric in METRICS} == {*get_args(MetricName)}


@pytest.mark.parametrize("text", [TWO, FULL], ids=["two", "full"])
def test_a_summary_is_of_its_type(text: str) -> None:
    assert list(faults(Scenario.from_toml(text).run().summary, Summary, "summary")) == []


def test_a_wrong_key_and_a_wrong_value_are_noticed() -> None:
    description: Any = Scenario.from_toml(TWO).describe()
    description["links"][0]["rate"] = description["links"][0].pop("rate_bps")
    description["nodes"][0]["kind"] = "router"
    description["flows"][0]["weight"] = "1"
    found = list(faults(description, Description, "it"))
    assert sorted(found) == [
        "it.flows[0].weight is '1', no int",
        "it.links[0] has rate, which is not declared",
        "it.links[0] lacks rate_bps",
        "it.nodes[0].kind is 'router', none of ('host', 'switch')",
    ]


def test_a_scenario_takes_the_keys_of_a_file() -> None:
    taken = inspect.signature(Scenario).parameters
    assert {*taken} == {*schema()["properties"]} == {*get_type_hints(Document)}
    # flow is one of four that bring traffic: a file needs one of them.
    assert {name for name, key in taken.items() if key.default is key.empty} == Document.__required_keys__


def test_a_type_checker_notices_a_wrong_key() -> None:
    # mypy is strict: it would find a comment needless if it did not see the fault.
    scenario = Scenario(
        question="Which key is wrong?",
        duration="1 ms",
        scheme="qcn",
        topology={"star": {"hosts": 3, "link_rate": "10 Gbps", "buffer": "150 KB"}},
        flow=[{"from": "h0", "to": "h2", "weigth": 2}],  # type: ignore[typeddict-unknown-key]
    )
    with pytest.raises(_core.ScenarioError, match="weigth"):
        scenario.describe()


def test_types_of_python_in_typescript() -> None:
    about = {
        "name": "Link",
        "base": "Outline",
        "description": "A link.",
        "keys": [
            {"name": name, "type": kind, "unit": "s", "description": "Its time.", "optional": name == "c"}
            for name, kind in {
                "a": 'list[Literal["up", "down"]]',
                "b": "dict[str, float | bool] | None",
                "c": "list[list[Node]]",
            }.items()
        ],
    }
    assert generate_types.interface(json.loads(json.dumps(about))) == (
        "/** A link. */\n"
        "export interface Link extends Outline {\n"
        "  /** Its time, s. */\n"
        '  a: ("up" | "down")[];\n'
        "  /** Its time, s. */\n"
        "  b: Record<string, number | boolean> | null;\n"
        "  /** Its time, s. */\n"
        "  c?: Node[][];\n"
        "}\n"
    )


def test_the_front_page_names_every_scheme() -> None:
    page = (generate_types.ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in get_args(SchemeName) if f"`{name}`" not in page] == []


def test_the_citation_has_this_version() -> None:
    assert f"\nversion: {__version__}\n" in (generate_types.ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_a_new_scenario_has_any_topology_but_that_of_links_one_by_one() -> None:
    assert {*TOPOLOGIES} == {*get_args(TopologyName)} - {"graph"}


def test_the_page_on_load_balancing_names_the_schemes_that_need_order() -> None:
    page = (generate_types.ROOT / "docs/explanation/load-balancing.md").read_text(encoding="utf-8")
    named = page.partition("declares that it needs order (")[2].partition(": `needs_order`")[0]
    assert {*named.replace("`", "").split(", ")} == {scheme["name"] for scheme in schemes() if scheme["needs_order"]}
