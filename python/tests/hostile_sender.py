"""A hostile program in a host of the testbed: ``python hostile_sender.py FRAMES RATE SECONDS [WIRE]``.

It sends the frames of a file, a line of hexadecimal digits each, over and over, ``RATE`` of them a second or as many as
it can. They leave by the host's own interface, outside of the congestion notification domain, or by the end of a wire
between interface and switch, inside it. It prints how many frames the kernel has taken.
"""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

# It stands alone, so that it begins at once: importing Penstock takes a second on a busy machine.

_STEP_S = 0.001
"""Frames go in groups, one in each step."""


def _open(wire: str | None) -> socket.socket:
    if wire is None:
        return _bound("eth0")
    name = ["ip", "netns", "identify", str(os.getpid())]
    own = subprocess.run(name, capture_output=True, text=True, check=True).stdout.strip()
    fabric = os.open(f"/run/netns/{own.rpartition('-')[0]}-fabric", os.O_RDONLY)
    if ctypes.CDLL(None, use_errno=True).setns(fabric, 0) != 0:
        raise OSError(ctypes.get_errno(), "cannot enter the namespace of the wires")
    return _bound(wire)


def _bound(interface: str) -> socket.socket:
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    made.bind((interface, 0))
    made.setblocking(False)
    return made


def main() -> int:
    """Send until the end of the time."""
    frames = [bytes.fromhex(line) for line in Path(sys.argv[1]).read_text().split()]
    rate, seconds = float(sys.argv[2]), float(sys.argv[3])
    link = _open(sys.argv[4] if len(sys.argv) > 4 else None)
    over = []
    signal.signal(signal.SIGTERM, lambda *_: over.append(True))
    begin = now = time.monotonic()
    tried = taken = 0
    while now < begin + seconds and not over:
        while tried < rate * (now - begin):
            try:
                link.send(frames[tried % len(frames)])
                taken += 1
            except (BlockingIOError, OSError):
                # No room just now, or a frame that no line carries.
                pass
            tried += 1
            if tried % 256 == 0:
                now = time.monotonic()
                if now >= begin + seconds or over:
                    break
        time.sleep(_STEP_S)
        now = time.monotonic()
    print(f"{tried} tried, {taken} taken in {now - begin:.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
