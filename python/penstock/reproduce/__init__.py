"""Published papers, reproduced: what they claim beside what we measure.

A paper is a folder (``papers/<name>``): scenarios that hold what the paper states, one profile that holds what it leaves
open, claims, and the code that draws its figures. From there on a reproduction goes through these modules:

* :mod:`~penstock.reproduce.paper` reads the folder into a checked :class:`Paper`;
* :mod:`~penstock.reproduce.claims` says what a claim is, :mod:`~penstock.reproduce.verdict` how one is decided;
* :mod:`~penstock.reproduce.metrics` takes numbers from a run, :mod:`~penstock.reproduce.drawing` draws figures from it;
* :mod:`~penstock.reproduce.plan` lists the runs that are needed, each once, :mod:`~penstock.reproduce.execute` runs them;
* :mod:`~penstock.reproduce.document` puts the answers into one document, :mod:`~penstock.reproduce.report` onto pages.
"""

from penstock.reproduce.claims import Claim
from penstock.reproduce.drawing import Data, Figures, Source
from penstock.reproduce.metrics import needs_arrivals
from penstock.reproduce.paper import Paper, PaperError, load
from penstock.reproduce.plan import Run

__all__ = ["Claim", "Data", "Figures", "Paper", "PaperError", "Run", "Source", "load", "needs_arrivals"]
