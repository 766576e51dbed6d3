"""Three linters, since each finds what others miss: Verilator (widths), slang (signs), verible (style, layout)."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pyslang.driver

from cores import GENERATED, RTL, TOOLS, Build, all_cores

# Verilator and slang see each build, with its parameters; verible sees files.
_SLANG = ["-Wsign-compare", "-Wextra", "-Wconversion", "-Wunused", "-Werror", "-Wno-unused-port", "-Wno-useless-cast"]
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
    with ThreadPoolExecutor() as beside:
        verilated = beside.map(_verilator, builds)
        wrong = sum(map(_slang, builds)) + sum(verilated)
    layout = [str(TOOLS / "verible-verilog-format"), "--verify", "--inplace", *_FORMAT, *names]
    wrong += (subprocess.run(lint, check=False).returncode != 0) + (subprocess.run(layout, check=False).returncode != 0)
    print(f"lint: {len(files)} files, {'all clean' if not wrong else 'see above'}")
    return int(wrong != 0)


def _verilator(build: Build) -> bool:
    waivers = [str(path) for path in sorted(RTL.glob("*/rtl/*.vlt"))]
    command = [str(TOOLS / "verilator"), "--lint-only", "--quiet", "-Wall", "--no-timing", "--top-module", build.top]
    command += [f"-G{name}={value}" for name, value in build.parameters.items()]
    return subprocess.run([*command, *waivers, *map(str, build.sources)], check=False).returncode != 0


def _slang(build: Build) -> bool:
    driver = pyslang.driver.Driver()
    driver.addStandardArgs()
    parameters = " ".join(f'"-G{name}={value}"' for name, value in build.parameters.items())
    options = f"{' '.join(_SLANG)} --suppress-warnings {GENERATED} --top {build.top} {parameters}"
    line = f"slang {options} {' '.join(map(str, build.sources))}"
    if not driver.parseCommandLine(line, pyslang.driver.CommandLineOptions()) or not driver.processOptions():
        return True
    if not driver.parseAllSources():
        return True
    driver.reportCompilation(driver.createCompilation(), True)
    return not driver.reportDiagnostics(True)


if __name__ == "__main__":
    sys.exit(main())
