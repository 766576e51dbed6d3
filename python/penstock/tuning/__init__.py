"""Tuning: which parameters suit a scenario, found by theory and simulation together.

:func:`penstock.tuning.tuning.tune` proposes; `penstock tune` is its command line. Seeds of the search and seeds of the
verdict are disjoint.
"""

from penstock.tuning.tuning import Tuning, tune

__all__ = ["Tuning", "tune"]
