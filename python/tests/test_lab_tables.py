"""The parts that the tables of the laboratory consist of, by hand; lab/tests asks the page itself."""

import base64
import json
import zlib

import pytest
from lab_tables import lines_of, network_of, path_of, tables

from penstock.lab import fragment
from penstock.scenario import Scenario
from penstock.theory.configuration import UnsuitedScenarioError, configuration


def test_the_switching_line_of_qcn_is_that_of_equation_14() -> None:
    given = configuration(Scenario.named("netfpga/eight-sources-100us"))
    # q - 33 KB + (w/(pC)) y = 0: w = 2, a frame of 1500 octets in 150 KB is sampled, C = 0.95 Gb/s; y in bit/s.
    slope = 2 * (150_000 / 1500) * 1500 / 0.95e9
    assert lines_of(given)["Fb"] == pytest.approx((1.0, slope, 33_000.0), rel=1e-12)


def test_those_of_smcc_are_the_axes() -> None:
    lines = lines_of(configuration(Scenario.named("sliding-mode/background")))
    assert lines == {"offset": (1.0, 0.0, 64_000.0), "growth": (0.0, 1.0, 0.0)}


def test_a_trajectory_begins_with_an_empty_queue_and_all_at_line_rate() -> None:
    given = configuration(Scenario.named("netfpga/eight-sources-100us"))
    path = path_of(given)
    assert path[0] == [0.0, 8e9 - 0.95e9]
    assert path[-1][0] == pytest.approx(33_000, rel=0.05)


def test_the_network_of_tables_leaves_out_what_the_page_changes() -> None:
    scenario = Scenario.named("netfpga/eight-sources-100us")
    known = network_of(scenario.describe(), "sw0->h8")
    fewer = Scenario.from_toml(scenario.to_toml().replace('"h0..h7"', '"h0..h7"\nstop = "1 s"'))
    assert network_of(fewer.describe(), "sw0->h8") == known
    slower = Scenario.from_toml(scenario.to_toml()).set("topology.star.link_delay", "60 us")
    assert network_of(slower.describe(), "sw0->h8") != known


def test_a_scenario_without_a_model_has_no_tables() -> None:
    with pytest.raises(UnsuitedScenarioError):
        tables(Scenario.named("multicast/star"))


def test_a_link_holds_the_scenario() -> None:
    scenario = Scenario.named("four-sources").set("scheme", "bcn")
    packed = fragment(scenario).removeprefix("s=")
    octets = zlib.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), -zlib.MAX_WBITS)
    assert json.loads(octets)["text"] == scenario.to_toml()
