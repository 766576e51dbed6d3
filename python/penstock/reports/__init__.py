"""Reports: one HTML file with verdict, evidence and origin, that needs nothing else and prints on A4 and Letter.

    >>> from penstock import Scenario, reports
    >>> scenario = Scenario.named("four-sources")
    >>> source = reports.Source.of_scenario(scenario)
    >>> report = reports.of_run(scenario.run(), scenario.outline(), sources=[source])
    >>> reports.write(report, "four-sources.html")

A report is built of neutral parts; :func:`write` alone knows HTML. The same inputs give the same octets: no date and no
time of this machine is in a report. ``__init__.pyi`` declares the names, which are imported when they are first used.
"""

from penstock.lazy_names import attach

__getattr__, __dir__ = attach(__name__, __file__)
