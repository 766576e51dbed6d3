"""Three linters, since each finds what others miss: Verilator (widths), slang (signs), verible (style, layout).

    python tools/lint.py            the builds that `make test` has, and the text of all sources
    python tools/lint.py --rest     the others: streams of 128 and 256 bits, large set-ups
    python tools/lint.py --fix      lays the sources out

Verilator and slang read each build, with its parameters; verible reads the sources.
"""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pyslang.driver

from cores import GENERATED, RTL, TOOLS, Build, all_cores, options
from mutate import stale
from planted import all_bugs

_SLANG = ["-Wsign-compare", "-Wextra", "-Wconversion", "-Wunused", "-Werror", "-Wno-unused-port", "-Wno-useless-cast"]
# The paper's token bucket is too shallow, and says so in every build that has one; `_shallow` sees that it does.
_SLANG += ["-Wno-warning-task"]
_VERILATOR_QUIET = "-Wno-USERINFO"
_SHALLOW = "cannot hold a refill and the longest frame: 3538 would"
# The builds whose LineRate is beyond the type of rates, and the sentence that refuses it.
_RATED = (
    "token_bucket",
    "token_bucket_400g",
    "rate_gate",
    "qcn_rp_full",
    "smcc_rp_bound",
    "qcn_nic",
    "smcc_nic",
    "dcqcn_rp_one",
)
_BEYOND = "LineRate is 1 to 2^{} - 1 bit/s, with its size, as 64'd10_000_000_000"
# Widths that no test of `make test` has, either.
_OTHER_WIDTHS = ("128", "256")
# Those that have no wider streams, and refuse them.
_NARROW = ("trace", "udp_packet_generator", "output_port", "qcn_nic", "qcn_switch")
_VERIBLE_RULES = RTL / "tools" / "verible.rules"
_FORMAT = ["--column_limit=100", "--port_declarations_indentation=indent", "--formal_parameters_indentation=indent"]


def main() -> int:
    """Return 0 if no linter has anything to say."""
    files = [source for core in all_cores() for source in core.own_sources]
    names = [str(file) for file in files]
    lint = [str(TOOLS / "verible-verilog-lint"), f"--rules_config={_VERIBLE_RULES}", *names]
    if "--fix" in sys.argv:
        subprocess.run([str(TOOLS / "verible-verilog-format"), "--inplace", *_FORMAT, *names], check=True)
        return 0
    builds = [build for core in all_cores() for build in core.builds]
    # A fast build is linted as the one with its parameters.
    different = {(build.top, *options(build), build.sources): build for build in reversed(builds)}.values()
    rest = "--rest" in sys.argv
    linted = [build for build in different if _is_of_the_rest(build) == rest]
    with ThreadPoolExecutor() as beside:
        verilated = beside.map(_verilator, linted)
        wrong = sum(map(_slang, linted)) + sum(verilated)
    if rest:
        print(f"lint: {len(linted)} builds, {'all clean' if not wrong else 'see above'}")
        return int(wrong != 0)
    layout = [str(TOOLS / "verible-verilog-format"), "--verify", "--inplace", *_FORMAT, *names]
    wrong += _shallow(next(build for build in builds if build.name == "token_bucket"))
    wrong += sum(_unlimited(build) for build in builds if build.name in _RATED)
    wrong += sum(_narrow(build) for build in builds if build.name in _NARROW)
    wrong += (subprocess.run(lint, check=False).returncode != 0) + (subprocess.run(layout, check=False).returncode != 0)
    # `make mutate` and `make planted` take hours: here it is seen that their lists are of these sources.
    for said in stale():
        print(said)
        wrong += 1
    all_bugs()
    print(f"lint: {len(files)} files, {'all clean' if not wrong else 'see above'}")
    return int(wrong != 0)


def _is_of_the_rest(build: Build) -> bool:
    return build.long or build.defines.get("PENSTOCK_DATA_W") in _OTHER_WIDTHS


def _verilator(build: Build) -> bool:
    return subprocess.run([*_verilate(build), _VERILATOR_QUIET], check=False).returncode != 0


def _verilate(build: Build) -> list[str]:
    waivers = [str(path) for path in sorted(RTL.glob("*/rtl/*.vlt"))]
    command = [str(TOOLS / "verilator"), "--lint-only", "--quiet", "-Wall", "--no-timing", "--top-module", build.top]
    return [*command, *options(build), *waivers, *map(str, build.sources)]


def _shallow(bucket: Build) -> bool:
    """Return whether the depth of a token bucket is judged wrongly: an octet too few is said to be, enough is not."""
    wrong = False
    for parameters, shallow in (({}, True), ({"Depth": "3537"}, True), ({"Depth": "3538"}, False)):
        build = replace(bucket, parameters=parameters)
        run = subprocess.run(_verilate(build), capture_output=True, text=True, check=False)
        by_verilator = _SHALLOW in " ".join(run.stderr.split())
        if run.returncode or by_verilator != shallow:
            sys.stderr.write(f"token_bucket {parameters}: Verilator ends with {run.returncode} and says\n{run.stderr}")
            wrong = True
        driver = read(build)
        found = driver.createCompilation().getAllDiagnostics() if driver else []
        if any("WarningTask" in str(each.code) for each in found) != shallow:
            sys.stderr.write(f"token_bucket {parameters}: slang {'does not warn' if shallow else 'warns'}\n")
            wrong = True
    return wrong


def _unlimited(rated: Build) -> bool:
    """Return whether a build's largest rate is judged wrongly: all that a rate's bits hold elaborates, no more does."""
    wrong = False
    bits = int(rated.defines.get("PENSTOCK_RATE_W", "34"))
    rates = [(2**bits, True)]
    if rated.defines:
        rates += [(2**bits - 1, False), (400 * 10**9, False)]
    elif rated.top == "token_bucket":
        # The last one is how an unsized literal of ten billion may come in.
        rates += [(2**34 - 1, False), (25 * 10**9, True), (0, True), (2**64 - 2**34 + 10**10, True)]
    for rate, refused in rates:
        build = replace(rated, parameters={**rated.parameters, "LineRate": f"64'd{rate}"})
        run = subprocess.run([*_verilate(build), _VERILATOR_QUIET], capture_output=True, text=True, check=False)
        by_verilator = bool(run.returncode) and _BEYOND.format(bits) in " ".join(run.stderr.split())
        driver = read(build)
        found = driver.createCompilation().getAllDiagnostics() if driver else []
        by_slang = any("FatalTask" in str(each.code) for each in found)
        if (by_verilator, by_slang) != (refused, refused) or bool(run.returncode) != refused:
            sys.stderr.write(f"{rated.name}: LineRate {rate}: refused by Verilator {by_verilator}, slang {by_slang}\n")
            sys.stderr.write(run.stderr)
            wrong = True
    return wrong


def _narrow(build: Build) -> bool:
    """Return whether a build that is for 64 bits elaborates with wider streams."""
    wide = replace(build, defines={"PENSTOCK_DATA_W": "128"})
    run = subprocess.run([*_verilate(wide), "-Wno-fatal"], capture_output=True, text=True, check=False)
    wrong = "DataW is 64" not in run.stderr
    if wrong:
        sys.stderr.write(f"{build.name}: with 128 bits Verilator ends with {run.returncode} and says\n{run.stderr}")
    return wrong


def _slang(build: Build) -> bool:
    driver = read(build)
    if not driver:
        return True
    driver.reportCompilation(driver.createCompilation(), True)
    return not driver.reportDiagnostics(True)


def read(build: Build) -> pyslang.driver.Driver | None:
    """Return what slang makes of a build; None if it cannot parse it."""
    driver = pyslang.driver.Driver()
    driver.addStandardArgs()
    parameters = " ".join(f'"{option}"' for option in options(build))
    said = f"{' '.join(_SLANG)} --suppress-warnings {GENERATED} --top {build.top} {parameters}"
    line = f"slang {said} {' '.join(map(str, build.sources))}"
    if not driver.parseCommandLine(line, pyslang.driver.CommandLineOptions()) or not driver.processOptions():
        return None
    return driver if driver.parseAllSources() else None


if __name__ == "__main__":
    sys.exit(main())
