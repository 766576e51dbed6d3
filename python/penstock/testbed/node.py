"""A process of the testbed: ``python -m penstock.testbed.node SCENARIO NODE LOG``.

Its standard input is a socket: by it the start of the run comes, then the node's wires; when it is closed, the run
ends. The process needs no rights: its wires were opened for it.
"""

import os
import socket
import struct
import sys
from pathlib import Path

from penstock import _core

_PRIORITY = 50
"""Of real time, 1 to 99; applications have none."""


def _real_time() -> bool:
    """Take the priority of real time where the system lets us, and say whether it does."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
    except OSError:
        return False
    return True


def main() -> int:
    """Run a node until its end."""
    scenario, name, log = sys.argv[1:4]
    text = Path(scenario).read_text()
    control = socket.socket(fileno=os.dup(0))
    real_time = _real_time()
    control.send(b"ready")
    message = control.recv(8)
    if len(message) < 8:
        return 1
    (origin_ns,) = struct.unpack("=Q", message)
    _core.testbed_node(text, name, origin_ns, real_time, Path(log))
    return 0


if __name__ == "__main__":
    sys.exit(main())
