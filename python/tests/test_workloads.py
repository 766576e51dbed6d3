"""Distributions of flow sizes: those that Penstock has, a user's own file, and files that are wrong."""

import random
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

import penstock
from penstock import workloads
from penstock.document import FlowResponse
from penstock.workloads import DistributionError, Point

# Exact integrals of the published points, by hand for the short ones: the sum of (low + high) / 2 times the share.
MEANS = {
    "alistorage": 40_869.8,
    "googlerpc": 2_891.62125005,
    "hadoop": 120_420.75,
    "homa-w5": 2_485_827.75,
    "solar": 39_423.50452,
    "websearch": 1_711_250.0,
}


def test_scenarios_have_the_same_ones() -> None:
    assert list(get_args(get_type_hints(FlowResponse)["workload"])) == workloads.names()


@pytest.mark.parametrize("name", sorted(MEANS))
def test_a_mean_is_the_integral_of_the_points(name: str) -> None:
    assert workloads.distribution(name).mean_octets == pytest.approx(MEANS[name], rel=1e-9)


@pytest.mark.parametrize("name", workloads.names())
def test_a_file_names_its_repository(name: str) -> None:
    file = Path(workloads.__file__).parent / f"{name}.cdf"
    assert file.read_text(encoding="utf-8").splitlines()[1].startswith("# Repository: https://github.com/")


@pytest.mark.parametrize("name", workloads.names())
def test_a_written_distribution_reads_the_same(name: str) -> None:
    known = workloads.distribution(name)
    assert workloads.parse(known.text(), name) == known


@pytest.mark.parametrize("name", workloads.names())
def test_the_mean_of_quantiles_is_the_mean(name: str) -> None:
    known = workloads.distribution(name)
    count = 200_000
    mean = sum(known.quantile((index + 0.5) * 100 / count) for index in range(count)) / count
    assert mean == pytest.approx(known.mean_octets, rel=1e-3)


def test_quantiles_are_linear_between_points() -> None:
    known = workloads.distribution("websearch")
    assert [known.quantile(percent) for percent in (0, 7.5, 15, 98.5, 100)] == [
        0,
        5_000,
        10_000,
        20_000_000,
        30_000_000,
    ]


def test_a_first_point_above_zero_has_its_share() -> None:
    known = workloads.parse("1000 50\n3000 100\n", "own")
    assert (known.quantile(0), known.quantile(50), known.quantile(75)) == (1_000, 1_000, 2_000)
    assert known.mean_octets == 1_500


def test_a_step_without_flows_is_passed() -> None:
    known = workloads.parse("0 0\n10 50\n20 50\n30 100\n", "own")
    assert (known.quantile(50), known.quantile(75)) == (10, 25)


@pytest.mark.parametrize("percent", [-1, 100.5, float("nan")])
def test_a_quantile_outside_is_refused(percent: float) -> None:
    with pytest.raises(penstock.ArgumentError, match="write a number from 0 to 100"):
        workloads.distribution("solar").quantile(percent)


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(penstock.ArgumentError, match=r"no distribution 'websaerch'; did you mean websearch\?"):
        workloads.distribution("websaerch")


def test_any_points_in_order_survive_a_round_trip() -> None:
    source = random.Random(20)
    for _ in range(300):
        count = source.randint(2, 40)
        sizes = sorted(source.sample(range(1, 10**9), count))
        shares = [*sorted(source.uniform(0, 100) for _ in range(count - 1)), 100.0]
        text = "".join(f"{size} {share!r}\n" for size, share in zip(sizes, shares, strict=True))
        known = workloads.parse(text, "own")
        assert known.points == tuple(map(Point, sizes, shares))
        assert workloads.parse(known.text(), "own") == known


FRACTIONS = {
    # Halves of 0 to 1000 and of 1000 to 10 000: 0.5 x 500 + 0.5 x 5500.
    "0 0\n1000 0.5\n10000 1\n": 3000,
    "\ufeff0,0\n1000,0.5\n10000,1.0\n": 3000,
    "# size; share\n0;0\r\n1000 ; 0.5 // half\r\n10000\t1\r\n": 3000,
    # A fifth has exactly 100, the others 100 to 300.
    "100 0.2\n300 1\n": 0.2 * 100 + 0.8 * 200,
    # Nothing below 2000.
    "0 0.0\n2000 0.0\n4000 1\n": 3000,
    # 15 in 100 have 9000, as two lines of one size say at the start; in the middle a step within an octet.
    "9000 0\n9000 0.15\n11000 1\n": 0.15 * 9000 + 0.85 * 10_000,
    "100 0\n301 0.4\n301 0.6\n501 1\n": 0.4 * 200 + 0.2 * 300.5 + 0.4 * 401,
    "7 0\n7 1\n": 6.5,
}


@pytest.mark.parametrize("text", list(FRACTIONS))
def test_a_last_share_of_one_means_fractions(text: str, tmp_path: Path) -> None:
    (tmp_path / "own.cdf").write_bytes(text.encode())
    known = workloads.read(tmp_path / "own.cdf")
    assert known.mean_octets == pytest.approx(FRACTIONS[text], rel=1e-12)
    assert "the last share is 1, so shares are read as fractions" in known.notes[0]
    # In percent it is the same, without a note.
    again = workloads.parse(known.text(), str(tmp_path / "own.cdf"))
    assert (again, again.notes) == (known, ())


def test_fractions_are_read_as_they_are_written() -> None:
    known = workloads.parse("0 0\n3 0.28\n7 0.97\n9 1\n", "own")
    assert [point.percent for point in known.points] == [0, 28, 97, 100]
    assert workloads.parse("0 0\n5 0.5\n20 100\n", "own").notes == ()


BAD = {
    "": "own.cdf: there is no point",
    "# nothing\n\n": "own.cdf: there is no point",
    "0 0\n10 50\n20 40\n30 100\n": "own.cdf:3: the percentage falls from 50 to 40",
    "0 0\n10 50\n10 50\n30 100\n": "own.cdf:3: the size 10 follows 10; sizes must grow",
    "0 0\n10 50\n": "own.cdf:2: the last point is at 50 percent; it must be at 100",
    "0 0\n10 0.5\n20 1.5\n\n": "own.cdf:3: the last point is at 1.5 percent; it must be at 100, or at 1 where",
    "0 0\n10 0.5\n20 0.99\n": "own.cdf:3: the last point is at 0.99 percent; it must be at 100, or at 1 where",
    "0 0.1\n10 1\n": "own.cdf:1: 10 percent of the flows have a size of 0",
    "1 1\n": "own.cdf:1: there is one point; write two",
    "0 1 0\n10 1 0.5\n20 1 1\n": "own.cdf:1: there are 3 words; write a size",
    "10 100\n": "own.cdf:1: there is one point; write two",
    "0 0\n10\n": "own.cdf:2: there is 1 word; write a size",
    "0 0\n10 20 100\n": "own.cdf:2: there are 3 words; write a size",
    "0 0\n-5 100\n": "own.cdf:2: the size is -5; write a whole number",
    "0 0\n1.5 100\n": "own.cdf:2: the size is 1.5; write a whole number",
    "0 0\n1e300 100\n": "own.cdf:2: the size is 1e300; write a whole number",
    "0 10\n5 100\n": "own.cdf:1: 10 percent of the flows have a size of 0",
    "0 0\n10 101\n": "own.cdf:2: the percentage is 101; write a number from 0 to 100",
    "0 0\n10 nan\n": "own.cdf:2: 'nan' is not a number",
    "0 0\ninf 100\n": "own.cdf:2: 'inf' is not a number",
    "0 0\n1_0 100\n": "own.cdf:2: '1_0' is not a number",
    "0 0\nten 100\n": "own.cdf:2: 'ten' is not a number",
}


@pytest.mark.parametrize("text", list(BAD))
def test_a_wrong_file_is_refused_with_its_line(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.cdf").write_text(text, encoding="utf-8")
    with pytest.raises(DistributionError) as caught:
        workloads.read("own.cdf")
    assert str(caught.value).startswith(BAD[text])


def test_binary_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "own.cdf").write_bytes(b"0 0\n\xff\xfe 100\n")
    with pytest.raises(DistributionError, match=":2: this is not text"):
        workloads.read(tmp_path / "own.cdf")


def test_points_are_bounded() -> None:
    text = "".join(f"{size} 0\n" for size in range(workloads.POINTS_MAX + 1)) + f"{workloads.POINTS_MAX + 1} 100\n"
    with pytest.raises(DistributionError, match=f":{workloads.POINTS_MAX + 1}: there are more than"):
        workloads.parse(text, "own")


def test_octets_are_bounded(tmp_path: Path) -> None:
    (tmp_path / "own.cdf").write_bytes(b"#" * 8_000_001)
    with pytest.raises(DistributionError, match="the file has more than 8000000 octets"):
        workloads.read(tmp_path / "own.cdf")


def test_a_missing_file_and_a_directory_tell_of_themselves(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        workloads.read(tmp_path / "none.cdf")
    with pytest.raises(IsADirectoryError):
        workloads.read(tmp_path)
