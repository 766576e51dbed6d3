"""Writes the tables of the theory that the page of the laboratory shows: `python tools/lab_tables.py FOLDER`.

A file for each scenario of lab/gallery.json and each scheme of its `theory`, FOLDER/SCENARIO.SCHEME.json; see
python/penstock/theory/lab_tables.py for what is in it. `make lab` calls this.
"""

import json
import sys
from pathlib import Path

from penstock.scenario import Scenario
from penstock.theory.lab_tables import tables

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Writes all tables."""
    if len(sys.argv) != 2:
        print("usage: python tools/lab_tables.py FOLDER", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    for entry in json.loads((ROOT / "lab" / "gallery.json").read_text(encoding="utf-8")):
        for scheme in entry["theory"]:
            scenario = Scenario.load(ROOT / "scenarios" / f"{entry['scenario']}.toml")
            path = folder / f"{entry['scenario']}.{scheme}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps(tables(scenario, scheme), separators=(",", ":"), allow_nan=False)
            path.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
