"""Makes the release of a core: all files that a project needs to use that core alone.

    python tools/export.py [--check] NAME    a folder with a core.toml, into build/export/NAME

    rtl/           its sources and those of the cores that it needs, generated ones too, one folder for all
    NAME.f         the sources in the order of compilation, for Verilator, slang and most other tools
    NAME.core      the same for FuseSoC, with a target that lints
    verilog/       each top module as plain Verilog, its parameters set, for Icarus Verilog and Yosys' own reader
    include/       the registers as a header for C, if it has registers
    doc/           its page, those of the cores that it needs, and the table of the registers

All of it is generated from core.toml and registers/registers.rdl. With --check its tools read the release.
"""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import plain
from cores import BUILD, GENERATED, RTL, TOOLS, Build, Core, all_cores, wanted

ROOT = RTL.parent


def main(arguments: list[str]) -> int:
    """Export what is named; return 0 if that is done, and checked if that was asked for."""
    names = [argument for argument in arguments if argument != "--check"]
    if not names:
        sys.stderr.write("export: say which core: make -C rtl export CORE=qcn_rp\n")
        return 2
    named = wanted("export", names)
    for core in all_cores():
        if core.folder.name in named:
            folder = _export(core)
            if "--check" in arguments:
                _check(core, folder)
            print(f"export: {folder.relative_to(ROOT)}", flush=True)
    return 0


def _export(core: Core) -> Path:
    name, folder = core.folder.name, BUILD / "export" / core.folder.name
    sources = _sources(core)
    # Whole or not at all: a release that is there is replaced when the new one is complete.
    made = folder.with_name(f".{name}")
    shutil.rmtree(made, ignore_errors=True)
    for part in ("rtl", "verilog", "doc"):
        (made / part).mkdir(parents=True)
    for source in sources:
        shutil.copy(source, made / "rtl")
    waivers = [path for path in sorted(RTL.glob("*/rtl/*.vlt")) if path.parent in {source.parent for source in sources}]
    for waiver in waivers:
        shutil.copy(waiver, made / "rtl")
    (made / f"{name}.f").write_text("".join(f"rtl/{source.name}\n" for source in sources))
    (made / f"{name}.core").write_text(_fusesoc(core, sources, waivers))
    for build in _tops(core).values():
        plain.make(build, made / "verilog" / f"{build.name}.v")
    registers = [source.stem for source in sources if source.parent == GENERATED]
    if registers:
        (made / "include").mkdir()
        for each in registers:
            shutil.copy(GENERATED / f"{each}.h", made / "include")
        shutil.copy(GENERATED / "registers.md", made / "doc")
        shutil.copy(RTL / "registers" / "registers.rdl", made / "doc")
    for page in dict.fromkeys(source.parent.parent / "doc" / "README.md" for source in sources):
        if page.exists():
            shutil.copy(page, made / "doc" / f"{page.parent.parent.name}.md")
    shutil.copy(ROOT / "LICENSE", made)
    shutil.rmtree(folder, ignore_errors=True)
    made.rename(folder)
    return folder


def _sources(core: Core) -> tuple[Path, ...]:
    """Return a core's sources in the order of compilation, after those of the cores that it needs."""
    return core.builds[0].sources if core.builds else core.own_sources


def _tops(core: Core) -> dict[str, Build]:
    """Return a build of each top module: the one of its name, or one of others; that of the core's own name first."""
    tops = {build.top: build for build in sorted(core.builds, key=lambda build: build.name == build.top)}
    return dict(sorted(tops.items(), key=lambda each: (each[0] != core.folder.name, each[0])))


def _fusesoc(core: Core, sources: tuple[Path, ...], waivers: list[Path]) -> str:
    """Return the description that FuseSoC reads."""
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    tops = list(_tops(core))
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
        *(f"      - rtl/{source.name}" for source in sources),
        "    file_type: systemVerilogSource",
    ]
    if waivers:
        lines += [
            "  waivers:",
            "    files:",
            *(f"      - rtl/{waiver.name}" for waiver in waivers),
            "    file_type: vlt",
        ]
    lines += ["", "targets:", "  default:", "    filesets: [rtl]"]
    if tops:
        filesets = "rtl, waivers" if waivers else "rtl"
        lines += [f"    toplevel: {tops[0]}", "  lint:", f"    filesets: [{filesets}]", f"    toplevel: {tops[0]}"]
        lines += ["    flow: lint", "    flow_options:", "      tool: verilator"]
        lines += ['      verilator_options: ["-Wall", "--no-timing"]']
    return "\n".join([*lines, ""])


def _check(core: Core, folder: Path) -> None:
    """Have a release read by the tools that it is for; end with what they say if one cannot."""
    waivers = [str(path.relative_to(folder)) for path in sorted((folder / "rtl").glob("*.vlt"))]
    for build in _tops(core).values():
        lint = ["--lint-only", "--quiet", "-Wall", "--no-timing", "--top-module", build.top]
        lint += [f"-G{name}={value}" for name, value in build.parameters.items()]
        _run([str(TOOLS / "verilator"), *lint, *waivers, "-f", f"{core.folder.name}.f"], folder)
        module = folder / "verilog" / f"{build.name}.v"
        _run(["iverilog", "-g2005", "-t", "null", str(module)], folder)
        plain.yosys([f"read_verilog {module.relative_to(RTL)}"])
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
