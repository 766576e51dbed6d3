"""Penstock: a workbench for congestion management in data-center Ethernet.

A scenario is a TOML file (or the same keys as keyword arguments); a run of it is a result with Arrow tables:

    >>> import penstock
    >>> result = penstock.Scenario.named("netfpga/eight-sources-100us").run(seed=1)
    >>> result.summary["jain_index"]
    >>> result.plot("overview.png")

Numbers carry their unit: in the text of a scenario (``"150 KB"``, ``"10 Gbps"``), and at the end of the names of
columns and keys in a result (``time_s``, ``queue_octets``, ``rate_bps``).

Names are imported when they are first used, so that the command line answers before the engine and NumPy are loaded;
``__init__.pyi`` declares them.
"""

from penstock.lazy_names import attach

__getattr__, __dir__ = attach(__name__, __file__, "tune")
