"""The competitors of an arena once more, each tuned by :func:`penstock.tune` with the same budget."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from penstock import __version__, _core, library
from penstock.arenas.arena_file import Competitor, Entries
from penstock.arenas.speed import faster_workload
from penstock.catalogue import about
from penstock.executors.executor import Executor
from penstock.files import write_text
from penstock.runs import RunCallbacks
from penstock.scenario import Scenario
from penstock.sweeps.axes import Value
from penstock.theory.configuration import UnsuitedScenarioError
from penstock.tuning.tuning import tune
from penstock.variants import Variant

GOAL = "latency"
SCENARIO = "arena/tuning"
SUFFIX = "-tuned"
"""The end of the name of a competitor that was tuned."""
_BUFFER, _BUFFER_OCTETS = "topology.star.buffer", 300_000
_SEEDS = 2
_VERDICT_SEEDS = 8


@dataclass(frozen=True)
class Tuned:
    """The answer of the search for a competitor.

    Attributes:
        key: a hash of all that it follows from.
        settings: the keys of the proposal with their values; empty where no gain is shown.
        why: the reason why there is none.
    """

    key: str
    settings: Mapping[str, Value] = field(default_factory=dict)
    why: str = ""


def tuned(
    entries: Entries, folder: Path, trials: int, *, callbacks: RunCallbacks, executor: Executor | None
) -> tuple[Entries, dict[str, Tuned]]:
    """Tune every competitor that has something to tune, and keep each answer in the folder at once.

    Returns:
        The entries with the proposals instead of the competitors that they are better than, under their names with
        ``-tuned``; and the answers by the names of the competitors.

    Raises:
        KeyboardInterrupt: Ctrl-C; the answers until then are kept.
        MissingExtraError: a package of the extra ``tune`` is not installed.
        OSError: an answer cannot be written.
    """
    found: dict[str, Tuned] = {}
    answers: dict[str, Tuned] = {}
    competitors = []
    for competitor in entries.competitors:
        if not about(competitor.scheme)["tuned"]:
            competitors.append(competitor)
            continue
        scenario = scenario_of_search(competitor, entries.speed)
        key = _key(scenario, trials)
        # Competitors that differ in flow control alone are tuned once: nothing is lost in the scenario of the search.
        answer = (
            answers.get(key) or _kept(folder, competitor, key) or _search(scenario, key, trials, callbacks, executor)
        )
        answers[key] = found[competitor.name] = answer
        write_text(_file(folder, competitor), json.dumps(asdict(answer), indent=2) + "\n")
        if answer.settings:
            settings = {**competitor.settings, **answer.settings}
            competitors.append(replace(competitor, name=competitor.name + SUFFIX, settings=settings))
        else:
            competitors.append(competitor)
    return replace(entries, title=f"{entries.title}, tuned", competitors=tuple(competitors)), found


def _search(scenario: Scenario, key: str, trials: int, callbacks: RunCallbacks, executor: Executor | None) -> Tuned:
    try:
        answer = tune(
            scenario,
            GOAL,
            trials=trials,
            seeds=_SEEDS,
            verdict_seeds=_VERDICT_SEEDS,
            callbacks=callbacks,
            executor=executor,
        )
    except UnsuitedScenarioError as unsuited:
        return Tuned(key, why=str(unsuited))
    if answer.interrupted:
        raise KeyboardInterrupt
    if not answer.gain_shown:
        return Tuned(key, why="no gain is shown on seeds that the search never used")
    return Tuned(key, dict(answer.proposal.parameters))


def scenario_of_search(competitor: Competitor, speed: int = 1) -> Scenario:
    """Return the scenario on which a competitor is tuned, with its settings, on lines ``speed`` times as fast."""
    path = library.locate(SCENARIO)
    assert path is not None, "the scenario is part of the package"
    # The scenario has neither flow control nor shared memory.
    own = {key: value for key, value in competitor.settings.items() if not key.startswith(("pfc.", "buffer."))}
    scenario = Variant("own", competitor.scheme, own).of(Scenario.load(path))
    if speed > 1:
        for key, value in faster_workload(scenario, speed).items():
            scenario.set(key, value)
        # The same length in time, as a scheme's settings have it.
        scenario.set(_BUFFER, _core.write_quantity(_BUFFER_OCTETS * speed, "octets"))
    return scenario.set("scheme", competitor.scheme)


def _key(scenario: Scenario, trials: int) -> str:
    parts = (__version__, scenario.resolved(), GOAL, str(trials), str(_SEEDS), str(_VERDICT_SEEDS))
    return sha256("\n".join(parts).encode()).hexdigest()[:32]


def _kept(folder: Path, competitor: Competitor, key: str) -> Tuned | None:
    try:
        answer = Tuned(**json.loads(_file(folder, competitor).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return answer if answer.key == key else None


def _file(folder: Path, competitor: Competitor) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{competitor.name}.json"
