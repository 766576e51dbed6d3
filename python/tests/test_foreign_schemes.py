"""Schemes of shared libraries and of classes in Python: the bytes of the native one, and wrong descriptions."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from foreign_cases import EXAMPLES, INCLUDE, ROOT, build, columns, command, numbers, scenario

import penstock
from penstock import ArgumentError, theory
from penstock.catalogue import about
from penstock.wire.capture import read


def test_a_library_gives_the_bytes_of_the_native_scheme(tmp_path: Path) -> None:
    native = scenario().run(seed=1)
    library = scenario().run(scheme=build(EXAMPLES / "dctcp.c", tmp_path), seed=1)
    assert numbers(library) == numbers(native)
    for table in ("queues", "rates", "flows"):
        assert columns(library, table) == columns(native, table), table
    marked = columns(native, "queues")["cp_marked_frames_total"]
    assert max(number or 0 for number in marked) > 100, "the network is congested"


def located(example: str, name: str, folder: Path) -> tuple[str, str]:
    """Return the location of an example, and the name that its scheme has: a file of C is built."""
    in_c = example.endswith(".c")
    return (build(EXAMPLES / example, folder), f"{name}-c") if in_c else (f"{EXAMPLES}/{example}", f"{name}-py")


QUICK = {
    "k_min": "5 KB",
    "k_max": "40 KB",
    "p_max": 0.3,
    "cnp_interval": "19.2 us",
    "g_inverse": 16,
    "alpha0": 0.3,
    "alpha_time": "40 us",
    "f": 2,
    "byte_reset": "60 KB",
    "time_reset": "30 us",
    "r_ai": "15 Mbps",
    "r_hai": "70 Mbps",
    "min_rate": "120 Mbps",
}
"""Parameters of DCQCN with which 6 ms have all stages of the increase."""


@pytest.mark.parametrize("example", ["dcqcn.c", "dcqcn.py:Dcqcn"])
@pytest.mark.parametrize("parameters", [{}, QUICK], ids=["default", "quick"])
def test_dcqcn_of_a_file_gives_the_bytes_of_the_native_scheme(
    tmp_path: Path, example: str, parameters: dict[str, object]
) -> None:
    location, called = located(example, "dcqcn", tmp_path)

    def run(scheme: str, name: str) -> penstock.Result:
        return scenario(
            scheme,
            duration="6 ms",
            flow=[
                {"from": "h0..h1", "to": "h4"},
                {"from": "h2", "to": "h4", "start": "1 ms", "stop": "2.5 ms"},
                {"from": "h3", "to": "h4", "traffic": "constant", "rate": "1 Gbps", "controlled": False},
            ],
            schemes={name: parameters},
            change=[{"at": "4 ms", "schemes": {name: {"min_rate": "3 Gbps"}}}],
            record={"interval": "20 us"},
        ).run(seed=1)

    native, own = run("dcqcn", "dcqcn"), run(location, called)
    assert numbers(own) == numbers(native)
    for table in ("queues", "rates", "flows"):
        assert columns(own, table) == columns(native, table), table
    rates = columns(own, "rates")
    first = [rate for flow, rate in zip(rates["flow"], rates["rate_bps"], strict=True) if flow == "f0" and rate]
    assert min(first) < 3e9 and len(set(first)) > 20, "the rate moves"
    assert min(first[-50:]) >= 3e9, "the change holds"
    both = zip(rates["rp_byte_stage"], rates["rp_time_stage"], strict=True)
    stages = [min(pair) for pair in both if None not in pair]
    assert (max(stages) > 2) == bool(parameters), "with short cycles there is Hyper-Active Increase"


def test_a_method_draws_no_more_words_than_its_class_says(tmp_path: Path) -> None:
    text = (EXAMPLES / "dcqcn.py").read_text()
    (tmp_path / "more.py").write_text(text.replace('"by destination", 78, 1', '"by destination", 78, 0'))
    with pytest.raises(penstock.ScenarioError, match="no random word is left: the class has draws = N") as ended:
        scenario(f"{tmp_path}/more.py:Dcqcn").run(seed=1)
    assert ended.value.file == str(tmp_path / "more.py") and ended.value.line is not None


LATE = {"rpg_byte_reset": "30 KB", "rpg_time_reset": "200 us", "rpg_hai_rate": "60 Mbps"}
"""Parameters of QCN with which 8 ms have all stages of the increase."""


@pytest.mark.parametrize("example", ["qcn.c", "qcn_802_1qau.py:Qcn"])
@pytest.mark.parametrize("profile", [None, "pan-10g", "ieee-2010"])
@pytest.mark.parametrize("parameters", [{}, LATE, LATE | {"timer_on": False}], ids=["default", "late", "untimed"])
def test_qcn_of_a_file_gives_the_bytes_of_the_native_scheme(
    tmp_path: Path, example: str, profile: str | None, parameters: dict[str, object]
) -> None:
    location, called = located(example, "qcn", tmp_path)

    def run(scheme: str, name: str) -> penstock.Result:
        return scenario(
            scheme,
            duration="8 ms",
            flow=[
                {"from": "h0..h1", "to": "h4"},
                {"from": "h2", "to": "h4", "start": "1 ms", "stop": "3 ms"},
                {"from": "h3", "to": "h4", "traffic": "constant", "rate": "1 Gbps", "controlled": False},
            ],
            schemes={name: parameters},
            change=[{"at": "5 ms", "schemes": {name: {"rpg_min_rate": "3 Gbps", "q_eq": "40 KB"}}}],
            record={"interval": "20 us"},
        ).run(seed=1, profile=profile)

    native, own = run("qcn", "qcn"), run(location, called)
    assert numbers(own) == numbers(native)
    for table in ("queues", "rates", "flows"):
        assert columns(own, table) == columns(native, table), table
    assert max(number or 0 for number in columns(own, "queues")["cp_fb"]) > 3, "the queue signals"
    rates = columns(own, "rates")
    both = zip(rates["rp_byte_stage"], rates["rp_time_stage"], strict=True)
    stages = [min(pair) for pair in both if None not in pair]
    assert (max(stages) > 5) == (parameters == LATE), "with short cycles there is Hyper-Active Increase"


def test_frames_of_a_library_carry_the_tag_of_the_native_scheme(tmp_path: Path) -> None:
    library = build(EXAMPLES / "qcn.c", tmp_path)
    for scheme, name in (("qcn", "native"), (library, "own")):
        scenario(scheme, duration="1 ms").run(seed=1, out=tmp_path / name, pcap="sw0->h4")
    native, own = (read(tmp_path / name / "capture.pcapng") for name in ("native", "own"))
    data = [frame.data for frame in native]
    assert data == [frame.data for frame in own] and len(data) > 500
    assert all(frame[16:18] == bytes([0x22, 0xE9]) for frame in data), "the EtherType of the CN-TAG"


def test_a_queue_gives_a_library_its_own_thresholds(tmp_path: Path) -> None:
    wred = [{"ports": ["sw0->h4"], "min": "20 KB", "max": "60 KB", "probability": 0.3}]
    for scheme in ("dctcp", "dcqcn"):
        library = build(EXAMPLES / f"{scheme}.c", tmp_path)
        native, own = scenario(scheme, wred=wred).run(seed=1), scenario(library, wred=wred).run(seed=1)
        assert numbers(own) == numbers(native)
        assert columns(own, "queues") == columns(native, "queues")
        assert numbers(native) != numbers(scenario(scheme).run(seed=1)), "the thresholds matter"


def test_a_class_has_profiles_bounds_and_conditions(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(f"""import importlib.util
import penstock
spec = importlib.util.spec_from_file_location("base", {str(EXAMPLES / "dctcp.py")!r})
base = importlib.util.module_from_spec(spec)
spec.loader.exec_module(base)
count = penstock.Parameter

class Own(base.Dctcp):
    name = "own"
    parameters = base.Dctcp.parameters | {{
        "low": count("count", 2, 1, 9), "high": count("count", 4, 1, 9, bound="at least low"),
        "on": count("switch", True), "extra": count("ratio", 0.5, 0, 1, when="on = true"),
    }}
    profiles = {{"small": penstock.Profile("A small threshold.", {{"k": "30 KB", "on": False}})}}
""")
    place = f"{file}:Own"
    entry = about(place)
    assert [profile["name"] for profile in entry["profiles"]] == ["small"]
    small = scenario(place).resolved(profile="small")
    assert 'profile = "small"' in small and 'k = "30 KB"' in small and "on = false" in small
    with pytest.raises(penstock.ScenarioError, match="low"):
        scenario(place, schemes={"own": {"low": 5}}).resolved()
    assert scenario(place, schemes={"own": {"low": 5, "high": 5}}).resolved()
    for before, after, message in (
        ("at least low", "at least lower", "the bound of parameter high does not fit it"),
        ("at least low", "as much as low", '"as much as low" is no bound'),
        ("on = true", "off = true", "the condition of parameter extra names no choice"),
        ("on = true", "on = yes", "the condition of parameter extra names no choice"),
        ('"k": "30 KB"', '"kk": "30 KB"', "profile small: there is no parameter kk"),
        ('"k": "30 KB"', '"k": "2 GB"', "profile small: k = 2 GB is no parameter, or beyond its range"),
    ):
        text = file.read_text()
        assert before in text
        (tmp_path / "wrong.py").write_text(text.replace(before, after))
        with pytest.raises(penstock.ScenarioError) as refused:
            scenario(f"{tmp_path}/wrong.py:Own").resolved()
        assert message in str(refused.value) and refused.value.hint
        (tmp_path / "wrong.py").unlink()


def incast(senders: int, **parameters: object) -> Any:
    """The summary of Theta-PowerTCP where senders share a port of 10 Gb/s at a round trip of 82.4 us."""
    case = scenario(
        f"{EXAMPLES}/theta_powertcp.py:ThetaPowerTCP",
        duration="12 ms",
        warmup="4 ms",
        schemes={"theta-powertcp-py": parameters},
        topology={"star": {"hosts": senders + 1, "link_rate": "10 Gbps", "link_delay": "20 us", "buffer": "2 MB"}},
        flow=[{"from": f"h0..h{senders - 1}", "to": f"h{senders}", "stagger": "3 us"}],
    )
    return case.run(seed=1).summary


@pytest.mark.parametrize(("senders", "flows"), [(4, 10), (4, 20), (8, 10)])
def test_the_queue_of_theta_powertcp_rests_at_the_sum_of_beta(senders: int, flows: int) -> None:
    summary = incast(senders, flows=flows)
    # Four links of 20 us and two times 1.2 us for a frame: 82.4 us, in which 10 Gb/s have 103 000 octets.
    assert summary["queues"][0]["mean_octets"] == pytest.approx(senders * 103_000 / flows, rel=0.1)
    assert summary["queues"][0]["utilization"] > 0.99
    shares = [flow["throughput_bps"] for flow in summary["flows"]]
    assert shares == pytest.approx([10e9 / senders] * senders, rel=0.1)


def test_without_the_least_load_theta_powertcp_swings() -> None:
    queue = incast(8, load=0.01)["queues"][0]
    assert queue["mean_octets"] > 3 * 8 * 103_000 / 10
    assert queue["std_octets"] > 100_000


def test_a_class_gives_the_bytes_of_the_native_scheme() -> None:
    native, own = (scenario().run(scheme=scheme, seed=1) for scheme in (None, f"{EXAMPLES}/dctcp.py:Dctcp"))
    assert numbers(own) == numbers(native)
    for table in ("queues", "rates", "flows"):
        of_own, of_native = columns(own, table), columns(native, table)
        assert of_own == {name: column for name, column in of_native.items() if name in of_own}, table
    assert native.python_share is None
    assert own.python_share is not None and 0.05 < own.python_share < 1


def test_theta_powertcp_gives_the_numbers_of_the_native_scheme() -> None:
    # The class paces by what is left of a gap, and lets whole frames go.
    like = {"theta-powertcp": {"gate": "whole", "gap": "rest"}}
    native = scenario("theta-powertcp", schemes=like).run(seed=1)
    own = scenario(f"{EXAMPLES}/theta_powertcp.py:ThetaPowerTCP").run(seed=1)
    assert numbers(own) == numbers(native)
    other = scenario("theta-powertcp", schemes={"theta-powertcp": {**like["theta-powertcp"], "gamma": 0.8}}).run(seed=1)
    assert numbers(other) != numbers(native)


def test_parameters_are_keys_of_the_scheme(tmp_path: Path) -> None:
    library = build(EXAMPLES / "dctcp.c", tmp_path)
    small = scenario(library, schemes={"dctcp-c": {"k": "30 KB"}})
    resolved = small.resolved()
    assert f'scheme = "{library}"' in resolved
    assert "[schemes.dctcp-c]" in resolved and 'k = "30 KB"' in resolved
    same = scenario(schemes={"dctcp": {"k": "30 KB"}}).run(seed=1)
    assert numbers(small.run(seed=1)) == numbers(same)
    with pytest.raises(penstock.ScenarioError, match=r"schemes\.dctcp-c\.k: "):
        scenario(library, schemes={"dctcp-c": {"k": "1 B"}}).resolved()
    with pytest.raises(penstock.ScenarioError, match=r"schemes\.dctcp-c\.kk"):
        scenario(library, schemes={"dctcp-c": {"kk": "30 KB"}}).resolved()


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            ".version = PENSTOCK_SCHEME_VERSION",
            ".version = 1",
            "an older interface: version 1, and this Penstock has 2",
        ),
        (".version = PENSTOCK_SCHEME_VERSION", ".version = 3", "a newer interface: version 3, and this Penstock has 2"),
        (".size = sizeof(penstock_scheme)", ".size = 8", "its description has 8 octets instead of 384"),
        (".rp_on_ack = rp_on_ack,", "", "the function rp_on_ack is missing, which a scheme that acknowledges needs"),
        ('.name = "dctcp-c"', '.name = "dctcp"', 'calls its scheme "dctcp", which is one of Penstock'),
        ('.name = "dctcp-c"', '.name = "DC TCP"', 'the name "DC TCP" is not legal'),
        ("{97500}, {64}", "{9}, {64}", "parameter k: 9 octets is not within 64 octets to 1 GB"),
        (
            "penstock_scheme_describe(void) {",
            "other(void);const penstock_scheme *other(void) {",
            "has no function penstock_",
        ),
    ],
)
def test_a_wrong_library_is_refused(tmp_path: Path, before: str, after: str, message: str) -> None:
    text = (EXAMPLES / "dctcp.c").read_text()
    assert before in text
    library = build(text.replace(before, after), tmp_path, "-Wno-unused-function", "-Wno-error")
    with pytest.raises(penstock.ScenarioError) as refused:
        scenario().resolved(scheme=library)
    assert message in str(refused.value)
    assert library in str(refused.value) and refused.value.hint


def test_no_library_and_no_class(tmp_path: Path) -> None:
    text = tmp_path / "text.so"
    text.write_text("no library")
    (tmp_path / "own.py").write_text("import penstock\nclass Own(penstock.Scheme):\n    pass\n")
    (tmp_path / "bad.py").write_text("x = 1\n1 / 0\n")
    for place, message in (
        (f"{tmp_path}/none.so", "none.so: no such file"),
        (str(text), "cannot be loaded"),
        (f"{tmp_path}/none.py:Own", "none.py: no such file"),
        (f"{tmp_path}/own.py:Other", "has no scheme Other"),
        (f"{tmp_path}/bad.py:Own", "bad.py:2: ZeroDivisionError"),
        (f"{tmp_path}/own.txt", "neither a shared library nor a class"),
    ):
        with pytest.raises(penstock.ScenarioError) as refused:
            scenario().resolved(scheme=place)
        assert message in str(refused.value), place
        assert refused.value.hint


def test_the_command_line_takes_locations(tmp_path: Path) -> None:
    build(EXAMPLES / "dctcp.c", tmp_path)
    (tmp_path / "own.py").write_text((EXAMPLES / "dctcp.py").read_text())
    run = command(tmp_path, "run", "four.toml", "--scheme", "own.py:Dctcp", "--no-figures")
    assert run.returncode == 0, run.stderr
    assert "% of the time went into the methods of the scheme in Python" in run.stderr
    assert (tmp_path / "results/four-Dctcp-seed1/summary.json").is_file()
    names = "dctcp,./libdctcp.so,own.py:Dctcp"
    both = command(tmp_path, "compare", "four.toml", "--schemes", names, "--out", "both")
    assert both.returncode == 0, both.stderr
    assert "dctcp-c" in both.stdout and "dctcp-py" in both.stdout
    swept = command(
        tmp_path, "sweep", "four.toml", "--schemes", names, "--vary", "duration=1 ms,2 ms", "--out", "swept"
    )
    assert swept.returncode == 0, swept.stderr


def test_the_catalogue_knows_a_scheme_by_its_location(tmp_path: Path) -> None:
    library = build(EXAMPLES / "dctcp.c", tmp_path)
    entry = about(library)
    assert (entry["name"], entry["fluid"], entry["profiles"]) == ("dctcp-c", None, [])
    assert entry["parameters"][0]["name"] == "k"
    assert about("dctcp-c") == entry
    with pytest.raises(ArgumentError, match="no such file"):
        about(f"{tmp_path}/libnothing.so")
    with pytest.raises(ArgumentError, match=r"dctpc: unknown scheme; did you mean dctcp"):
        about("dctpc")
    with pytest.raises(theory.UnsuitedScenarioError, match="there is no fluid model of dctcp-c"):
        theory.margins(scenario(), scheme=library)


@pytest.mark.parametrize("name", ["aimd.c", "red.cpp"])
def test_a_template_builds_and_runs(tmp_path: Path, name: str) -> None:
    library = tmp_path / "libown.so"
    compiler = "c++" if name.endswith("cpp") else "cc"
    words = [compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{INCLUDE}", "-o", str(library)]
    subprocess.run([*words, str(EXAMPLES / name)], check=True)
    assert len((EXAMPLES / name).read_text().splitlines()) < 100
    summary = scenario().run(scheme=str(library), seed=1).summary
    assert summary["scheme"] == name.split(".")[0]
    assert summary["jain_index"] > 0.5


def test_the_code_of_the_page_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs/how-to/write-a-scheme-in-python-or-c.md").read_text()
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "halving.py").write_text(block)
    changed = {"schemes.halving.k": "30 KB"}
    own = scenario(f"{tmp_path}/halving.py:Halving").with_(changed).run(seed=1)
    assert own.summary["scheme"] == "halving"
    assert own.summary["actions"]


ONCE = """
import penstock

class Once(penstock.Scheme):
    class ReactionPoint(penstock.ReactionPoint):
        def on_start(self, now, flow):
            self.timeout = now + 1_000_000_000

        def on_timer(self, now):
            self.rate = self.rate // 2
"""


def test_a_timer_that_is_not_set_again_is_off(tmp_path: Path) -> None:
    (tmp_path / "once.py").write_text(ONCE)
    case = scenario(f"{tmp_path}/once.py:Once", duration="10 ms", flow=[{"from": "h0", "to": "h4"}])
    (flow,) = case.run(seed=1).summary["flows"]
    # 1 ms at 10 Gb/s, and 9 ms at 5 Gb/s.
    assert flow["throughput_bps"] == pytest.approx(5.5e9, rel=0.02)


@pytest.mark.parametrize("place", ["aimd.py:Aimd", "qcn.py:QcnLike"])
def test_the_short_classes_fill_the_link_and_hold_its_queue(place: str) -> None:
    summary = scenario(f"{EXAMPLES}/{place}", duration="60 ms", warmup="30 ms").run(seed=1).summary
    (queue,) = summary["queues"]
    assert queue["utilization"] > 0.9
    assert 5_000 < queue["mean_octets"] < 60_000
    assert summary["jain_index"] > 0.8
