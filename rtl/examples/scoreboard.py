"""A core beside its golden model in every clock: a test bench in Python whose scoreboard is `penstock.golden`.

    make -C rtl example

It takes the release of the core `token_bucket` in plain Verilog, and runs it in Icarus Verilog under cocotb. Rates and frames are
drawn at random. In each clock the octets in the bucket, and whether the frame may go, are those of the model. A model that is
refilled one octet short has to be found.
"""

import os
import random
import sys
from collections import deque
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge
from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner
from penstock import golden

RELEASE = Path(__file__).resolve().parent.parent / "build" / "export" / "token_bucket"
CLOCK_NS = 8
CLOCK_PS = CLOCK_NS * 1000
# The core's parameters as they come.
DEPTH, REFILL_CLOCKS, GRANULARITY_BPS = 3000, 2000, 500_000
# From the core's page: clocks of a division, and the clock after it.
DIVISION, LATENCY = 17, 18
CLOCKS = 40_000
# In the environment: the model's granularity is half as large, so that it is to be caught.
WRONG = "PENSTOCK_WRONG_MODEL"


class Model:
    """The golden bucket, given each rate as late as the core's division makes it."""

    def __init__(self) -> None:
        granularity = GRANULARITY_BPS // (2 if os.environ.get(WRONG) else 1)
        self.bucket = golden.TokenBucket(
            DEPTH, REFILL_CLOCKS * CLOCK_PS, granularity, 0
        )
        self.clock, self.seen, self.free_at = 0, 0, 0
        self.coming: deque[tuple[int, int]] = deque()

    def shows(self, octets: int) -> tuple[bool, int]:
        """Return whether a frame may go in this clock, and what the bucket holds."""
        now = self.clock * CLOCK_PS
        if self.coming and self.coming[0][0] == self.clock:
            self.bucket.set_rate(now, self.coming.popleft()[1])
        ready = self.bucket.ready_ps(now, octets) == now
        return ready, self.bucket.octets

    def end_of_clock(self, rate: int, taken: int | None) -> None:
        """Take what the inputs of this clock do."""
        if taken is not None:
            self.bucket.take(self.clock * CLOCK_PS, taken)
        if self.clock >= self.free_at and rate != self.seen:
            self.seen, self.free_at = rate, self.clock + DIVISION
            self.coming.append((self.clock + LATENCY, rate))
        self.clock += 1


@cocotb.test()
async def the_core_is_its_golden_model(dut) -> None:
    """Compare each output in each clock."""
    draw = random.Random(1)
    model = Model()
    for name in ("rate_i", "octets_i", "take_i"):
        getattr(dut, name).value = 0
    dut.rst_i.value = 1
    cocotb.start_soon(Clock(dut.clk_i, CLOCK_NS, unit="ns").start())
    # The clock's first edge is in the moment in which the inputs are set; the second resets.
    await RisingEdge(dut.clk_i)
    await RisingEdge(dut.clk_i)
    dut.rst_i.value = 0
    rate, octets, taken = 0, 64, 0
    for clock in range(CLOCKS):
        if draw.random() < 0.001:
            rate = draw.choice((0, 500_000, 10_000_000, 999_999_999, 1_000_000_000))
        if draw.random() < 0.01:
            octets = draw.randint(64, 1538)
        ready, tokens = model.shows(octets)
        take = ready and draw.random() < 0.2
        dut.rate_i.value, dut.octets_i.value, dut.take_i.value = rate, octets, int(take)
        await ReadOnly()
        seen = (bool(int(dut.ready_o.value)), int(dut.tokens_o.value))
        assert seen == (ready, tokens), (
            f"clock {clock}: core {seen}, model {(ready, tokens)}"
        )
        model.end_of_clock(rate, octets if take else None)
        taken += take
        await RisingEdge(dut.clk_i)
    dut._log.info("%d clocks, %d frames: core and model are the same", CLOCKS, taken)
    assert taken > 20


def run(build: bool) -> tuple[int, int]:
    """Run the bench; return how many tests it had, and how many failed."""
    runner = get_runner("icarus")
    folder = RELEASE.parent.parent / "scoreboard"
    runner.build(
        sources=[RELEASE / "verilog" / "token_bucket.v"],
        hdl_toplevel="token_bucket",
        build_dir=folder,
        timescale=("1ns", "1ps"),
        always=build,
    )
    results = runner.test(
        hdl_toplevel="token_bucket",
        test_module="scoreboard",
        build_dir=folder,
        test_dir=Path(__file__).parent,
        results_xml=str(folder / "results.xml"),
    )
    return get_results(results)


def main() -> int:
    """Run it with the model, then with a wrong one, which has to be caught."""
    if run(build=True) != (1, 0):
        return 1
    os.environ[WRONG] = "1"
    if run(build=False) != (1, 1):
        print("a wrong model was not caught", file=sys.stderr)
        return 1
    print("the wrong model was caught, as it had to be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
