"""QCN with Bottleneck Selection as a fluid: at one bottleneck a source has one entry, and that is QCN's limiter."""

from dataclasses import dataclass
from typing import ClassVar

from penstock.theory.models.qcn import Averaged


@dataclass(frozen=True)
class QcnBs(Averaged):
    """QCN/BS at one bottleneck."""

    scheme: ClassVar[str] = "qcn-bs"
    source: ClassVar[str] = "Alizadeh et al., SIGMETRICS 2011; Matsushima et al. 2014, algorithm 1, with one entry"


MODELS = (QcnBs,)
