"""Quantities as people read them."""

import pytest

from penstock.quantity_text import bit_rate, count, duration, events, octets, share


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (octets(0), "0 B"),
        (octets(999), "999 B"),
        (octets(33_000), "33 KB"),
        (octets(33_120.4), "33.1 KB"),
        (octets(999_600), "1.00 MB"),
        (octets(1234.5), "1.23 KB"),
        (bit_rate(118_750_000), "119 Mb/s"),
        (bit_rate(9.87e9), "9.87 Gb/s"),
        (events(18_249_000), "18.2 M"),
        (events(12), "12"),
        (count(1_234_567), "1\u202f234\u202f567"),
        (share(0.0), "0.0 %"),
        (share(0.9524), "95.2 %"),
        (share(0.0004), "0.04 %"),
        (share(0.000001), "<0.001 %"),
        (duration(0), "0 s"),
        (duration(0.0037), "3.70 ms"),
        (duration(0.9996), "1.00 s"),
        (duration(12.5), "12.5 s"),
        (duration(25e-6), "25 us"),
        (duration(8e-9), "8 ns"),
        (duration(754), "12 min 34 s"),
        (duration(7260), "2 h 1 min"),
    ],
)
def test_written(written: str, expected: str) -> None:
    assert written == expected
