"""The theory of the schemes: fluid models, phase plane, sliding mode, stability; fed by the scenarios of the simulator.

Needs the extra ``theory`` (``pip install 'penstock[theory]'``).
"""

from penstock.theory.configuration import Configuration, Unsuited, configuration, configurations

__all__ = ["Configuration", "Unsuited", "configuration", "configurations"]
