"""`penstock compare`: its runs, its output and its files."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ENDLESS, SMALL, Command, interrupt

from penstock.metrics.registry import COMPARED
from penstock.metrics.seeds import spread

ENTRY = ["label", "scenario", "scheme", "profile", "seeds"]
FIGURES = {f"{name}.{kind}" for name in ("compare", "cdf") for kind in ("png", "svg")}


def test_compare_json(penstock: Command, small: Path, tmp_path: Path) -> None:
    done = penstock("compare", small, "--schemes", "qcn,none", "--seeds", "2", "--json")
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert list(document) == ["scenario", "question", "queue", "schemes", "runs"]
    assert document["queue"] == "sw0->h2"
    assert [(entry["scheme"], entry["seeds"]) for entry in document["schemes"]] == [("qcn", [1, 2]), ("none", [1, 2])]
    losses = [run["loss_rate"] for run in document["runs"] if run["scheme"] == "none"]
    none = document["schemes"][1]
    assert none["loss_rate"]["mean"] == sum(losses) / 2
    # Two greedy senders into one port of half their rate, without control: half is lost, but for the buffer.
    assert 0.4 < none["loss_rate"]["mean"] < 0.5
    assert document["schemes"][0]["loss_rate"]["mean"] < none["loss_rate"]["mean"]

    # Two flows, two seeds; none of them ends.
    assert none["completion_time_s"] == spread([]) | {"flows": 0, "of_flows": 4}
    # Without a scheme nothing is drawn, and both seeds give the same run.
    assert none["undrawn"]
    for entry in document["schemes"]:
        drawn = [] if entry.get("undrawn") else ["undrawn"]
        assert [key for key in [*ENTRY, "undrawn"] if key not in drawn] == list(entry)[: 6 - len(drawn)]
        assert list(entry)[6 - len(drawn) :] == [*(metric.name for metric in COMPARED), "groups"]
    assert none["loss_rate"]["min"] == min(losses)
    assert none["loss_rate"]["max"] == max(losses)
    # Full, with room for 40 frames of 1500 octets, whenever a sample is taken; and nobody slows down.
    assert none["queue_p50_octets"]["mean"] == 60_000
    assert none["rate_amplitude_bps"]["mean"] == 0
    assert none["pause_frames"]["mean"] is None
    assert [group["name"] for group in none["groups"]] == ["f0..f1"]
    assert 2 * none["groups"][0]["throughput_bps"]["mean"] == pytest.approx(none["throughput_bps"]["mean"])

    folder = tmp_path / "results" / "small-compare"
    assert json.loads((folder / "compare.json").read_text()) == document
    runs = {"qcn-seed1", "qcn-seed2", "none-seed1", "none-seed2"}
    assert {path.name for path in folder.iterdir()} == runs | {"compare.json", *FIGURES}
    assert [path.name for path in folder.parent.iterdir()] == ["small-compare"]


def test_compare_runs_as_run_does(penstock: Command, small: Path) -> None:
    compared = json.loads(penstock("compare", small, "--schemes", "none,qcn", "--json").stdout)["runs"][1]
    options = ["--set", "record.percentiles=true", "--json", "--no-figures"]
    alone = json.loads(penstock("run", small, *options).stdout)
    del compared["run"], alone["run"]
    assert compared == alone


def test_compare_table_and_existing_folder(penstock: Command, small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = penstock("compare", small, "--schemes", "qcn,none", "--out", out)
    assert done.returncode == 0
    assert done.stderr == ""
    for word in ("qcn", "none", "utilisation", "sw0->h2"):
        assert word in done.stdout
    kept = (out / "compare.json").read_bytes()
    assert penstock("compare", small, "--schemes", "qcn", "--out", out).returncode == 2
    assert (out / "compare.json").read_bytes() == kept
    assert penstock("compare", small, "--schemes", "qcn", "--out", out, "--force").returncode == 0
    assert not (out / "none-seed1").exists()


def test_interrupted_comparison_keeps_what_was_recorded(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "results" / "compared"
    status, stdout, stderr = interrupt(["compare", str(small), "--schemes", "qcn,none", "--json", *ENDLESS], out)
    assert status == 130
    assert f"penstock plot {out}" in stderr
    assert not list(out.glob("*.png")), "drawing would take longer than a user waits"
    assert [path.name for path in out.parent.iterdir()] == ["compared"]
    runs = json.loads(stdout)["runs"]
    assert runs
    assert all(run["interrupted_at_s"] > 0 for run in runs)


def test_compare_several_scenarios(penstock: Command, small: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text(SMALL.replace('scheme = "qcn"', 'scheme = "none"').replace("Do two", "What if two"))
    alone = json.loads(penstock("compare", small, other, "--json").stdout)
    assert [(e["label"], e["scenario"], e["scheme"]) for e in alone["schemes"]] == [
        ("small", "small", "qcn"),
        ("other", "other", "none"),
    ]
    assert (alone["scenario"], alone["question"]) == (None, None)
    folder = tmp_path / "results" / "small-other-compare"
    assert {path.name for path in folder.iterdir() if path.is_dir()} == {"small-seed1", "other-seed1"}

    done = penstock("compare", small, other, "--schemes", "qcn,none", "--out", tmp_path / "both")
    assert done.returncode == 0
    assert "small, other" in done.stdout
    document = json.loads((tmp_path / "both" / "compare.json").read_text())
    labels = ["small: qcn", "small: none", "other: qcn", "other: none"]
    assert [entry["label"] for entry in document["schemes"]] == labels
    for label in labels:
        assert label in done.stdout


def test_compare_one_scheme_over_seeds(penstock: Command, small: Path) -> None:
    document = json.loads(penstock("compare", small, "--seeds", "3", "--json").stdout)
    (entry,) = document["schemes"]
    assert (entry["label"], entry["seeds"]) == ("qcn", [1, 2, 3])
    mean = entry["queue_mean_octets"]
    assert mean["min"] <= mean["mean"] <= mean["max"]
    assert mean["std"] > 0


def test_compare_under_a_priority_with_a_scheme_of_its_own(penstock: Command, tmp_path: Path) -> None:
    # Marks up to 100 KB ask for a longer queue than the small scenario has.
    deep = SMALL.replace('"60 KB"', '"150 KB"')
    text = deep.replace("[topology.star]", '[[priority]]\npriority = 3\nscheme = "dcqcn"\n\n[topology.star]')
    (tmp_path / "two.toml").write_text(text + '\n[[flow]]\nfrom = "h0"\nto = "h2"\npriority = 3\n')
    done = penstock("compare", "two.toml", "--schemes", "qcn,none", "--out", "out")
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "out" / "compare.json").read_text())
    assert [(entry["label"], entry["scheme"]) for entry in document["schemes"]] == [("qcn", "mixed"), ("none", "mixed")]
    own = [[assigned["scheme"] for assigned in run["schemes"]] for run in document["runs"]]
    assert own == [["qcn", "dcqcn"], ["none", "dcqcn"]]
    assert {path.name for path in (tmp_path / "out").iterdir() if path.is_dir()} == {"qcn-seed1", "none-seed1"}


def test_compare_by_a_named_queue(penstock: Command, small: Path) -> None:
    done = penstock(
        "compare", small, "--schemes", "qcn", "--set", "record.queues=switches", "--queue", "sw0->h0", "--json"
    )
    document = json.loads(done.stdout)
    assert document["queue"] == "sw0->h0"
    (of_run,) = [q for q in document["runs"][0]["queues"] if q["name"] == "sw0->h0"]
    assert document["schemes"][0]["queue_mean_octets"]["mean"] == of_run["mean_octets"]
    done = penstock("compare", small, "--schemes", "qcn", "--queue", "sw0->h3", "--force")
    assert done.returncode == 2
    assert "did you mean sw0->h2?" in done.stderr


def test_compare_needs_names_that_differ(penstock: Command, small: Path, tmp_path: Path) -> None:
    (tmp_path / "twin").mkdir()
    (tmp_path / "twin" / "small.toml").write_text(SMALL)
    done = penstock("compare", small, tmp_path / "twin" / "small.toml")
    assert done.returncode == 2
    assert "two scenarios have the name small" in done.stderr
    assert not (tmp_path / "results").exists()


def test_compare_with_flow_control_shows_pauses(penstock: Command, small: Path, tmp_path: Path) -> None:
    (tmp_path / "pfc.toml").write_text('pfc = { buffer = "60 KB" }\nlossless = true\n' + SMALL)
    done = penstock("compare", small, "pfc.toml", "--schemes", "none", "--out", "out")
    assert done.returncode == 0, done.stderr
    for word in ("paused", "pauses", "pauses.png"):
        assert word in done.stdout
    without, with_pfc = json.loads((tmp_path / "out" / "compare.json").read_text())["schemes"]
    assert "lossless" not in without
    assert with_pfc["lossless"] is True
    assert with_pfc["frames_lost"]["mean"] == 0
    assert with_pfc["paused_s"]["mean"] > 0
    assert without["pause_frames"]["mean"] is None
    assert (tmp_path / "out" / "pauses.svg").exists()


def test_compare_tells_every_broken_claim_at_its_end(penstock: Command, tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("lossless = true\n" + SMALL)
    done = penstock("compare", "broken.toml", "--schemes", "none,qcn", "--seeds", "2", "--json", "--out", "out")
    assert done.returncode == 1
    entries = json.loads(done.stdout)["schemes"]
    assert [entry["lossless"] for entry in entries] == [False, False]
    for label in ("none, seed 1", "none, seed 2", "qcn, seed 1", "qcn, seed 2"):
        assert f"error: {label}: claims to be lossless and lost" in done.stderr
    assert (tmp_path / "out" / "compare.png").exists()


def test_compare_tells_which_scheme_had_no_effect(penstock: Command, tmp_path: Path) -> None:
    idle = "require_action = true\n" + SMALL + 'traffic = "constant"\nrate = "10 Mbps"\n'
    (tmp_path / "idle.toml").write_text(idle)
    done = penstock("compare", "idle.toml", "--schemes", "none,qcn", "--json", "--out", "out")
    assert done.returncode == 1
    none, qcn = json.loads(done.stdout)["schemes"]
    assert "acted" not in none and qcn["acted"] is False
    assert "error: qcn, seed 1: claims that its scheme acts" in done.stderr
    assert "none, seed 1" not in done.stderr


def test_variants_and_values_are_lines(penstock: Command, small: Path, tmp_path: Path) -> None:
    asked = ("--schemes", "qcn", "--variant", "pfc=none;pfc.quanta=65535", "--vary", "topology.star.buffer=60 KB,90 KB")
    done = penstock("compare", small, *asked, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    values = ("60 KB", "90 KB")
    assert [e["label"] for e in document["schemes"]] == [f"buffer={v}: {s}" for v in values for s in ("qcn", "pfc")]
    assert [bool(e["pause_frames"]["mean"]) for e in document["schemes"]] == [False, True] * 2
    (folder,) = (tmp_path / "results").iterdir()
    assert (folder / "buffer=60 KB-pfc-seed1").is_dir()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("pfc", "--variant pfc: not of the form NAME=SCHEME;KEY=VALUE;…"),
        ("pfc=", "--variant pfc=: not of the form NAME=SCHEME;KEY=VALUE;…"),
        ("pfc=none;quanta", "quanta is not of the form KEY=VALUE"),
        ("pfc=none;a.b=1;a.b=2", "a.b appears twice"),
        ("p/c=none", "invalid variant name 'p/c'"),
        ("pfc=non", 'variant pfc: unknown scheme "non"'),
        ("pfc=none;pfc.quanat=1", "variant pfc: pfc.quanat: unknown key"),
        ("qcn=none", "a scheme is named twice"),
    ],
)
def test_a_wrong_variant_is_refused(penstock: Command, small: Path, tmp_path: Path, given: str, words: str) -> None:
    done = penstock("compare", small, "--schemes", "qcn", "--variant", given)
    assert done.returncode == 2
    assert words in done.stderr
    assert "hint: " in done.stderr
    assert not (tmp_path / "results").exists()


def test_results_folders_are_put_side_by_side(penstock: Command, small: Path, tmp_path: Path) -> None:
    for scheme in ("qcn", "none"):
        options = ("--scheme", scheme, "--set", "record.percentiles=true", "--quiet", "--no-figures")
        assert penstock("run", small, *options, "--out", tmp_path / f"own-{scheme}").returncode == 0
    folders = [tmp_path / "own-none", tmp_path / "own-qcn"]
    done = penstock("compare", *folders, "--json", "--out", tmp_path / "both")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    ran = json.loads(penstock("compare", small, "--schemes", "none,qcn", "--json", "--out", tmp_path / "run").stdout)
    assert [line["label"] for line in document["schemes"]] == ["own-none", "own-qcn"]
    for own, other in zip(document["schemes"], ran["schemes"], strict=True):
        assert {**own, "label": None} == {**other, "label": None}
    assert (document["queue"], document["scenario"]) == (ran["queue"], ran["scenario"])
    assert {path.name for path in (tmp_path / "both").iterdir()} >= FIGURES
    # The folder is one of `penstock compare`, which can be drawn again; those of the runs are left as they were.
    assert penstock("plot", tmp_path / "both", "--out", tmp_path / "again.png").returncode == 0
    assert (folders[0] / "summary.json").is_file()


def test_runs_that_are_over_take_no_settings(penstock: Command, small: Path, tmp_path: Path) -> None:
    assert penstock("run", small, "--quiet", "--no-figures", "--out", tmp_path / "one").returncode == 0
    one = tmp_path / "one"
    wrong = {
        (one,): "a comparison needs at least two runs",
        (one, small): "not a results folder, as the others are",
        (one, one): "two results folders have the name one",
        (one, one, "--seeds", "2"): "--seeds: the runs of results folders have ended",
        (one, one, "--schemes", "qcn"): "--schemes: the runs of results folders have ended",
        (one, one, "--set", "duration=1 s"): "--set: the runs of results folders have ended",
    }
    for arguments, said in wrong.items():
        done = penstock("compare", *arguments, "--out", tmp_path / "out")
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
        assert not (tmp_path / "out").exists()


def test_a_duration_that_is_set_leaves_later_changes_out_everywhere(penstock: Command, tmp_path: Path) -> None:
    file = tmp_path / "late.toml"
    file.write_text(SMALL + '\n[[change]]\nlink = "sw0->h2"\nat = "15 ms"\nrate = "0.5 Gbps"\n')
    shorter = ("--set", "duration=10 ms")
    compared = penstock("compare", str(file), "--schemes", "qcn,none", *shorter, "--json")
    assert compared.returncode == 0, compared.stderr
    swept = penstock(
        "sweep", str(file), "--vary", "schemes.qcn.q_eq=20 KB,33 KB", *shorter, "--out", str(tmp_path / "s")
    )
    assert swept.returncode == 0, swept.stderr


def test_a_killed_comparison_goes_on_and_two_do_not_meet(penstock: Command, small: Path, tmp_path: Path) -> None:
    """While one is at work at a folder another is refused; after a kill its finished runs are taken as they are."""
    out, kept = tmp_path / "out", tmp_path / "out.unfinished"
    options = ["compare", str(small), "--schemes", "none", "--seeds", "8", "--set", "duration=10 s"]
    options += ["--resume", "--out", str(out)]
    process = subprocess.Popen([sys.executable, "-m", "penstock", *options], stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not (finished := sorted(kept.glob("none-seed*"))) and time.monotonic() < deadline:
            time.sleep(0.02)
        # It is in the middle of its runs, and stays there.
        process.send_signal(signal.SIGSTOP)
        second = penstock(*options)
    finally:
        process.kill()
        process.wait()
    assert (second.returncode, out.exists()) == (2, False)
    assert f"error: {kept}: another comparison is at work in this folder" in second.stderr
    assert "hint: wait until it is done, end it, or name another folder" in second.stderr
    first = finished[0].name
    inode = (kept / first / "summary.json").stat().st_ino
    again = penstock(*options)
    assert again.returncode == 0, again.stderr
    assert len(json.loads((out / "compare.json").read_text())["runs"]) == 8
    assert (out / first / "summary.json").stat().st_ino == inode, "it was not run again"
    assert not kept.exists()
