"""Trials of a fabric for its operator: each disturbs it once, with the present settings and with those proposed."""
