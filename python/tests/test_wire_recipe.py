"""The recipe for a wire format, walked in a copy of the checkout: a module and a line, and every reader has it."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

pytestmark = pytest.mark.science

WALK = """
import json
from penstock import wire
from scapy.layers.l2 import Ether
from penstock.wire.scapy_layers import REPORT
frame = wire.encode("report", rlq_id=7, rate=1250000000)
wire.write("report.pcapng", [frame])
read = wire.decode(frame)["report"]
scapy = Ether(frame)[REPORT]
(notified,) = wire.statistics("report.pcapng")["notified"]
wire.install_dissector(".")
values = [[it.subtype, it.rlq_id, it.rate] for it in (read, scapy)]
print(json.dumps([*values, notified["flow"], notified["strength"]["mean"]]))
"""


def test_a_format_is_a_module_and_a_line(tmp_path: Path) -> None:
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0"):
        if (ROOT / name).is_file() and not name.startswith(("papers/", "lab/")):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    page = (ROOT / "docs/how-to/add-a-wire-format.md").read_text(encoding="utf-8")
    (module_file, module), (list_file, line) = re.findall(r"^`(\S+)`:\n\n```\w+\n(.*?)^```$", page, re.M | re.S)
    new = module.replace("fair_rate", "report").replace('"rocc"', '"report"').replace('"RoCC"', '"REPORT"')
    new = new.replace('6, "report"', '11, "report"').replace('"Fair rate (RoCC)"', '"Report"')
    with (tmp_path / module_file).open("a", encoding="utf-8") as out:
        out.write("\n" + new)
    text = (tmp_path / list_file).read_text(encoding="utf-8")
    (tmp_path / list_file).write_text(text.replace(line, line + line.replace("fair_rate", "report")), encoding="utf-8")

    # Apart from that of test_recipes.py: cargo would take the crates of one copy for those of the other.
    target = ROOT / ".build/recipes/wire"
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target), "PYTHONPATH": str(tmp_path / "python")}

    def run(*command: str) -> str:
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    run("cargo", "test", "--locked", "-p", "penstock-wire")
    run("cargo", "build", "--locked", "--profile", "quick", "-p", "penstock-python", "--features", "one-engine")
    shutil.copy(target / "quick/lib_core.so", tmp_path / "python/penstock/_core.abi3.so")
    values = [11, 7, 1_250_000_000]
    assert json.loads(run(sys.executable, "-c", WALK)) == [values, values, 7, 1_250_000_000]
    if shutil.which("tshark"):
        fields = ("_ws.col.Protocol", "_ws.col.Info", "report.rlq_id", "report.rate")
        names = [word for field in fields for word in ("-e", field)]
        shown = run("tshark", "-X", "lua_script:penstock.lua", "-r", "report.pcapng", "-T", "fields", *names)
        assert shown.strip().split("\t") == ["REPORT", "Flow 7, fair rate 1250000000 bit/s", "7", "1250000000"]
