"""Where the runs of a command run."""

from penstock.cli.failure import InputError
from penstock.data_frames import MissingExtraError
from penstock.executors.executor import Executor
from penstock.executors.local import LocalExecutor


def runs_on(ray: str | None, workers: int | None = None) -> Executor:
    """Return the executor that the options ask for: the cores of this machine, or a Ray cluster."""
    if ray is None:
        return LocalExecutor(workers)
    from penstock.executors.ray_cluster import RayExecutor

    try:
        return RayExecutor(ray, workers=workers)
    except MissingExtraError as error:
        hint = f"pip install 'penstock[{error.extra}]', or leave --ray out: all cores of this machine are used then"
        raise InputError(f"--ray {ray}: this needs {error.package}, which is not installed", hint) from error
