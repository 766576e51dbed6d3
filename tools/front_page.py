"""The proofs on README's front page, from what has been measured.

    python tools/front_page.py            writes them between README's two comments
    python tools/front_page.py --check    status 1 where README has others
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
README = ROOT / "README.md"
BEGIN, END = "<!-- python tools/front_page.py -->\n", "<!-- end of proofs -->\n"
CLAIMS = r"\*\*(\d+) of (\d+) claims\*\*"


def proofs(holding: int, claims: int) -> str:
    """The proofs as a list; `holding` of the papers' `claims` hold."""
    agree, lines = found(r"^(\d+) of (\d+) lines agree", "docs/measurements/beside-other-simulators.md")
    scenarios = len(json.loads((ROOT / "python/tests/fingerprints.json").read_text(encoding="utf-8")))
    cores = len(list((ROOT / "rtl").glob("*/core.toml")))
    entries = [
        f"- **{holding} of {claims} claims** of papers, and of one study of ours, hold (`penstock "
        "reproduce`). Each has a run that must fail it, and each that differs has its reason.",
        f"- **{agree} of {lines} numbers** of HPCC's ns-3 and of htsim come out within 10 %; the others have their "
        "cause, by file and line ([table](docs/measurements/beside-other-simulators.md)).",
        "- **The same bytes** from the same file and seed, on every machine, with any number of threads: "
        f"{scenarios} scenarios are held to it.",
        f"- **{cores} cores** in SystemVerilog keep step with the simulator's state machines in every clock, for "
        "millions of clocks ([cores](docs/reference/cores.md)).",
    ]
    return "\n".join(entries)


def found(pattern: str, page: str) -> tuple[int, int]:
    """The two numbers that a page states."""
    match = re.search(pattern, (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    if match is None:
        sys.exit(f"{page}: no line {pattern}")
    return int(match[1]), int(match[2])


def main(arguments: argparse.Namespace) -> int:
    """Writes or checks README."""
    text = README.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    old, _, after = rest.partition(END)
    if arguments.claims is not None:
        totals = json.loads(arguments.claims.read_text(encoding="utf-8"))["totals"]
        holding, claims = totals["holds"], totals["claims"] - totals["untestable"]
    else:
        holding, claims = found(CLAIMS, "README.md")
    new = proofs(holding, claims)
    if arguments.check and new.strip() != old.strip():
        print("README.md: proofs differ: python tools/front_page.py", file=sys.stderr)
        return 1
    if not arguments.check:
        README.write_text(f"{before}{BEGIN}{new}\n{END}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The proofs on README's front page.")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--claims", type=Path, metavar="FILE")
    sys.exit(main(parser.parse_args()))
