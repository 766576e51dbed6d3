"""What each scheme of the registry has beside its code, or the reason why not.

Pages, diagrams and models of all of them are held in test_state_diagrams.py and test_theory_variants.py, the rules of
the contract in the conformance suite, and the shares of 2 to 16 flows in crates/sim/tests/sim/laws/fairness.rs.
"""

import tomllib
from collections.abc import Mapping
from typing import Any

import pytest
from conftest import ROOT

from penstock import catalogue

SCHEMES: dict[str, Any] = {entry["name"]: entry for entry in catalogue.schemes()}

WITHOUT_PROFILE = {
    "none": "it has no parameter",
    "e2cm": "a reconstruction: no publication has its constants",
    "rocc": "its defaults are its authors' simulator's, and values that it leaves open are chosen for 10 Gb/s",
    "ci": "its defaults are the standard's where it has any, and thresholds are left to the maker",
    "ici": "its defaults are those of ci and of dcqcn: the abstract alone is at hand, and has none",
    "sfc": "a reconstruction: the scope of P802.1Qdw has no number",
}
"""Schemes without a named set of values, and why."""

WITHOUT_FORM = {
    "qcn-multicast": "its notification is a CNM; the feedback that a source has saved, a tag of data, has no layout",
    "annulus": "its notification is a CNM; the number of queues that a frame has passed, a tag of data, has no layout",
    "expresspass": "its credits have one; the number of the credit that a frame uses, a tag of data, has no layout",
    "homa": "its grants have one; the octets that a message posts, a tag of data, have no layout",
}
"""Schemes with messages that a capture does not show whole, and why."""

WITHOUT_CLAIM: Mapping[str, str] = {}
"""Schemes of which no claim of somebody else is tested, and why."""


def claimed() -> set[str]:
    """Return the schemes that a claim is about: those of its runs, its control left out."""
    found: set[str] = set()
    for file in (ROOT / "papers").glob("*/claims.toml"):
        text = tomllib.loads(file.read_text())
        found |= _of(text.get("claim", []), [])
        for grid in text.get("grid", []):
            rows = [row for axis in grid.values() for row in axis if "id" not in row]
            found |= _of(grid["claim"], rows)
    return found


def _of(claims: list[dict[str, Any]], rows: list[dict[str, Any]]) -> set[str]:
    """Return the schemes of claims' runs; a placeholder stands for its values in the rows of a grid."""
    runs = [run for claim in claims for run in (claim.get("run"), claim.get("against"), *claim.get("runs", [])) if run]
    named = {run["scheme"] for run in runs}
    filled = {row[name[1:-1]] for name in named for row in rows if name[1:-1] in row}
    return {name for name in named | filled if "{" not in name}


def _lacking(lacks: set[str], reasons: Mapping[str, str]) -> None:
    """Check that the schemes that lack something are those with a reason, and no others."""
    assert lacks - set(reasons) == set(), "write it, or the reason here"
    assert set(reasons) - lacks == set(), "it has it: the reason is out of date"


def test_each_scheme_has_a_profile_or_a_reason() -> None:
    _lacking({name for name, entry in SCHEMES.items() if not entry["profiles"]}, WITHOUT_PROFILE)


@pytest.mark.parametrize("name", SCHEMES)
def test_each_parameter_and_profile_says_where_it_is_from(name: str) -> None:
    entry = SCHEMES[name]
    assert [one["name"] for one in entry["parameters"] if not one["source"].strip()] == []
    assert [one["name"] for one in entry["profiles"] if not one["description"].strip()] == []


def test_each_message_that_is_a_frame_has_a_form_or_a_reason() -> None:
    _lacking({name for name, entry in SCHEMES.items() if entry["signals"] and not entry["capture"]}, WITHOUT_FORM)


def test_each_scheme_has_a_claim_of_somebody_else_or_a_reason() -> None:
    _lacking(set(SCHEMES) - claimed(), WITHOUT_CLAIM)


def test_a_lack_without_reason_and_a_reason_without_lack_are_found() -> None:
    with pytest.raises(AssertionError, match="or the reason here"):
        _lacking({"qcn"}, {})
    with pytest.raises(AssertionError, match="out of date"):
        _lacking(set(), {"qcn": "it has none"})
