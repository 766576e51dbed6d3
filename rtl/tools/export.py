"""Makes the releases of cores: all files that a project needs to use them, alone or together.

    python tools/export.py [--check] NAME...    folders with a core.toml, into build/export/NAME

    rtl/           its sources and those of the cores that it needs, generated ones too, one folder for all; for
                   simulation NAME_checks.sv, which binds the rules of streams to the modules of a core
    NAME.f         the sources in the order of compilation, for Verilator, slang and most other tools
    NAME_checks.f  the checks, to be read behind them
    NAME.core      the core for FuseSoC, with those that it needs as dependencies; a target that lints each top module,
                   one that simulates, and their parameters. OTHER.core of each core that it needs: a design with
                   several releases takes each such core once, with the flag checks its checks, too
    Bender.yml     the core for Bender, as one package; its checks for the target simulation
    verilog/       top modules as plain Verilog, for Icarus Verilog and Yosys' own reader: each a module of the name of
                   its build, whose parameters stand in the file's head. QCN's and SMCC's are two
    vectors/       stimulus and response of each of these, with a bench, if make vectors has written them
    constraints/   of a clock crossing, for Synopsys' formats and for Vivado
    include/       the registers as a header for C, if it has registers
    doc/           its page, those of the cores that it needs, and the table of the registers

Of several, build/export/together.f lists all sources once, and build/export/Bender.yml is one package of all. All of it
is generated from core.toml, the sources and registers/registers.rdl. With --check its tools read the release, and the
name all stands for all cores.
"""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pyslang.parsing
import pyslang.syntax

import plain
import vectors
from checks import checks_of
from cores import BUILD, GENERATED, RTL, TOOLS, Build, Core, all_cores, options, wanted

ROOT = RTL.parent
EXPORT = BUILD / "export"
# The vectors that the lock steps have written, if make vectors has run.
RECORDED = BUILD / "recorded"
# The parameters of penstock_pkg, which are set where the sources are compiled.
_WIDTHS = {
    "PENSTOCK_DATA_W": "Data bits of a stream: 64, 128, 256 or 512",
    "PENSTOCK_RATE_W": "Bits of a rate in bit/s, 34 to 48",
}


def main(arguments: list[str]) -> int:
    """Export what is named; return 0 if that is done, and checked if that was asked for."""
    names = [argument for argument in arguments if argument != "--check"]
    if not names:
        sys.stderr.write("export: say which core: make -C rtl export CORE=qcn_rp\n")
        return 2
    named = wanted("export", [] if names == ["all"] else names)
    cores = {core.folder.name: core for core in all_cores()}
    made: dict[Path, None] = {}
    checks: dict[Path, None] = {}
    for name in [name for name in cores if name in named]:
        folder = _export(name, cores)
        made.update(dict.fromkeys(folder / "rtl" / source.name for source in _sources(name, cores)))
        checks.update(dict.fromkeys(folder / "rtl" / source.name for source in _checks(name, cores)))
        if "--check" in arguments:
            _check(name, cores, folder)
        print(f"export: {folder.relative_to(ROOT)}", flush=True)
    if len(named) > 1:
        sources = _once(made)
        (EXPORT / "together.f").write_text("".join(f"{source}\n" for source in sources))
        (EXPORT / "Bender.yml").write_text(_bender("penstock", sources, _once(checks)))
    return 0


def _once(files: dict[Path, None]) -> list[Path]:
    """Return files relative to the folder of the releases, and of those with one name the first."""
    once = {path.name: path.relative_to(EXPORT) for path in reversed(files)}
    return [once[name] for name in dict.fromkeys(path.name for path in files)]


def _export(name: str, cores: dict[str, Core]) -> Path:
    core, folder = cores[name], EXPORT / name
    needed = _needed(name, cores)
    sources = _sources(name, cores)
    checks = _checks(name, cores)
    # Whole or not at all: a release that is there is replaced when the new one is complete.
    made = folder.with_name(f".{name}")
    shutil.rmtree(made, ignore_errors=True)
    parts = ("rtl", "verilog", "doc", *(["constraints"] if (core.folder / "constraints").is_dir() else []))
    for part in parts:
        (made / part).mkdir(parents=True)
    waivers = [waiver for each in needed for waiver in _waivers(cores[each])]
    for source in (*sources, *checks, *waivers):
        shutil.copy(source, made / "rtl")
    (made / f"{name}.f").write_text("".join(f"rtl/{source.name}\n" for source in sources))
    (made / f"{name}_checks.f").write_text("".join(f"rtl/{path.name}\n" for path in checks))
    for each in needed:
        (made / f"{each}.core").write_text(_fusesoc(cores[each]))
    lists = ([Path("rtl") / path.name for path in paths] for paths in (sources, checks))
    (made / "Bender.yml").write_text(_bender(f"penstock_{name}", *lists))
    for build in _released(core):
        plain.make(build, made / "verilog" / f"{build.name}.v")
    for constraints in sorted(core.folder.glob("constraints/*")):
        shutil.copy(constraints, made / "constraints")
    for build in _released(core):
        vectors.put(build, RECORDED, made / "vectors")
    registers = [source.stem for source in sources if source.parent == GENERATED]
    if registers:
        (made / "include").mkdir()
        for each in registers:
            shutil.copy(GENERATED / f"{each}.h", made / "include")
        shutil.copy(GENERATED / "registers.md", made / "doc")
        shutil.copy(RTL / "registers" / "registers.rdl", made / "doc")
    for each in needed:
        page = cores[each].folder / "doc" / "README.md"
        if page.exists():
            shutil.copy(page, made / "doc" / f"{each}.md")
    shutil.copy(ROOT / "LICENSE", made)
    shutil.rmtree(folder, ignore_errors=True)
    made.rename(folder)
    return folder


def _needed(name: str, cores: dict[str, Core]) -> list[str]:
    """Return the cores that one needs, and itself, in the order of compilation."""
    found: dict[str, None] = {}
    for need in cores[name].needs:
        found.update(dict.fromkeys(_needed(need, cores)))
    return [*found, name]


def _sources(name: str, cores: dict[str, Core]) -> list[Path]:
    """Return a core's sources in the order of compilation, after those of the cores that it needs."""
    needed = [cores[each] for each in _needed(name, cores)]
    return [source for core in needed for source in (*core.generated, *core.own_sources)]


def _checks(name: str, cores: dict[str, Core]) -> list[Path]:
    """Return the checks of the streams of a core and of those that it needs."""
    return [path for each in _needed(name, cores) if (path := checks_of(cores[each]))]


def _bender(name: str, sources: list[Path], checks: list[Path]) -> str:
    """Return the manifest that Bender reads: one package, whose checks are for simulation."""
    lines = ["# Made from core.toml by tools/export.py.", "package:", f"  name: {name}", "", "sources:"]
    lines += [f"  - {source}" for source in sources]
    if checks:
        lines += ["  - target: simulation", "    files:", *(f"      - {check}" for check in checks)]
    return "\n".join([*lines, ""])


def _waivers(core: Core) -> list[Path]:
    return sorted(core.folder.glob("rtl/*.vlt"))


def _released(core: Core) -> list[Build]:
    """Return the builds of a core that are made plain Verilog.

    Of each top module and scheme that is the build with the fewest parameters, and those that core.toml names.
    """
    builds = [build for build in core.builds if not build.fast]
    least: dict[tuple[str, str | None], Build] = {}
    for build in sorted(builds, key=lambda build: len(build.parameters) + len(build.defines)):
        least.setdefault((build.top, build.parameters.get("Smcc")), build)
    return [build for build in builds if build.release or build in least.values()]


def _tops(core: Core) -> list[str]:
    """Return a core's top modules, the one with the core's name first."""
    tops = dict.fromkeys(build.top for build in core.builds)
    return sorted(tops, key=lambda top: top != core.folder.name)


def _parameters(core: Core) -> dict[str, list[tuple[str, str]]]:
    """Return the parameters of each top module that may be set, each with its comment."""
    found = {}
    for source in core.own_sources:
        tree = pyslang.syntax.SyntaxTree.fromText(source.read_text(), source.name)
        members = [tree.root] if tree.root.kind.name == "ModuleDeclaration" else list(getattr(tree.root, "members", []))
        for module in [member for member in members if member.kind.name == "ModuleDeclaration"]:
            ports = module.header.parameters
            declared = (
                [each for each in ports.declarations if each.kind.name == "ParameterDeclaration"] if ports else []
            )
            named = []
            for each in declared:
                trivia = [piece.getRawText() for piece in each.getFirstToken().trivia]
                said = " ".join(piece.removeprefix("//").strip() for piece in trivia if piece.startswith("//"))
                if "not to be set" not in said:
                    named += [(one.name.valueText, said) for one in each.declarators if hasattr(one, "name")]
            found[module.header.name.valueText] = named
    return {top: found.get(top, []) for top in _tops(core)}


def _fusesoc(core: Core) -> str:
    """Return the description that FuseSoC reads: of the core alone, which depends on those that it needs."""
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    waivers, checks = _waivers(core), checks_of(core)
    parameters = _parameters(core)
    lines = [
        "CAPI=2:",
        "",
        "# Made from core.toml by tools/export.py.",
        f"name: penstock:cores:{core.folder.name}:{version}",
        f'description: "{core.says}"',
        "",
        "filesets:",
        "  rtl:",
        "    files:",
        *(f"      - rtl/{source.name}" for source in (*core.generated, *core.own_sources)),
        "    file_type: systemVerilogSource",
    ]
    if core.needs:
        lines += ["    depend:", *(f"      - penstock:cores:{need}:{version}" for need in core.needs)]
    if waivers:
        lines += ["  waivers:", "    files:", *(f"      - rtl/{waiver.name}" for waiver in waivers)]
        lines += ["    file_type: vlt"]
    if checks:
        lines += ["  checks:", "    files:", f"      - rtl/{checks.name}", "    file_type: systemVerilogSource"]
    # Whoever depends on the core inherits its waivers, and with the flag the checks of its streams.
    filesets = ["rtl", *(["waivers"] if waivers else []), *(["checks ? (checks)"] if checks else [])]
    whole = ["rtl", *(["waivers"] if waivers else []), *(["checks"] if checks else [])]
    lines += ["", "targets:", "  default:", f"    filesets: [{', '.join(map(_quoted, filesets))}]"]
    for index, (top, named) in enumerate(parameters.items()):
        common = [f"    filesets: [{', '.join(whole)}]", f"    toplevel: {top}"]
        widths = [f"{name}={value}" if (value := _width(core, top, name)) else name for name in _WIDTHS]
        common.append(f"    parameters: [{', '.join([*(name for name, _ in named), *widths])}]")
        suffixes = ["", f"_{top}"] if index == 0 and len(parameters) > 1 else [f"_{top}" if index else ""]
        for suffix in suffixes:
            lines += [f"  lint{suffix}:", *common, "    flow: lint", "    flow_options:", "      tool: verilator"]
            lines += ['      verilator_options: ["-Wall", "--no-timing"]']
            lines += [f"  sim{suffix}:", *common, "    flow: sim", "    flow_options:", "      tool: verilator"]
            lines += ["      mode: cc", '      verilator_options: ["--assert", "--no-timing"]']
    every = {name: said for named in parameters.values() for name, said in named}
    lines += ["", "parameters:"]
    for name, said in _WIDTHS.items():
        lines += [f"  {name}:", "    datatype: int", "    paramtype: vlogdefine", f"    description: {_quoted(said)}"]
    for name, said in every.items():
        lines += [f"  {name}:", "    datatype: int", "    paramtype: vlogparam"]
        lines += [f"    description: {_quoted(said)}"] if said else []
    return "\n".join([*lines, ""])


def _width(core: Core, top: str, name: str) -> str | None:
    """Return the width of penstock_pkg that all builds of a top module set, for at the default it is refused."""
    values = [build.defines.get(name) for build in core.builds if build.top == top]
    return values[0] if all(values) else None


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "").replace('"', "'") + '"'


def _check(name: str, cores: dict[str, Core], folder: Path) -> None:
    """Have a release read by the tools that it is for; end with what they say if one cannot."""
    waivers = [str(path.relative_to(folder)) for path in sorted((folder / "rtl").glob("*.vlt"))]
    modules: dict[str, str] = {}
    for build in _released(cores[name]):
        lint = ["--lint-only", "--quiet", "-Wall", "--no-timing", "--top-module", build.top]
        lint += options(build)
        _run([str(TOOLS / "verilator"), *lint, *waivers, "-f", f"{name}.f", "-f", f"{name}_checks.f"], folder)
        module = folder / "verilog" / f"{build.name}.v"
        _run(["iverilog", "-g2005", "-t", "null", str(module)], folder)
        plain.yosys([f"read_verilog {module.relative_to(RTL)}"])
        # Its module has its name, and its head says with which parameters it is made.
        head, text = module.read_text().split("\n\n", 1)
        said = all(f"{parameter} = {value}" in head for parameter, value in build.parameters.items())
        if re.findall(r"^module (\w+)", text, re.MULTILINE) != [build.name] or not said or build.name in modules:
            raise SystemExit(f"{module}: its module, or what its head says, is another build's:\n{head}")
        modules[build.name] = text
    if len(set(modules.values())) < len(modules):
        raise SystemExit(f"{folder}: two builds are the same")
    for header in sorted((folder / "include").glob("*.h")):
        program = f'#include "{header.name}"\nint main(void) {{ return 0; }}\n'
        command = ["cc", "-std=c99", "-pedantic", "-Wall", "-Werror", "-Iinclude", "-fsyntax-only", "-xc", "-"]
        _run(command, folder, program)


def _run(command: list[str], folder: Path, given: str | None = None) -> None:
    done = subprocess.run(command, cwd=folder, input=given, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
