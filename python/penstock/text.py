"""Quantities as people read them: three digits and a unit, powers of 1000 as everywhere in Penstock."""

import re

_OCTETS = {
    "octets": 1,
    "octet": 1,
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
}


def octets(count: float) -> str:
    """Write a number of octets, such as ``33.1 KB``."""
    return _scaled(count, ("B", "KB", "MB", "GB", "TB"))


def bit_rate(bps: float) -> str:
    """Write a rate given in bit/s, such as ``119 Mb/s``."""
    return _scaled(bps, ("b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s"))


def events(per_second: float) -> str:
    """Write a number of events, such as ``18.2 M``."""
    return _scaled(per_second, ("", "k", "M", "G")).rstrip()


def count(number: int) -> str:
    """Write a whole number with its digits in groups, such as ``1 234 567``."""
    return f"{number:,}".replace(",", "\u202f")


def share(fraction: float) -> str:
    """Write a fraction as per cent, such as ``95.2 %``."""
    percent = 100 * fraction
    if 0 < percent < 0.1:
        return f"{percent:.1g} %" if percent >= 0.001 else "<0.001 %"
    return f"{percent:.1f} %"


def duration(seconds: float) -> str:
    """Write a time given in s, such as ``3.7 ms``."""
    if seconds >= 100:
        minutes, rest = divmod(round(seconds), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 1:
            return f"{_three_digits(seconds * factor)} {unit}"
    return f"{_three_digits(seconds * 1e9)} ns" if seconds else "0 s"


def parse_octets(text: str) -> float:
    """Read a size as a resolved scenario holds it, such as ``33 KB``; the inverse of its writer."""
    match = re.fullmatch(r"\s*([0-9_.eE+-]+)\s*([A-Za-z]+)\s*", text)
    if match is None or match[2] not in _OCTETS:
        raise ValueError(f"{text!r} is not a number of octets")
    return float(match[1]) * _OCTETS[match[2]]


def _scaled(value: float, units: tuple[str, ...]) -> str:
    power = 0
    while abs(value) >= 999.5 and power < len(units) - 1:
        value /= 1000
        power += 1
    return f"{_three_digits(value)} {units[power]}"


def _three_digits(value: float) -> str:
    if value == round(value) and abs(value) < 1000:
        return str(round(value))
    decimals = 0 if abs(value) >= 99.95 else 1 if abs(value) >= 9.995 else 2
    return f"{value:.{decimals}f}"
