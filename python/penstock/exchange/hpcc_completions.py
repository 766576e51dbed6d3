"""Flow completion times as HPCC's simulator writes them: a line a flow, read as a table of completions.

A line has eight fields: source and destination address in hexadecimal digits, source port, destination port, size in
octets, start, flow completion time, and that on an empty network, each in ns. Source: ``qp_finish`` and
``node_id_to_ip`` in ``simulation/scratch/third.cc`` of https://github.com/alibaba-edu/High-Precision-Congestion-Control.
ConWeave's (``scratch/network-load-balance.cc`` of https://github.com/conweave-project/conweave-ns3) has the numbers of
the nodes, in decimal digits, instead of addresses.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock import files
from penstock.data_frames import pandas_frame, polars_frame
from penstock.exchange.line_reader import ENTRIES_MAX, OCTETS_MAX, ExchangeError, Lines

if TYPE_CHECKING:
    import pandas
    import polars
    from arro3.core import Table

_ADDRESS = re.compile(r"[0-9a-fA-F]{8}")
# An address has eight digits: no shorter word is one.
_NODE = re.compile(r"[0-9]{1,5}")
# Node 0 has the address 11.0.0.1; the octets in the middle count the nodes.
_FIRST_ADDRESS = 0x0B000001
NODES_MAX = 2**16
"""The most nodes to which the format gives addresses."""
_WORDS = "two addresses, two ports, size, start, FCT and the FCT on an empty network"


@dataclass(frozen=True)
class Completed:
    """A flow that completed: from which node to which, its ports, its size in octets, and its times in ns."""

    source: int
    destination: int
    source_port: int
    port: int
    octets: int
    start_ns: int
    fct_ns: int
    ideal_ns: int


def text(flows: Iterable[Completed]) -> str:
    """Return the flows as a file, in their order."""
    return "".join(
        f"{_address(at.source)} {_address(at.destination)} {at.source_port} {at.port} {at.octets} "
        f"{at.start_ns} {at.fct_ns} {at.ideal_ns}\n"
        for at in flows
    )


def parse(written: str, name: str) -> list[Completed]:
    """Read completed flows from their text; ``name`` stands in messages.

    Raises:
        ExchangeError: a line is none of a completed flow; the message has it.
    """
    lines = Lines(written, name)
    found: list[Completed] = []
    while (words := lines.next_words()) is not None:
        if len(words) != 8:
            raise lines.error(f"the line has {len(words)} fields and not 8; write {_WORDS}")
        source, destination = (_node(lines, word) for word in words[:2])
        numbers = [lines.whole(word) for word in words[2:]]
        if numbers[2] == 0:
            raise lines.error("the flow has 0 octets; write one at least")
        if numbers[4] == 0 or numbers[5] == 0:
            raise lines.error("a flow completion time is 0 ns; write one above 0")
        if len(found) == ENTRIES_MAX:
            raise lines.error(f"there are more than {ENTRIES_MAX} flows; give a shorter file")
        found.append(Completed(source, destination, *numbers))
    if not found:
        raise ExchangeError(name, None, f"there is no flow; write {_WORDS} a line")
    return found


class Completions:
    """A table of completions that is read from a file: whatever reads Arrow reads it, as pyarrow and polars do.

    Attributes:
        table: the table of arro3.
    """

    def __init__(self, table: "Table") -> None:
        self.table = table

    def __getattr__(self, name: str) -> Any:
        return getattr(self.table, name)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> "pandas.DataFrame":
        """Return it as a data frame of pandas.

        Raises:
            MissingExtraError: pandas or pyarrow is not installed: ``pip install 'penstock[pandas]'``.
        """
        return pandas_frame(self.table)

    def to_polars(self) -> "polars.DataFrame":
        """Return it as a data frame of polars.

        Raises:
            MissingExtraError: polars is not installed: ``pip install 'penstock[polars]'``.
        """
        return polars_frame(self.table)


def read_fct(path: str | os.PathLike[str]) -> Completions:
    """Read a file of flow completion times as a table with the columns of ``Result.completions``.

    A flow is called f0, f1, … in the order of the file and belongs to the group p and its destination port, which
    tells background (100) from incast (200) there; node 7 is h7. ``slowdown`` is the flow completion time over that on
    an empty network, as the file has both: to the last acknowledgement, at the sender. ``acked_s`` and ``end_s`` are
    this end, and both ideal times the file's. The file does not tell retransmissions and timeouts, which are null.

        >>> slowdowns({"ours": [result], "theirs": [read_fct("fct.txt")]})

    Raises:
        ExchangeError: a line is none of a completed flow; the message has it.
        OSError: the file cannot be read.
    """
    from arro3.core import Array, DataType, Table, list_array

    found = parse(files.read_text(Path(path), OCTETS_MAX, ExchangeError), os.fspath(path))
    texts, octets, seconds = DataType.utf8(), DataType.uint64(), DataType.float64()
    nothing = Array([None] * len(found), octets)
    # A flow has one destination here: the list of each ends where the next begins.
    ends = Array(range(len(found) + 1), DataType.int32())
    columns: dict[str, Any] = {
        "flow": Array([f"f{number}" for number in range(len(found))], texts),
        "group": Array([f"p{at.port}" for at in found], texts),
        "source": Array([f"h{at.source}" for at in found], texts),
        "destinations": list_array(ends, Array([f"h{at.destination}" for at in found], texts)),
        "size_octets": Array([at.octets for at in found], octets),
        "start_s": Array([at.start_ns / 1e9 for at in found], seconds),
        "end_s": Array([(at.start_ns + at.fct_ns) / 1e9 for at in found], seconds),
        "acked_s": Array([(at.start_ns + at.fct_ns) / 1e9 for at in found], seconds),
        "ideal_s": Array([at.ideal_ns / 1e9 for at in found], seconds),
        "ideal_acked_s": Array([at.ideal_ns / 1e9 for at in found], seconds),
        "slowdown": Array([at.fct_ns / at.ideal_ns for at in found], seconds),
        "retransmissions": nothing,
        "timeouts": nothing,
    }
    return Completions(Table.from_pydict(columns))


def _address(node: int) -> str:
    """Return the address of a node, eight hexadecimal digits."""
    return f"{_FIRST_ADDRESS + (node << 8):08x}"


def _node(lines: Lines, word: str) -> int:
    """Return the node that has an address, or whose number it is."""
    if _NODE.fullmatch(word) and int(word) < NODES_MAX:
        return int(word)
    lines.match(_ADDRESS, word, "an address in eight hexadecimal digits", _address(1))
    node, rest = divmod(int(word, 16) - _FIRST_ADDRESS, 256)
    if rest or not 0 <= node < NODES_MAX:
        raise lines.error(f"{word} is the address of no node; node 1 has {_address(1)}, and each next one 100 more")
    return node
