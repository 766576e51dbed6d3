"""Sweeps: many runs of a scenario over values of its keys, schemes and seeds, kept in a store that survives."""
