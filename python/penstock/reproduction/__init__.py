"""Published papers, reproduced: their claims beside our measurements.

A paper is a folder (``papers/<name>``): scenarios that hold what the paper states, one profile that holds what it
leaves open, claims, and the code that draws its figures. A reproduction goes through these modules:

* ``paper`` reads the folder into a checked :class:`~penstock.reproduction.paper.Paper`;
* ``claims`` says what a claim is, ``verdict`` how one is decided;
* ``metrics`` takes numbers from a run, ``drawing`` registers figures;
* ``plan`` lists the runs that are needed, ``execute`` runs each once;
* ``document`` puts the answers into one document, ``report`` onto pages.
"""
