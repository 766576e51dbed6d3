"""Pictures of the documentation that take hundreds of runs each, and what stands for them in a draft."""

import shutil
from pathlib import Path


class Pictures:
    """Pictures of a kind that take hundreds of runs each: in a draft the first of them stands for all."""

    def __init__(self, *, draft: bool) -> None:
        self._draft = draft
        self._first: Path | None = None

    def stands_in(self, target: Path) -> bool:
        """Return whether ``target`` is a copy of the first now; the first itself is to be drawn."""
        if self._first is None or not self._draft:
            self._first = target
            return False
        shutil.copy(self._first, target)
        return True
