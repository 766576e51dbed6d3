"""Where the runs of a command run."""

from penstock.cli.failure import InputError
from penstock.executors.cores import Cores
from penstock.executors.executor import Executor
from penstock.frames import MissingExtraError


def runs_on(ray: str | None, workers: int | None = None) -> Executor:
    """Return the executor that the options ask for: the cores of this machine, or a Ray cluster."""
    if ray is None:
        return Cores(workers)
    from penstock.executors.cluster import Ray

    try:
        return Ray(ray, workers=workers)
    except MissingExtraError as error:
        hint = f"pip install 'penstock[{error.extra}]', or leave --ray out: all cores of this machine are used then"
        raise InputError(f"--ray {ray}: this needs {error.package}, which is not installed", hint) from error
