"""Checks that the work of a plan and of the start of its run grows no faster than n log n, counted in instructions.

    python tools/plan_growth.py        (needs valgrind; runs the installed extension)

For each kind of thing that a file can have many of, a scenario has some of it and then ten times as many. Callgrind
counts the instructions of both; reading an empty one is taken off. Ten times as many may cost ten times as much, times
the logarithm's growth.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

RUN = """
import sys
from pathlib import Path
from penstock import _core
scenario = _core.Scenario.parse(Path(sys.argv[1]).read_text(encoding="utf-8"), "x.toml", "x")
scenario.describe(None, None, None, 1)
scenario.run(None, None, None, None, False, None, 1, (), 1)
"""

SMALL = 60
"""The number of things in the smaller scenario of each kind."""

MOST = 16.0
"""The largest factor from n to 10 n: 10 log(10 n) / log(n) is 15.6 for n = 60."""


def star(hosts: int, rest: str, duration: str = "1 ns", record: str = "") -> str:
    """A star of ``hosts`` and more, sampled once: samples of all flows would hide the rest."""
    return (
        f'question = "?"\nduration = "{duration}"\nscheme = "none"\n[record]\ninterval = "{duration}"\n{record}'
        f'[topology.star]\nhosts = {hosts}\nlink_rate = "10 Gbps"\nbuffer = "150 KB"\n{rest}'
    )


def flow(source: str, to: str, rest: str = "") -> str:
    """A table of flows."""
    return f'[[flow]]\nfrom = "{source}"\nto = "{to}"\n{rest}'


def changes(n: int) -> str:
    """Changes of one link."""
    return "".join(f'[[change]]\nat = "{i + 1} ns"\nlink = "sw0->h1"\nrate = "{1 + i % 9} Gbps"\n' for i in range(n))


KINDS: dict[str, Callable[[int], str]] = {
    "hosts": lambda n: star(n + 2, flow("h0", "h1")),
    "flows to one host": lambda n: star(n + 2, flow(f"h0..h{n}", f"h{n + 1}") * 40),
    "flows of a size": lambda n: star(n + 2, flow(f"h0..h{n}", f"h{n + 1}", 'size = "1 MB"\n') * 4),
    "flows to many hosts": lambda n: star(2 * n, flow(f"h0..h{n - 1}", f"h{n}..h{2 * n - 1}")),
    "tables": lambda n: star(4, flow("h0", "h1") * n),
    "names": lambda n: star(4, "".join(flow("h0", "h1", f'name = "x{i}"\n') for i in range(n))),
    "members of a group": lambda n: star(n + 2, f'[[group]]\nname = "g"\nmembers = "h1..h{n}"\n' + flow("h0", "g")),
    "groups": lambda n: star(
        4, "".join(f'[[group]]\nname = "g{i}"\nmembers = ["h1", "h2"]\n' for i in range(n)) + flow("h0", "g0")
    ),
    "changes": lambda n: star(4, changes(n) + flow("h0", "h1"), f"{n + 10} ns"),
    "lines under flow control": lambda n: star(n + 2, '[pfc]\n[[buffer]]\nsize = "9 MB"\n' + flow("h0", "h1")),
    "queues recorded": lambda n: star(
        n + 2, flow("h0", "h1"), record="queues = [" + ", ".join(f'"sw0->h{i}"' for i in range(n)) + "]\n"
    ),
}


def instructions(text: str) -> int:
    """Those of the program on a scenario."""
    with tempfile.TemporaryDirectory() as folder:
        file, report = Path(folder, "x.toml"), Path(folder, "out")
        file.write_text(text, encoding="utf-8")
        run = subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                "--quiet",
                f"--callgrind-out-file={report}",
                sys.executable,
                "-c",
                RUN,
                file,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode:
            sys.exit(f"{run.stdout}{run.stderr}\nin\n{text[:400]}")
        found = re.search(r"^(?:summary|totals): (\d+)", report.read_text(encoding="utf-8"), re.MULTILINE)
        assert found is not None, "no count in callgrind's report"
        return int(found[1])


def main() -> int:
    """Count and compare."""
    empty = instructions(star(2, flow("h0", "h1")))
    failed = False
    for kind, scenario in KINDS.items():
        few, many = (instructions(scenario(n)) - empty for n in (SMALL, 10 * SMALL))
        factor = many / max(few, 1)
        failed |= factor > MOST
        print(f"{kind:<28}{few:>14,}{many:>16,}{factor:>8.1f}{'  too much' if factor > MOST else ''}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
