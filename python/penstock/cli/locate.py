"""From what a person types to a scenario and to a folder for its results."""

from difflib import get_close_matches
from pathlib import Path

from penstock.cli.failure import InputError
from penstock.scenario import Scenario

SCENARIOS = Path("scenarios")
RESULTS = Path("results")


def find(name: str, sets: list[str]) -> Scenario:
    """Read the scenario that ``name`` means, a path or a name below ./scenarios, and apply each ``KEY=VALUE``."""
    scenario = Scenario.load(_path(name))
    for key, value in assignments(sets).items():
        scenario.set(key, value)
    return scenario


def assignments(sets: list[str]) -> dict[str, str]:
    """Return what each ``KEY=VALUE`` of ``--set`` sets, the last of a key."""
    found = {}
    for assignment in sets:
        key, equals, value = assignment.partition("=")
        if not equals or not key.strip():
            raise InputError(f"--set {assignment}: no KEY=VALUE", "for instance --set duration='1 s'")
        found[key.strip()] = value.strip()
    return found


def names(folder: Path) -> list[str]:
    """Return the names of the scenario files in ``folder`` and below, sorted."""
    return sorted(path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.toml"))


def _path(name: str) -> Path:
    path = Path(name)
    if path.exists():
        return path
    below = SCENARIOS / name
    for candidate in (below, below.with_name(f"{below.name}.toml")):
        if candidate.is_file():
            return candidate
    # The last part of a name alone is what people remember.
    known = {word: full for full in names(SCENARIOS) for word in (full, full.rpartition("/")[2])}
    near = get_close_matches(name, known, n=1, cutoff=0.4)
    hint = f"did you mean {known[near[0]]}?" if near else "`penstock scenarios` lists those below ./scenarios"
    raise InputError(f"{name}: no such file, and no scenario of that name below ./{SCENARIOS}", hint)
