"""The metrics of a run: the registry that Rust declares, their values in a result, and those over several seeds."""
