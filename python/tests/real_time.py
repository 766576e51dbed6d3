"""Tests of the testbed that compare measured figures: they run in real time, on a machine that others may share."""

import functools
import os
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from penstock import Result

TRIES = 3
"""How often such a test is tried. A stall of the machine disturbs one try; a fault of the testbed shows in each."""


def in_real_time(test: Callable[..., None]) -> Callable[..., None]:
    """Return a test that passes when one of its tries does; each try has an empty ``tmp_path``.

    A try that failed is among the warnings that pytest prints: a fault that shows in one of three is to be seen.
    """

    @functools.wraps(test)
    def tried(**fixtures: Any) -> None:
        for number in range(1, TRIES + 1):
            if "tmp_path" in fixtures:
                folder: Path = fixtures["tmp_path"] / f"try-{number}"
                folder.mkdir()
                given = fixtures | {"tmp_path": folder}
            else:
                given = fixtures
            try:
                test(**given)
                return
            except (AssertionError, pytest.fail.Exception, pytest.skip.Exception) as failure:
                if number == TRIES:
                    raise
                warnings.warn(f"try {number} of {TRIES} failed: {failure}", stacklevel=1)

    return tried


def use_only_if_valid(result: Result) -> None:
    """Skip a try whose run is invalid: the machine was too busy, and its figures say nothing about the scheme."""
    about = result.summary["testbed"]
    if not about["valid"]:
        end_as_invalid(about["faults"])


def end_as_invalid(faults: Iterable[str]) -> NoReturn:
    """Skip a try whose run has these faults; where ``PENSTOCK_INVALID_RUNS_FAIL`` is set, fail: it runs again later."""
    end = pytest.fail if os.environ.get("PENSTOCK_INVALID_RUNS_FAIL") else pytest.skip
    end(f"the run is invalid: {' '.join(faults)}")
