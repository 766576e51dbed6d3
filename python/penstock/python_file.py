"""A file of Python that a user edits, run as a separate module."""

import importlib.util
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

__all__ = ["run_file"]


class _Source(SourceFileLoader):
    """Compiles the text as it is now.

    Python's cache knows a file by its size and the second of its last change: an edit within a second that leaves the
    size as it was would not be seen.
    """

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def run_file(path: Path, name: str, *, registered: bool = False) -> ModuleType:
    """Run a file and return its module.

    Args:
        path: the file.
        name: the module's name.
        registered: whether the module stays in ``sys.modules``, where pickles and dataclasses look it up.

    Raises:
        Exception: whatever the file raises; it is in ``sys.modules`` no more then.
    """
    spec = importlib.util.spec_from_loader(name, _Source(name, str(path)))
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    if registered:
        sys.modules[name] = module
    try:
        _Source(name, str(path)).exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module
