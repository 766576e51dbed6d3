"""The arena: a fixed set of workloads over all schemes, ranked in one report.

:func:`penstock.arenas.arena.arena` runs it; `penstock arena` is its command line.
"""
