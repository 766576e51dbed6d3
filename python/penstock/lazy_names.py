"""Public names that are imported on first use, declared once: as imports in the stub of their package.

``__init__.pyi`` has a line ``from HOME import NAME as NAME`` for each; editors and type checkers read it, and
:func:`attach` reads the same lines when the first name is asked for.
"""

# Known to type checkers by its name. The module typing takes long to load, and until then nothing obeys Ctrl-C.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def attach(
    package: str, file: str, extra: str = "", before: "Callable[[], object] | None" = None
) -> "tuple[Callable[[str], Any], Callable[[], list[str]]]":
    """Return ``__getattr__`` and ``__dir__`` (PEP 562) for a package, with ``__all__`` among its attributes.

    Args:
        package: its ``__name__``.
        file: its ``__file__``, beside which the stub is.
        extra: the extra of Penstock that has SciPy, which a name may need.
        before: called whenever a name is asked for; may raise.
    """
    homes: dict[str, str] = {}

    def names() -> list[str]:
        if not homes:
            # pathlib takes long to load.
            with open(file.removesuffix("c") + "i", encoding="utf-8") as stub:  # noqa: PTH123
                lines = [line.split() for line in stub if line.startswith("from ")]
            # from HOME import NAME as NAME
            homes.update({words[5]: words[1] for words in lines})
        return sorted(homes)

    def get(name: str) -> "Any":
        if name == "__all__":
            return names()
        # Of names with underscores the import of each module asks for several.
        if (name.startswith("__") and name != "__version__") or name not in names():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from importlib import import_module
        from sys import modules

        if before is not None:
            before()
        home = homes[name]
        if home == package:
            return import_module(f"{package}.{name}")
        try:
            value = getattr(import_module(home), name)
        except ModuleNotFoundError as error:
            missing = (error.name or "").partition(".")[0]
            if missing != "scipy":
                raise
            from penstock.data_frames import MissingExtraError

            raise MissingExtraError(missing, extra) from error
        if before is None:
            setattr(modules[package], name, value)
        return value

    return get, names
