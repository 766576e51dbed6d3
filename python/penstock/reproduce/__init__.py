"""Published papers, reproduced: what they claim beside what we measure.

A paper is a folder (``papers/<name>``): scenarios that hold what the paper states, one profile that holds what it
leaves open, claims, and the code that draws its figures. A reproduction goes through these modules:

* :mod:`~penstock.reproduce.paper` reads the folder into a checked :class:`Paper`;
* :mod:`~penstock.reproduce.claims` says what a claim is, :mod:`~penstock.reproduce.verdict` how one is decided;
* :mod:`~penstock.reproduce.metrics` takes numbers from a run, :mod:`~penstock.reproduce.drawing` registers figures;
* :mod:`~penstock.reproduce.plan` lists the runs that are needed, :mod:`~penstock.reproduce.execute` runs each once;
* :mod:`~penstock.reproduce.document` puts the answers into one document, :mod:`~penstock.reproduce.report` onto pages.
"""
