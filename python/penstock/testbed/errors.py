"""Errors of the testbed."""

from penstock._core import PenstockError


class TestbedError(PenstockError):
    """A run on the testbed that cannot be made.

    Attributes:
        message: the fault.
        hint: the remedy.
        unsuited: whether it is the scenario that cannot run there.
    """

    # pytest takes classes whose names begin with Test for its own.
    __test__ = False

    def __init__(self, message: str, hint: str = "", *, unsuited: bool = False) -> None:
        self.message = message
        self.hint = hint
        self.unsuited = unsuited
        super().__init__(f"{message}; {hint}" if hint else message)


def need_linux() -> None:
    """Refuse other systems.

    Raises:
        TestbedError: the system is not Linux.
    """
    import sys

    if sys.platform != "linux":
        raise TestbedError("the testbed needs Linux: it makes network namespaces")
