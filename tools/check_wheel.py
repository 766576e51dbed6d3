"""Examines Penstock's wheels, and tries the one for this machine as a user would: installed, without Rust.

    python tools/check_wheel.py [FOLDER] [--page]

FOLDER (`.build/wheels`, where `make wheel` puts them) holds a wheel for each platform and nothing else. Each must have
the tags that pip asks for and all data of the package, with the laboratory's page where `--page` is given or `make
lab` has built it. On Linux it has no symbol of a newer C library than its name says (auditwheel). The wheel for this
machine is installed into a separate virtual environment below the system's folder for temporary files. It is installed
from wheels alone, with the versions of requirements/run.txt, and with a PATH that has no cargo, rustc or C compiler.
There it runs a scenario to the committed fingerprint, which shows the same bytes on every system. The exit status says
whether all of it holds.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "penstock"
PAGE = PACKAGE / "lab" / "page"
REQUIREMENTS = ROOT / "requirements" / "run.txt"
FINGERPRINTS = ROOT / "python" / "tests" / "fingerprints.json"

SCENARIO = "baseline/ten-gig"
NAME = re.compile(r"penstock-[0-9.]+-cp311-abi3-(?P<platform>[A-Za-z0-9_.]+)\.whl")
# The oldest C library that Rust's own standard library allows is 2.17; manylinux2014 is another name for it.
GLIBC = "manylinux_2_17_"
GENERATED = ("_core.abi3.so", "__pycache__")

TRY = f"""\
import sys
from pathlib import Path
import penstock
home = Path(penstock.__file__).resolve()
assert Path(sys.prefix).resolve() in home.parents, f"imported from {{home}}"
print(penstock.Scenario.named("{SCENARIO}").run().fingerprint())
"""


def main() -> int:
    """Examines and tries the wheels, and returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / ".build" / "wheels", metavar="FOLDER")
    parser.add_argument("--page", action="store_true", help="the laboratory's page must be inside")
    options = parser.parse_args()
    wheels = sorted(options.folder.glob("*.whl"))
    bad = [] if wheels else [f"{options.folder} has no wheel; `make wheel` builds some"]
    for wheel in wheels:
        bad += [f"{wheel.name}: {fault}" for fault in faults(wheel, page=options.page or PAGE.is_dir())]
    ours = [wheel for wheel in wheels if is_ours(wheel)]
    if len(ours) != 1:
        bad.append(f"{len(ours)} wheels fit this machine, not one")
    for wheel in ours:
        bad += [f"{wheel.name}: {fault}" for fault in tried(wheel)]
    for fault in bad:
        print(f"error: {fault}", file=sys.stderr)
    print(f"{len(wheels)} wheels, {len(ours)} tried: {len(bad) or 'no'} faults")
    return 1 if bad else 0


def faults(wheel: Path, *, page: bool) -> Iterator[str]:
    """Yields the faults of a wheel's name, of its files, and of the symbols that it asks the system for."""
    name = NAME.fullmatch(wheel.name)
    if name is None:
        yield "its tags are not cp311-abi3 and a platform"
        return
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    missing = sorted(data_files(page=page) - names)
    if missing:
        yield f"{len(missing)} files are missing, such as {missing[0]}"
    if "linux" in name["platform"]:
        yield from audited(wheel, name["platform"])
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, {len(names)} files")


def data_files(*, page: bool) -> set[str]:
    """Returns the files that a wheel must have, by the names that they have in it."""
    files = {path for path in PACKAGE.rglob("*") if path.is_file() and not set(GENERATED) & set(path.parts)}
    files -= set(PAGE.rglob("*"))
    found = {f"penstock/{path.relative_to(PACKAGE).as_posix()}" for path in files}
    return found | {"penstock/lab/page/index.html", "penstock/lab/page/engine.wasm"} if page else found


def audited(wheel: Path, platform: str) -> Iterator[str]:
    """Yields auditwheel's objections to a wheel for Linux, and a baseline that is newer than it need be."""
    command = (sys.executable, "-m", "auditwheel", "show", "--json", wheel)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        yield f"auditwheel: {(done.stderr or done.stdout).strip()}"
        return
    report = json.loads(done.stdout)
    print(f"{wheel.name}: auditwheel says {report['overall_tag']}")
    if GLIBC not in platform or not report["overall_tag"].startswith(GLIBC):
        yield f"it needs a newer C library than {GLIBC}: auditwheel says {report['overall_tag']}"


def is_ours(wheel: Path) -> bool:
    """Returns whether pip would install the wheel here."""
    from packaging.tags import sys_tags
    from packaging.utils import parse_wheel_filename

    return not parse_wheel_filename(wheel.name)[3].isdisjoint(sys_tags())


def tried(wheel: Path) -> Iterator[str]:
    """Yields the faults of the wheel after it has been installed into a clean environment."""
    with tempfile.TemporaryDirectory(prefix="penstock-wheel-") as name:
        clean = Clean(Path(name))
        clean.install(wheel)
        yield from clean.compilers()
        version = wheel.name.split("-")[1]
        said = clean.say("penstock", "--version")
        if said.split() != ["penstock", version]:
            yield f"penstock --version says {said!r}"
        listed = clean.say("penstock", "scenarios")
        if SCENARIO not in listed:
            yield f"penstock scenarios does not list {SCENARIO}"
        print(f"installed: {said}, {len(listed.splitlines())} lines of scenarios")
        clean.say("penstock", "run", SCENARIO, "--out", "out", "--quiet")
        made = sorted(path.name for path in (clean.folder / "out").iterdir())
        if "summary.json" not in made or not any(name.endswith(".svg") for name in made):
            yield f"penstock run wrote {', '.join(made)} alone"
        print(f"penstock run {SCENARIO}: {', '.join(made)}")
        print_, known = clean.say("python", "-c", TRY), committed(SCENARIO)
        if print_ != known:
            yield f"the fingerprint of {SCENARIO} is {print_}; the committed one is {known}"
        print(f"fingerprint of {SCENARIO}: {print_}")


def committed(scenario: str) -> str:
    """Returns the committed fingerprint of a scenario."""
    return str(json.loads(FINGERPRINTS.read_text(encoding="utf-8"))[scenario]["fingerprint"])


class Clean:
    """A separate virtual environment, with a PATH that has no compiler.

    Attributes:
        folder: commands run in it; it is no checkout.
    """

    def __init__(self, root: Path) -> None:
        self.folder = root / "work"
        self.folder.mkdir()
        venv.create(root / "venv", with_pip=True)
        self._programs = root / "venv" / ("Scripts" if os.name == "nt" else "bin")
        ours = ("PYTHON", "CARGO", "VIRTUAL_ENV")
        self._environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        self._environment["PATH"] = str(self._programs)

    def install(self, wheel: Path) -> None:
        """Installs the wheel and its requirements: from wheels alone, with the versions that are pinned."""
        pins = self.folder / "pins.txt"
        lines = REQUIREMENTS.read_text(encoding="utf-8").splitlines()
        pins.write_text("\n".join(line.split()[0] for line in lines if re.match(r"[\w.-]+==", line)), encoding="utf-8")
        pip = ("python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--only-binary", ":all:")
        self.say(*pip, "--constraint", str(pins), str(wheel.resolve()))

    def compilers(self) -> Iterator[str]:
        """Yields the compilers that a command would find."""
        from shutil import which

        for program in ("cargo", "rustc", "maturin", "cc"):
            if which(program, path=self._environment["PATH"]):
                yield f"{program} is on the PATH"

    def say(self, *command: str) -> str:
        """Runs a command and returns its standard output.

        Raises:
            SystemExit: it fails.
        """
        program = self._programs / (f"{command[0]}.exe" if os.name == "nt" else command[0])
        done = self._run([str(program), *command[1:]])
        if done.returncode:
            sys.exit(f"error: {' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout.strip()

    def _run(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=self.folder, env=self._environment, capture_output=True, encoding="utf-8", check=False
        )


if __name__ == "__main__":
    sys.exit(main())
