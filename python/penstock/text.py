"""Quantities as people read them: three digits and a unit, powers of 1000 as everywhere in Penstock."""


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
        if hours >= 100:
            days, hours = divmod(hours, 24)
            return f"{days} days {hours} h"
        return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        # What rounds to 1000 of a unit is 1 of the next.
        if seconds * factor >= 0.9995:
            return f"{_three_digits(seconds * factor)} {unit}"
    return f"{_three_digits(seconds * 1e9)} ns" if seconds else "0 s"


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
