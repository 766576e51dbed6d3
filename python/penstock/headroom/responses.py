"""Response times as people measure them: packets or quanta until a peer stops, or a time."""

import re
from dataclasses import dataclass

from penstock._core import read_quantity
from penstock.errors import ArgumentError
from penstock.headroom.formulas import QUANTUM_BITS, WIRE_OVERHEAD

_NUMBER = r"(\d+(?:\.\d+)?)"
_PACKETS = re.compile(rf"^{_NUMBER}\s*packets?(?:\s+of\s+(.+))?$")
_QUANTA = re.compile(rf"^{_NUMBER}\s*(?:quanta|quantum)$")
_PS = 10**12
_LONGEST_S = 1.0
_HINT = "write, for instance, '12 packets', '12 packets of 1 KB', '905 quanta' or '1.2 us'"


@dataclass(frozen=True, kw_only=True)
class Response:
    """From the arrival of a pause frame until a peer starts no more frames; one of the three is given.

    Attributes:
        text: as it was written.
        packets: packets that the peer still starts.
        packet_octets: their length with FCS; ``None``: the MTU of the port.
        quanta: quanta of 512 bit times of the port.
        seconds: a time, s.
    """

    text: str
    packets: float | None = None
    packet_octets: int | None = None
    quanta: float | None = None
    seconds: float | None = None

    def time(self, speed_mbps: int, mtu: int, wire_overhead: int = WIRE_OVERHEAD) -> int:
        """Return the time at a port of this speed (Mb/s) and MTU (octets), ps.

        Raises:
            ArgumentError: it is more than a second.
        """
        bits = 0.0
        if self.packets is not None:
            bits = self.packets * 8 * ((self.packet_octets or mtu) + wire_overhead)
        elif self.quanta is not None:
            bits = self.quanta * QUANTUM_BITS
        seconds = self.seconds if self.seconds is not None else bits / (speed_mbps * 10**6)
        if seconds > _LONGEST_S:
            raise ArgumentError(f"response={self.text}: {seconds:g} s at {speed_mbps} Mb/s", "at most 1 s")
        return round(seconds * _PS)


def read_response(text: str) -> Response:
    """Read ``12 packets``, ``12 packets of 1 KB``, ``905 quanta``, or a time.

    Raises:
        ArgumentError: it is none of these.
    """
    own = " ".join(text.split())
    try:
        if found := _QUANTA.match(own):
            return Response(text=own, quanta=float(found[1]))
        if found := _PACKETS.match(own):
            octets = None if found[2] is None else int(read_quantity(found[2], "octets"))
            if octets is not None and not 64 <= octets <= 65_535:
                raise ArgumentError(f"response={own}: a packet has 64 to 65535 octets", _HINT)
            return Response(text=own, packets=float(found[1]), packet_octets=octets)
        return Response(text=own, seconds=read_quantity(own, "s"))
    except ArgumentError:
        raise
    except ValueError as error:
        raise ArgumentError(f"response={own}: no response time", _HINT) from error
