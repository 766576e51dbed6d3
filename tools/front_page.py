"""The proofs on README's front page and in the paper's draft, from what has been measured.

    python tools/front_page.py            writes them between the two comments of each
    python tools/front_page.py --check    status 1 where one has others
    python tools/front_page.py --claims results/reproduce/reproduce.json    takes the papers' claims from a whole run

Each number has its file: claims are those of `penstock reproduce`, whose last whole run README itself remembers; the
others are read from pages of measurements, fingerprints and cores in the checkout.
"""

import argparse
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README, PAPER = ROOT / "README.md", ROOT / "paper/paper.md"
BEGIN, END = "<!-- python tools/front_page.py -->\n", "<!-- end of proofs -->\n"
BESIDE = "docs/measurements/beside-other-simulators.md"
CLAIMS = r"\*\*(\d+) of (\d+) claims\*\*"


def proofs(holding: int, claims: int) -> dict[Path, str]:
    """The proofs by file: README's list and the paper's sentences; `holding` of the papers' `claims` hold."""
    agree, lines = found(r"^(\d+) of (\d+) lines agree", BESIDE)
    scenarios = len(json.loads((ROOT / "python/tests/fingerprints.json").read_text(encoding="utf-8")))
    cores = len(list((ROOT / "rtl").glob("*/core.toml")))
    entries = [
        f"- **{holding} of {claims} claims** of papers, and of one study of ours, hold (`penstock "
        "reproduce`). Each has a run that must fail it, and each that differs has its reason.",
        f"- **{agree} of {lines} numbers** of HPCC's ns-3 and of htsim come out within 10 %; the others have their "
        f"cause, by file and line ([table]({BESIDE})).",
        f"- **Fast**: the same flows take HPCC's ns-3 {times('hpcc-ns3')} times, ns-3 {times('ns-3')} times, "
        f"INET {times('inet')} times and htsim {times('uet-htsim')} times the processor time of Penstock "
        f"([table]({BESIDE}), `websearch`, starts left out).",
        "- **The same bytes** from the same file and seed, on every machine, with any number of threads: "
        f"{scenarios} scenarios are held to it.",
        f"- **{cores} cores** in SystemVerilog keep step with the simulator's state machines in every clock, for "
        "millions of clocks ([cores](docs/reference/cores.md)).",
    ]
    sentences = (
        f"Of {claims} claims of reproduced papers, and of one study of ours, {holding} hold, and each of the others "
        f"has its reason. Of {lines} numbers\nthat HPCC's ns-3 and htsim print for the same situations, {agree} come "
        f"out within 10 %. The bytes of {scenarios} scenarios are held by\nfingerprints, and {cores} hardware cores "
        "keep step with the state machines in every clock, for millions of clocks."
    )
    return {README: "\n".join(entries), PAPER: sentences}


def found(pattern: str, page: str) -> tuple[int, int]:
    """The two numbers that a page states."""
    match = re.search(pattern, (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    if match is None:
        sys.exit(f"{page}: no line {pattern}")
    return int(match[1]), int(match[2])


def times(simulator: str) -> str:
    """How many times Penstock's processor time another simulator takes for `websearch`: least and most of its schemes.

    Both starts are left out, which are the times of `single`.
    """
    row = re.compile(
        rf"^\| {simulator} \| `(\S+)` \| (single|websearch) \|(?:[^|]*\|){{4}} ([\d.]+) / ([\d.]+) \|", re.MULTILINE
    )
    taken: dict[str, dict[str, tuple[float, float]]] = {"single": {}, "websearch": {}}
    for scheme, work, theirs, ours in row.findall((ROOT / BESIDE).read_text(encoding="utf-8")):
        taken[work][scheme] = (float(theirs), float(ours))
    start = taken["single"]
    ratios = [(a - start[of][0]) / (b - start[of][1]) for of, (a, b) in taken["websearch"].items()]
    if not ratios:
        sys.exit(f"{BESIDE}: {simulator} has no row of websearch and of single")
    least, most = (f"{float(f'{ratio:.2g}'):g}" for ratio in (min(ratios), max(ratios)))
    return least if least == most else f"{least} to {most}"


def main(arguments: argparse.Namespace) -> int:
    """Writes or checks both files."""
    if arguments.claims is not None:
        totals = json.loads(arguments.claims.read_text(encoding="utf-8"))["totals"]
        holding, claims = totals["holds"], totals["claims"] - totals["untestable"]
    else:
        holding, claims = found(CLAIMS, "README.md")
    status = 0
    for file, new in proofs(holding, claims).items():
        before, _, rest = file.read_text(encoding="utf-8").partition(BEGIN)
        old, _, after = rest.partition(END)
        if not arguments.check:
            file.write_text(f"{before}{BEGIN}{new}\n{END}{after}", encoding="utf-8")
        elif new.strip() != old.strip():
            print(f"{file.name}: proofs differ: python tools/front_page.py", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The proofs of README and the paper.")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--claims", type=Path, metavar="FILE")
    sys.exit(main(parser.parse_args()))
