"""A congestion notification slows one of two reaction points: a test bench in Python to begin from.

    make -C rtl example

It takes the release of the core `qcn_rp` (make -C rtl export CORE=qcn_rp), in plain Verilog with two reaction points, and runs
it in Icarus Verilog under cocotb. Each reaction point always has frames of 64 octets to send. Then a congestion point tells the
first that its queue is too long, with Fb = 32: 802.1Qau has it go on at 1 - 32/128 of its rate, and the other as before.
"""

import sys
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge
from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

RELEASE = Path(__file__).resolve().parent.parent / "build" / "export" / "qcn_rp"
CLOCK_NS = 8
# Addresses of the two reaction points, as mac_i and frames have them.
MACS = (0x02_00_00_00_00_01, 0x02_00_00_00_01_01)
# The registers of a NIC after reset have these; rates are in bit/s, resets in octets and ticks.
SETTINGS = {
    "gd_shift_i": 7,
    "rpg_threshold_i": 5,
    "rpg_byte_reset_i": 150_000,
    "rpg_time_reset_i": 25_000,
    "rpg_ai_rate_i": 500_000,
    "rpg_hai_rate_i": 5_000_000,
    "rpg_min_rate_i": 500_000,
    "rpg_max_rate_i": 1_000_000_000,
    "rp_jitter_i": 0,
    "timer_on_i": 0,
}
# Random words of jitter, which is 0 here; the time base, for the timer is off; and streams on which nothing comes yet.
QUIET = (
    "random_byte_i",
    "random_timer_i",
    "tick_i",
    "start_i",
    "drop_if_busy_i",
) + tuple(
    f"s_axis_{way}_{part}"
    for way in ("rx", "tx")
    for part in ("tdata", "tkeep", "tvalid", "tlast", "tuser")
)
# Clocks: three refills of the token bucket.
WINDOW = 6_000
BEATS = 8
# The time of a frame of 64 octets on a line, with preamble and gap.
LINE_OCTETS = 84


def message(mac: int, fb: int) -> bytes:
    """Return a congestion notification message for a reaction point, without its check sequence."""
    frame = bytearray(60)
    frame[0:6] = mac.to_bytes(6, "big")
    frame[12:14] = (0x22E7).to_bytes(2, "big")
    frame[15] = fb
    return bytes(frame)


async def send(dut, frame: bytes) -> None:
    """Bring a frame on the arriving stream, a beat a clock: octet 0 is in the lowest bits."""
    beats = [frame[at : at + 8] for at in range(0, len(frame), 8)]
    for number, beat in enumerate(beats):
        dut.s_axis_rx_tdata.value = int.from_bytes(beat, "little")
        dut.s_axis_rx_tkeep.value = (1 << len(beat)) - 1
        dut.s_axis_rx_tlast.value = int(number == len(beats) - 1)
        dut.s_axis_rx_tvalid.value = 1
        await RisingEdge(dut.clk_i)
    dut.s_axis_rx_tvalid.value = 0


async def frames(dut) -> None:
    """Give both reaction points frames of 60 octets and their check sequence without end."""
    at = [0, 0]
    dut.s_axis_tx_tvalid.value = 0b11
    dut.s_axis_tx_octets_i.value = 64 << 16 | 64
    while True:
        last = [beat == BEATS - 1 for beat in at]
        dut.s_axis_tx_tlast.value = last[1] << 1 | last[0]
        dut.s_axis_tx_tkeep.value = (0x0F if last[1] else 0xFF) << 8 | (
            0x0F if last[0] else 0xFF
        )
        await ReadOnly()
        ready = int(dut.s_axis_tx_tready.value)
        await RisingEdge(dut.clk_i)
        at = [
            (beat + 1) % BEATS if ready >> point & 1 else beat
            for point, beat in enumerate(at)
        ]


async def rates(dut) -> list[float]:
    """Return the rate of each reaction point in a window, Gb/s on its line."""
    sent = [0, 0]
    for _ in range(WINDOW):
        await RisingEdge(dut.clk_i)
        goes = int(dut.sent_valid_o.value)
        sent = [count + (goes >> point & 1) for point, count in enumerate(sent)]
    return [count * LINE_OCTETS * 8 / (WINDOW * CLOCK_NS) for count in sent]


@cocotb.test()
async def a_notification_slows_its_reaction_point(dut) -> None:
    """Compare the rates of both before the message and after it."""
    # All inputs are driven from the first clock on: Icarus Verilog knows unknown values.
    for name in QUIET:
        getattr(dut, name).value = 0
    cocotb.start_soon(Clock(dut.clk_i, CLOCK_NS, unit="ns").start())
    for name, value in SETTINGS.items():
        getattr(dut, name).value = value
    dut.mac_i.value = MACS[1] << 48 | MACS[0]
    dut.m_axis_rx_tready.value = 1
    dut.m_axis_tx_tready.value = 0b11
    dut.rst_i.value = 1
    # The clock's first edge is in the moment in which the inputs are set; the second resets.
    await RisingEdge(dut.clk_i)
    await RisingEdge(dut.clk_i)
    dut.rst_i.value = 0
    # A flow begins at the largest rate.
    dut.start_i.value = 0b11
    await RisingEdge(dut.clk_i)
    dut.start_i.value = 0
    cocotb.start_soon(frames(dut))

    # The bucket was full; from then on frames go at the rate.
    await rates(dut)
    before = await rates(dut)
    await send(dut, message(MACS[0], fb=32))
    await rates(dut)
    after = await rates(dut)
    for point in (0, 1):
        current = int(dut.current_rate_o.value) >> (34 * point) & ((1 << 34) - 1)
        dut._log.info(
            "reaction point %d sent %.3f, now %.3f Gb/s; its rate is %d bit/s",
            point, before[point], after[point], current,
        )  # fmt: skip
    assert int(dut.taken_o.value) == 1 and int(dut.malformed_o.value) == 0
    # A window of so few frames may have one more or less.
    assert all(abs(rate - 1.0) < 0.03 for rate in (*before, after[1]))
    assert abs(after[0] - 0.75) < 0.03


def main() -> None:
    """Compile the release and run the test above in it."""
    runner = get_runner("icarus")
    folder = RELEASE.parent.parent / "example"
    sources = [RELEASE / "verilog" / "qcn_rp.v"]
    runner.build(
        sources=sources,
        hdl_toplevel="qcn_rp",
        build_dir=folder,
        timescale=("1ns", "1ps"),
        always=True,
    )
    place = {
        "build_dir": folder,
        "test_dir": Path(__file__).parent,
        "results_xml": str(folder / "results.xml"),
    }
    _, failed = get_results(
        runner.test(hdl_toplevel="qcn_rp", test_module="slow_down", **place)
    )
    sys.exit(int(failed > 0))


if __name__ == "__main__":
    main()
