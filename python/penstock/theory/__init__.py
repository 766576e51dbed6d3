"""The theory of the schemes: fluid models, phase plane, sliding mode, stability; fed by the scenarios of the simulator.

Needs the extra ``theory`` (``pip install 'penstock[theory]'``).

    >>> from penstock import Scenario, theory
    >>> scenario = Scenario.named("baseline/ten-gig")
    >>> theory.margins(scenario, scheme="bcn").sides[0].phase_rad
    >>> theory.stability_map(scenario, "flows=1..40:40", "delay=20us..400us:40", scheme="bcn").plot("map.png")
    >>> theory.compare_with_packets(scenario, seeds=4).plot("overlay.png")

Packages that a function needs are imported when it is first used. ``__init__.pyi`` declares the names.
"""

from penstock.lazy_names import attach

# A module is called as this function: importing it later would take the function's place.
from penstock.theory.configuration import configuration as configuration

__getattr__, __dir__ = attach(__name__, __file__, "theory")
