"""Runs `corundum/corundum_rp.sv` with the streams of Corundum's application block, driven as Corundum's own benches drive theirs.

    make -C rtl shims

cocotbext-axi sends frames with tags in tuser, and takes what leaves. Every frame leaves as it came, its tag beside it. Then a congestion
notification arrives among frames for the host, which all go on, too: and the rate falls by half of what the message says.
"""

import itertools
import os
import sys
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource

RTL = Path(__file__).resolve().parent.parent
FOLDER = RTL / "build" / "corundum"
CORES = ("clock_crossing", "qcn_rp", "random_words")
BITS = 512
MAC = 0x02_00_00_00_00_01
LINE_BPS = 10_000_000_000
FRAMES = 120


def message(fb: int) -> bytes:
    """Return a congestion notification for the port, without its check sequence."""
    return MAC.to_bytes(6, "big") + bytes(6) + b"\x22\xe7" + bytes([0, fb]) + bytes(44)


async def passes(source, sink, lengths) -> None:
    """Send frames, and see that each leaves as it came, with its tag."""
    sent = []
    for number, length in enumerate(lengths):
        frame = AxiStreamFrame(
            bytes(itertools.islice(itertools.cycle(range(number, 251)), length)),
            tuser=number << 1,
        )
        sent.append(frame)
        await source.send(frame)
    for frame in sent:
        seen = await sink.recv()
        assert seen.tdata == frame.tdata
        assert seen.tuser == frame.tuser


@cocotb.test()
async def frames_pass_with_their_tags_and_a_message_slows_them(dut) -> None:
    """Compare every frame both ways, and the rate before and after a message with Fb = 32."""
    cocotb.start_soon(Clock(dut.clk, 4, unit="ns").start())
    ends = {
        (way, kind): end(
            AxiStreamBus.from_prefix(dut, f"{side}_axis_sync_{way}"), dut.clk, dut.rst
        )
        for way in ("tx", "rx")
        for kind, side, end in (
            ("source", "s", AxiStreamSource),
            ("sink", "m", AxiStreamSink),
        )
    }
    dut.mac_i.value, dut.start_i.value, dut.rst.value = MAC, 0, 1
    await ClockCycles(dut.clk, 8)
    dut.rst.value = 0
    await ClockCycles(dut.clk, 32)
    dut.start_i.value = 1
    await RisingEdge(dut.clk)
    dut.start_i.value = 0
    await ClockCycles(dut.clk, 100)
    assert int(dut.rate_o.value) == LINE_BPS

    lengths = [60 + 97 * n % 1455 for n in range(FRAMES)]
    await passes(ends["tx", "source"], ends["tx", "sink"], lengths)
    # A stall of the line holds the frames, and tags stay beside them.
    ends["tx", "sink"].set_pause_generator(itertools.cycle([1, 0, 0, 1, 1]))
    await passes(ends["tx", "source"], ends["tx", "sink"], lengths)

    received = [bytes([2]) * 200, message(32), bytes([4]) * 1500]
    for number, frame in enumerate(received):
        await ends["rx", "source"].send(AxiStreamFrame(frame, tuser=number << 8))
    for number, frame in enumerate(received):
        seen = await ends["rx", "sink"].recv()
        assert bytes(seen.tdata) == frame
        assert seen.tuser == number << 8
    await ClockCycles(dut.clk, 200)
    rate = int(dut.rate_o.value)
    dut._log.info(
        "%d frames passed; the rate is %d bit/s after the message", 2 * FRAMES, rate
    )
    # 802.1Qau: 1 - Fb / 128.
    assert rate == LINE_BPS * 3 // 4


def main() -> int:
    """Build it from the sources of the cores, and run the test."""
    # The wheel's makefile has no option for its precompiled header.
    os.environ["MAKEFLAGS"] = " -- CFG_CXXFLAGS_PCH_I=-include"
    runner = get_runner("verilator")
    sources: dict[str, Path] = {}
    for core in CORES:
        release = RTL / "build" / "export" / core
        for line in (release / f"{core}.f").read_text().split():
            sources.setdefault(Path(line).name, release / line)
    checks = [
        path
        for core in CORES
        for path in sorted((RTL / "build/export" / core / "rtl").glob("*_checks.sv"))
    ]
    runner.build(
        sources=[
            *sources.values(),
            *{path.name: path for path in checks}.values(),
            RTL / "examples/corundum/corundum_rp.sv",
        ],
        hdl_toplevel="corundum_rp",
        build_dir=FOLDER,
        build_args=[
            *(
                "-Wno-fatal",
                "-Wno-lint",
                "--timing",
                "--assert",
                f"-DPENSTOCK_DATA_W={BITS}",
            ),
            *("-CFLAGS", "-std=c++20 -fcoroutines"),
        ],
        timescale=("1ns", "1ps"),
        always=True,
    )
    results = runner.test(
        hdl_toplevel="corundum_rp",
        test_module="corundum",
        build_dir=FOLDER,
        test_dir=Path(__file__).parent,
        results_xml=str(FOLDER / "results.xml"),
    )
    _, failed = get_results(results)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
