"""The figures of a paper in its own axes: registered by name, with what they need of which runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from penstock.reproduction.plan import Quantity, Run, Setting, Wanted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Data = Mapping[str, Sequence[Any]]
"""For each source of a figure, by name, the values that were taken from its runs, one entry a seed."""

Draw = Callable[[Data], "Figure"]


@dataclass(frozen=True)
class Source:
    """The values that a figure takes from a run, for each of several seeds."""

    run: Run
    quantity: Quantity
    seeds: tuple[int, ...]

    @classmethod
    def of(
        cls,
        experiment: str,
        scheme: str,
        take: str,
        *,
        seeds: Sequence[int] = (1,),
        settings: Mapping[str, Setting] | None = None,
        **arguments: Any,
    ) -> Self:
        """Build one: ``take`` names a function of the paper's ``metrics.py`` or of Penstock's, with its arguments."""
        return cls(Run.of(experiment, scheme, settings), Quantity.of(take, arguments), tuple(seeds))

    def wanted(self, short: bool) -> Wanted:
        """Return what is to be run for it; in the short form, the first seed alone."""
        return Wanted(self.run, self.quantity, self.seeds[:1] if short else self.seeds)


@dataclass(frozen=True)
class Drawing:
    """How a figure is drawn, and from what."""

    draw: Draw
    sources: dict[str, Source]
    caption: str


@dataclass
class Figures:
    """The figures of a paper: ``FIGURES`` of its ``figures.py``.

        >>> FIGURES = Figures()
        >>> @FIGURES.draw("figure-4", qcn=Source.of("three-bottlenecks", "qcn", "rate_series"))
        ... def figure_4(data: Data) -> Figure:
        ...     '''Transmission rates over time.'''

    The docstring is the caption.
    """

    entries: dict[str, Drawing] = field(default_factory=dict)

    def draw(self, name: str, **sources: Source) -> Callable[[Draw], Draw]:
        """Register the function that draws figure ``name`` from ``sources``."""

        def register(function: Draw) -> Draw:
            caption = " ".join((function.__doc__ or "").split())
            if not caption:
                raise ValueError(f"{name}: a function that draws a figure has its caption as docstring")
            if name in self.entries:
                raise ValueError(f"{name} is drawn twice")
            self.entries[name] = Drawing(function, sources, caption)
            return function

        return register
