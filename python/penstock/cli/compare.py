"""`penstock compare`: one scenario, several schemes, side by side."""

import json
import os
import shutil
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Literal

import typer

from penstock.cli.failure import INTERRUPTED, InputError, say
from penstock.cli.locate import RESULTS, find, refuse
from penstock.cli.progress import Progress
from penstock.cli.run import Request
from penstock.result import Result
from penstock.scenario import Scenario
from penstock.summary import QueueSummary, Summary


@dataclass(frozen=True)
class Job:
    """One run of a comparison."""

    scheme: str
    seed: int

    @property
    def folder(self) -> str:
        """Name of its folder below the comparison's."""
        return f"{self.scheme}-seed{self.seed}"


def run_all(request: Request, *, schemes: list[str], seeds: int) -> None:
    """Run every scheme with every seed, write the folder, print one table."""
    if len(set(schemes)) != len(schemes):
        raise InputError(f"--schemes {','.join(schemes)}: a scheme is named twice", "name each once")
    scenario = find(request.scenario, request.sets)
    # Laying out every scheme's plan finds what is wrong with any before the first runs.
    plans = [scenario.describe(scheme=scheme, profile=request.profile) for scheme in schemes]
    first_seed = plans[0]["seed"]
    scenario.describe(scheme=schemes[0], profile=request.profile, seed=first_seed + seeds - 1)
    jobs = [Job(scheme, seed) for scheme in schemes for seed in range(first_seed, first_seed + seeds)]
    folder = request.out or RESULTS / f"{scenario.name}-compare"
    refuse(folder, force=request.force, mark="compare.json")

    # The folder gets its name when all of it is there.
    partial = folder.with_name(f".{folder.name}.partial-{os.getpid()}")
    try:
        partial.mkdir(parents=True)
        with Progress(quiet=request.quiet) as progress:
            results = _run_jobs(scenario, request.profile, jobs, partial, progress)
        document = _document(scenario, jobs, results)
        _write(document, _firsts(results), partial)
        _put_in_place(partial, folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)

    if request.json:
        typer.echo(json.dumps(document, indent=2))
    elif not request.quiet:
        from penstock.cli.report import print_comparison

        print_comparison(document, folder)
    # An interrupt that falls between two runs stops neither, but those that have not begun are missing.
    if len(results) < len(jobs) or any(result.interrupted for result in results):
        say(f"interrupted; what was recorded until then is in {folder}")
        raise typer.Exit(INTERRUPTED)


def _run_jobs(
    scenario: Scenario, profile: str | None, jobs: list[Job], folder: Path, progress: Progress
) -> list[Result]:
    # The engine releases Python's lock, so that threads use all cores.
    text, name = scenario.to_toml(), scenario.name

    def work(job: Job) -> Result:
        own = Scenario.from_toml(text, name=name)
        return own.run(
            scheme=job.scheme,
            profile=profile,
            seed=job.seed,
            out=folder / job.folder,
            progress=progress.task(f"{job.scheme}, seed {job.seed}"),
        )

    with ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0))) as pool:
        futures = [pool.submit(work, job) for job in jobs]
        try:
            return [future.result() for future in futures]
        except BaseException as error:
            # Runs that are under way end early and keep their records; those that have not begun are dropped.
            progress.stop()
            pool.shutdown(cancel_futures=True)
            if not isinstance(error, KeyboardInterrupt):
                raise
            return [future.result() for future in futures if not future.cancelled()]


def _put_in_place(partial: Path, folder: Path) -> None:
    """Give the finished folder its name; one that had it goes only then."""
    if folder.exists():
        old = folder.with_name(f".{folder.name}.old-{os.getpid()}")
        folder.rename(old)
        partial.rename(folder)
        shutil.rmtree(old)
    else:
        partial.rename(folder)


def _document(scenario: Scenario, jobs: list[Job], results: list[Result]) -> dict[str, Any]:
    """Return the comparison as `--json` prints it and `compare.json` holds it."""
    summaries = [result.summary for result in results]
    queue = _busiest(summaries)
    schemes = list(dict.fromkeys(job.scheme for job in jobs))
    return {
        "scenario": scenario.name,
        "question": scenario.question,
        "queue": queue,
        "schemes": [_aggregate(scheme, queue, [s for s in summaries if s["scheme"] == scheme]) for scheme in schemes],
        "runs": summaries,
    }


def _busiest(summaries: list[Summary]) -> str | None:
    """Return the queue that every scheme is judged by: the one that is longest on average over all runs."""
    total: dict[str, float] = {}
    for summary in summaries:
        for queue in summary["queues"]:
            total[queue["name"]] = total.get(queue["name"], 0.0) + queue["mean_octets"]
    return max(total, key=lambda name: total[name], default=None)


def _aggregate(scheme: str, queue: str | None, summaries: list[Summary]) -> dict[str, Any]:
    queues = [_longest(summary, queue) for summary in summaries]
    return {
        "scheme": scheme,
        "profile": summaries[0]["profile"] if summaries else None,
        "seeds": [summary["seed"] for summary in summaries],
        "loss_rate": _spread(summary["loss_rate"] for summary in summaries),
        "feedback_rate": _spread(summary["feedback_rate"] for summary in summaries),
        "jain_index": _spread(summary["jain_index"] for summary in summaries),
        "queue_mean_octets": _spread(q["mean_octets"] for q in queues if q),
        "queue_std_octets": _spread(q["std_octets"] for q in queues if q),
        "queue_max_octets": _spread(q["max_octets"] for q in queues if q),
        "utilization": _spread(q["utilization"] for q in queues if q),
        "throughput_bps": _spread(sum(flow["throughput_bps"] for flow in summary["flows"]) for summary in summaries),
        "settling_time_s": _over_flows(summaries, "settling_time_s"),
        "completion_time_s": _over_flows(summaries, "completion_time_s"),
    }


def _over_flows(summaries: list[Summary], key: Literal["settling_time_s", "completion_time_s"]) -> dict[str, Any]:
    """Return the spread of the runs' means over the flows that have the time, and of all flows how many have it."""
    runs = [[flow[key] for flow in summary["flows"]] for summary in summaries]
    known = [[time for time in run if time is not None] for run in runs]
    return {
        **_spread(fmean(times) for times in known if times),
        "flows": sum(len(times) for times in known),
        "of_flows": sum(len(run) for run in runs),
    }


def _longest(summary: Summary, name: str | None) -> QueueSummary | None:
    """Return the queue called ``name``; of its priorities, the longest on average."""
    return max((q for q in summary["queues"] if q["name"] == name), key=lambda q: q["mean_octets"], default=None)


def _spread(values: Iterable[float]) -> dict[str, float | None]:
    """Return mean and sample standard deviation; none of no values, no deviation of one."""
    known = list(values)
    return {"mean": fmean(known) if known else None, "std": stdev(known) if len(known) > 1 else None}


def _firsts(results: list[Result]) -> list[Result]:
    """Return the first result of each scheme: the figure shows one seed."""
    shown: dict[str, Result] = {}
    for result in results:
        shown.setdefault(result.summary["scheme"], result)
    return list(shown.values())


def _write(document: dict[str, Any], shown: list[Result], folder: Path) -> None:
    from penstock.figures import comparison, save

    (folder / "compare.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    if shown:
        figure = comparison(shown)
        for kind in ("png", "svg"):
            save(figure, folder / f"compare.{kind}")
