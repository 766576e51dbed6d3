"""A sender and a receiver of a number of octets by the kernel's TCP, as programs of a testbed's hosts.

    transfer.py receive ADDRESS PORT
    transfer.py send ADDRESS PORT OCTETS CONGESTION SEGMENT

iperf3 is no sender for a flow with a size: when it has handed over its last octets, its receiver stops reading, and
those that are still in flight are lost. Here the sender ends when the receiver has all of them.
"""

import socket
import sys

# It stands alone, so that it begins at once.

_BLOCK = 1 << 17
"""Octets that are written or read at once."""


def receive(address: str, port: int) -> int:
    """Read what senders send, one after the other."""
    with socket.create_server((address, port)) as listening:
        while True:
            connection, _ = listening.accept()
            with connection:
                try:
                    while connection.recv(_BLOCK):
                        pass
                except OSError as error:
                    print(f"a sender is gone: {error.strerror}", flush=True)


def send(address: str, port: int, octets: int, congestion: str, segment: int) -> int:
    """Send a number of octets, and wait until the receiver has them and closes the connection."""
    zeros = bytes(_BLOCK)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as connection:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, segment)
            connection.connect((address, port))
            left = octets
            while left > 0:
                left -= connection.send(zeros[: min(left, _BLOCK)])
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(_BLOCK):
                pass
        except OSError as error:
            print(error.strerror or error)
            return 1
    print(f"{octets} octets have arrived")
    return 0


def main() -> int:
    """Do as the arguments say."""
    action, address, port, *rest = sys.argv[1:]
    if action == "receive":
        return receive(address, int(port))
    octets, congestion, segment = rest
    return send(address, int(port), int(octets), congestion, int(segment))


if __name__ == "__main__":
    sys.exit(main())
