#!/usr/bin/env python3
"""Ports with exactly the headroom that they need, stopped again and again: no frame may be lost.

    tools/headroom_endurance.py [--ports N] [--frames N] [--missing SHARE]

Each port gets bursts at line rate, of frames of the densest length and of the longest one, for a sink at 5 % of its
rate. Now and then a longest frame comes in the reverse direction. So every stop finds other frames on the line.
``--frames`` is the number in all, an equal share for each port. One line a port, then the sum; status 1 if a frame was
lost, or if a port never stopped its neighbour.
"""

import argparse
import random
from concurrent.futures import ProcessPoolExecutor

from penstock.headroom.formulas import Port
from penstock.headroom.prove import worst_frames
from penstock.headroom.single_port import need, network
from penstock.scenario import Scenario

_FRAMES = 1_030_000_000
_PORTS = 200
_SINK = 0.05


def random_port(seed: int) -> Port:
    """Return a port of any speed, cable, longest frame, cell and response."""
    draw = random.Random(seed)
    speeds = (10_000, 25_000, 40_000, 50_000, 100_000, 200_000, 400_000, 800_000, 1_600_000)
    return Port(
        speed_mbps=draw.choice(speeds),
        cable_m=draw.choice([draw.randint(1, 40), draw.randint(1, 500), draw.uniform(1, 2000)]),
        mtu=draw.choice([1500, 1518, 4154, 9122, 9216, draw.randint(256, 9216)]),
        cell=draw.choice([1, 1, 1, 80, 96, 144, 176, 192, 208, 254, 256, draw.randint(2, 420)]),
        response_ps=draw.choice([None, 0, draw.randint(0, 5_000_000)]),
    )


def endure(port: Port, frames: int, missing: float) -> tuple[int, int, int]:
    """Return the frames that reached a port, those that it dropped, and the pause frames that it sent."""
    exact = need(port)
    room = round((1 - missing) * (exact.octets if exact.cells is None else exact.cells)) * port.cell
    lengths = sorted({port.mtu, *(one.octets for one in worst_frames(int(port.wire()), port))})
    # Both take the same share of the line.
    mean = len(lengths) / sum(1 / (length + port.wire_overhead) for length in lengths)
    duration = round(frames * mean * 8 / (port.speed_mbps * _SINK) * 10**6)
    shared = 4 * (port.mtu // port.cell + 1) * port.cell
    text = network(port, room=room, shared=shared, duration_ps=duration)
    text = text.replace('rate = "1 kbps"', f'rate = "{round(port.speed_mbps * _SINK * 1000)} kbps"')
    # The source has less than the sink takes, so that the queue of the peer, which stops nobody, ends.
    on = round((shared + room) * 8 / port.speed_mbps * 10**6)
    off = round(on * (len(lengths) / (0.97 * _SINK) - 1))
    bursts = f'traffic = "on-off"\nrate = "{port.speed_mbps} Mbps"\non = "{on} ps"\noff = "{off} ps"\nrandom = true\n'
    random = f'traffic = "poisson"\nrate = "{port.speed_mbps} kbps"\n'
    trains = [("source", "sink", 3, length, bursts) for length in lengths] + [("back", "source", 5, port.mtu, random)]
    for source, to, priority, length, traffic in trains:
        text += f"""
[[flow]]
name = "{source}-{length}"
from = ["{source}"]
to = ["{to}"]
priority = {priority}
frame = "{length} octets"
{traffic}"""
    summary = Scenario.from_toml(text, name="port").run().summary
    sent, dropped = ({one["name"]: one[key] for one in summary["queues"]} for key in ("frames_sent", "frames_dropped"))
    lost = summary["totals"]["frames_dropped"] - dropped["peer->switch"]
    return sent["switch->sink"], lost, summary["totals"]["pause_frames"]


def main() -> None:
    """Run all ports on all cores."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--ports", type=int, default=_PORTS)
    options.add_argument("--frames", type=int, default=_FRAMES)
    options.add_argument(
        "--missing", type=float, default=0, help="share of the headroom that is left out: then frames are lost"
    )
    given = options.parse_args()
    ports = [random_port(seed) for seed in range(given.ports)]
    shares = [given.frames // given.ports] * given.ports
    frames = lost = stops = silent = 0
    with ProcessPoolExecutor() as pool:
        for port, found in zip(ports, pool.map(endure, ports, shares, [given.missing] * given.ports), strict=True):
            frames, lost, stops = frames + found[0], lost + found[1], stops + found[2]
            silent += found[2] == 0
            print(f"{port}: {found[0]} frames, {found[2]} pause frames, {found[1]} lost", flush=True)
    print(f"{given.ports} ports, {frames} frames, {stops} pause frames, {lost} lost, {silent} ports without a stop")
    raise SystemExit(lost > 0 or silent > 0)


if __name__ == "__main__":
    main()
