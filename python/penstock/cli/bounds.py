"""Bounds of the options of commands: larger numbers are a slip of the keyboard, and would take all memory."""

MOST_SEEDS = 10_000
"""Runs that differ by their seed alone."""

MOST_TRIALS = 100_000
"""Points that a search simulates."""

MOST_WORKERS = 1024
"""Runs at a time."""

MOST_POINTS = 100
"""Simulations along each side of a map."""

LONGEST_S = 1e6
"""For how long a trajectory is followed, s."""
