"""Where the runs of a command run."""

from penstock.executors.cores import Cores
from penstock.executors.executor import Executor


def runs_on(ray: str | None, workers: int | None = None) -> Executor:
    """Return the executor that the options ask for: the cores of this machine, or a Ray cluster."""
    if ray is None:
        return Cores(workers)
    from penstock.executors.cluster import Ray

    return Ray(ray, workers=workers)
