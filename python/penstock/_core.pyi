"""The native module: scenarios, runs and results.

Nested data is JSON text here; the package ``penstock`` makes Python objects of it.
"""

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, final

from arro3.core import Table

from penstock._core_runs import Agents as Agents
from penstock._core_runs import Pool as Pool
from penstock._core_runs import Stepper as Stepper
from penstock._core_schemes import Acknowledgement as Acknowledgement
from penstock._core_schemes import Frame as Frame
from penstock._core_schemes import GoldenRateCalculator as GoldenRateCalculator
from penstock._core_schemes import GoldenSampler as GoldenSampler
from penstock._core_schemes import GoldenTokenBucket as GoldenTokenBucket
from penstock._core_schemes import Queue as Queue
from penstock._core_schemes import Signal as Signal
from penstock._core_schemes import golden_jitter as golden_jitter
from penstock._core_schemes import scheme_conforms as scheme_conforms
from penstock._core_schemes import scheme_methods as scheme_methods

__version__: str

class PenstockError(Exception):
    """An error that Penstock reports."""

class ScenarioError(PenstockError):
    """A scenario that cannot be run."""

    file: str
    """The file, or words that stand for it."""
    line: int | None
    """The line, counted from 1."""
    key: str | None
    """The key, as a dotted path."""
    message: str
    """The fault."""
    hint: str | None
    """A remedy."""

class LimitError(PenstockError):
    """A run that came to more than a scenario may ask for."""

    hint: str
    """Smaller values to try, and how the limits are raised."""

class OutputError(PenstockError):
    """A results folder that cannot be written or read."""

    refused: bool
    """Whether another name, or leave to replace the file that has it, would help."""
    hint: str | None
    """A remedy, if there is one."""

def schemes() -> str:
    """Every scheme, as a JSON list.

    :class:`penstock.declared.Scheme` has their keys.
    Numbers are in the parameter's unit: "octets", "s", "bit/s", "count" or "ratio". The unit of a word is the list of
    words, "a | b"; that of a switch "true or false"; neither has a minimum or a maximum. ``written`` gives default,
    minimum and maximum, or a profile's settings, as a scenario file would have them: "33 KB".
    """

def scheme(text: str) -> tuple[str | None, str, str]:
    """The scheme of this name or at this location, as JSON; or ``None``, a reason, and a remedy."""

def schema() -> str:
    """The JSON schema of a scenario file."""

def reference() -> str:
    """Every key of a scenario file, as a JSON list."""

def limits() -> str:
    """Every limit of what a scenario may ask for, as a JSON list.

    Each has what, most and meaning.
    """

def read_quantity(text: str, unit: str) -> float:
    """Read a text such as "33 KB", and return the number in ``unit``: "octets", "s", "bit/s", "count" or "ratio".

    The last two have no unit, and neither has their text.

    Raises:
        ValueError: the text is not a quantity in this unit; its arguments are the message and a hint.
    """

def write_quantity(number: float, unit: str) -> str:
    """Write a number in ``unit`` as a text such as "33.1 KB", rounded to whole octets, picoseconds or bit/s.

    Raises:
        ValueError: it is negative, infinite, too large, or not a number.
    """

def show_quantity(number: float, unit: str) -> str:
    """Write a measured number in ``unit`` as a person reads it, with three digits: "33.1 KB", "119 Mb/s", "3.70 ms".

    Raises:
        ValueError: there is no such unit.
    """

def show_share(fraction: float) -> str:
    """Write a fraction in percent, such as "95.2 %"."""

def job_text(
    files: list[tuple[str, bytes]], complete: bool, control_deps: bool, groups: dict[str, list[int]]
) -> tuple[str, int, list[str]]:
    """Return the files of one job as the text that ``[[job]]`` takes, its number of ranks, and notes.

    ``groups`` has the ranks of Chakra's groups by their names.

    Raises:
        ValueError: a file is no job graph, or its graph cannot end; with file and place.
    """

def job_files(
    files: list[tuple[str, bytes]],
    complete: bool,
    control_deps: bool,
    groups: dict[str, list[int]],
    to: str,
    messages: bool,
) -> tuple[list[tuple[str, bytes]], list[str]]:
    """Return the files of one job as files of a format, each with the ending of its name, and notes.

    ``to`` is "goal", "et" or "json"; ``messages`` writes collectives as their messages.

    Raises:
        ValueError: a file is no job graph, its graph cannot end, or the format cannot express it.
    """

def metrics() -> str:
    """Every metric, as a JSON array of objects with the attributes of :class:`penstock.metrics.registry.Metric`.

    A source is ``{"keys": […]}``, ``{"flows": [OVER, KEY]}`` or ``"function"``.
    """

def objects() -> str:
    """Every object of a summary, as a JSON list, those that hold others after them.

    Each has name, description, base (the object whose keys it has too, or null) and keys (each with name, type, unit,
    description, optional). ``type`` is Python's, with the names of other objects. A key that is optional is not there
    in every run.
    """

def description_objects() -> str:
    """Every object of a scenario's description, in the form of :func:`objects`."""

def catalogue_objects() -> str:
    """Every object of :func:`schemes` and :func:`reference`, in the form of :func:`objects`."""

def tables() -> str:
    """Every table of a result, as a JSON list.

    Each has name, description and columns (each with name, unit, description). The columns of a scheme's own variables
    are not among them.
    """

@final
class Folder:
    """The folder of a comparison or a report under way: whole under its final name, or not there at all."""

    @staticmethod
    def create(path: str | PathLike[str], force: bool, report: bool = False) -> Folder:
        """Start the folder that is to be ``path``, of a comparison or of a report.

        Raises:
            OutputError: the folder exists and ``force`` is not set or it holds something else, or it cannot be made.
        """

    @property
    def partial(self) -> Path:
        """Where everything is written until the folder is whole."""

    def publish(self) -> None:
        """Give the folder its name.

        Raises:
            OutputError: something else has come to the name, or the system refuses.
        """

    def discard(self) -> None:
        """Remove the folder, unless it has its name."""

@final
class Scenario:
    """A scenario file."""

    @staticmethod
    def load(path: str | PathLike[str]) -> Scenario:
        """Read a file.

        Raises:
            ScenarioError: there is none, or it is not TOML.
        """

    @staticmethod
    def parse(text: str, origin: str = "<string>", name: str = "scenario", keys_set: Sequence[str] = ()) -> Scenario:
        """Read text; ``origin`` stands for the file in messages, ``keys_set`` are keys of the text that count as set.

        Raises:
            ScenarioError: the text is not TOML.
        """

    def copy(self) -> Scenario:
        """Copy the scenario."""

    @property
    def origin(self) -> str:
        """The file, or the words that stand for it in messages."""

    @property
    def keys_set(self) -> list[str]:
        """The keys that were set, as dotted paths."""

    def set(self, key: str, value: str) -> None:
        """Set the key with the dotted path ``key``, such as ``flow.0.rate``; ``value`` is TOML or bare text.

        Raises:
            ScenarioError: the path leads nowhere.
        """

    @property
    def name(self) -> str:
        """The scenario's name."""

    @property
    def question(self) -> str:
        """The question that it answers."""

    @property
    def scheme(self) -> str:
        """The scheme that runs unless another is chosen."""

    @property
    def schemes(self) -> list[str]:
        """The schemes that the scenario has settings for."""

    def toml(self) -> str:
        """Give the scenario as it was read, with what was set."""

    def resolved(
        self, scheme: str | None = None, profile: str | None = None, seed: int | None = None, limit: int = 1
    ) -> str:
        """Give the scenario with every default written out, as TOML.

        Raises:
            ScenarioError: the scenario cannot be run.
        """

    def describe(
        self, scheme: str | None = None, profile: str | None = None, seed: int | None = None, limit: int = 1
    ) -> str:
        """Give what would run, as a JSON object.

        It has name, question, scheme, profile, seed, duration_s, warmup_s, interval_s, nodes (each with name and kind),
        queues (names), flows (each with name, source, destinations), and fair (each with start_s, stop_s, max_min_bps,
        proportional_bps).

        Raises:
            ScenarioError: the scenario cannot be run.
        """

    def job_files(
        self, to: str, messages: bool = False, seed: int | None = None, limit: int = 1
    ) -> list[tuple[str, tuple[list[tuple[str, bytes]], list[str]]]]:
        """Give the name of each job, its files as :func:`job_files` returns them, and notes.

        Raises:
            ScenarioError: the scenario cannot be run.
            ValueError: the format cannot express a job.
        """

    def outline(
        self, scheme: str | None = None, profile: str | None = None, seed: int | None = None, limit: int = 1
    ) -> str:
        """Give what :meth:`describe` gives, without flows and fair.

        Raises:
            ScenarioError: the scenario cannot be run.
        """

    def run(
        self,
        scheme: str | None = None,
        profile: str | None = None,
        seed: int | None = None,
        out: str | PathLike[str] | None = None,
        force: bool = False,
        progress: Callable[[float, float, int, float], object] | None = None,
        limit: int = 1,
        pcap: list[str] = ...,
        threads: int | str = ...,
    ) -> Result:
        """Run the scenario, without Python's lock.

        Ctrl-C stops the run: its records until then are the result, and ``Result.interrupted`` is true.

        Args:
            scheme: runs instead of the scenario's.
            profile: where the scheme's parameters start from.
            seed: instead of the scenario's.
            out: the results folder. Without it, tables stay in memory.
            force: an older results folder of that name is replaced, once the new one is whole.
            progress: called about ten times a second with the simulated time (s), the duration (s), the events
                so far, and the time on the wall clock (s). It may set keys of the scenario, for later runs. It may
                raise KeyboardInterrupt to stop the run as Ctrl-C does; any other exception stops the run and is raised
                here.
            limit: a factor on every limit of what a scenario may ask for.
            pcap: ports whose frames are captured into ``capture.pcapng`` of the folder.
            threads: how many threads run it, from 1 to 1024, or "auto". They change nothing in the result.

        Raises:
            ScenarioError: the scenario cannot be run.
            LimitError: the run came to more than the limits allow; nothing is left of it.
            MemoryError: the system does not give the memory; nothing is left of the run.
            OutputError: the folder exists, or cannot be written.
        """

@final
class Result:
    """The result of a run."""

    @staticmethod
    def open(path: str | PathLike[str]) -> Result:
        """Open a results folder.

        Raises:
            OutputError: there is none, or it is not whole.
        """

    def measures(self, names: Sequence[tuple[str, bool]], queue: str | None = None) -> list[float | None]:
        """Return metrics, each by its name and by whether it is one of the queue of that name or of the run."""

    def row(self, columns: Sequence[str], queue: str | None = None) -> list[Any]:
        """Return the row of the run in a table of runs, judged by the queue of that name, or by its longest."""

    def summary_json(self, *, flows: bool = True) -> str:
        """Give the run in numbers, the object of ``summary.json``."""

    def brief_json(self) -> str:
        """Give the same without its queues, flows, hosts and windows."""

    def queues_shown(self) -> Table:
        """Give the queues of the summary, a row each: the keys by which they are chosen and shown, as columns."""

    @property
    def scenario_toml(self) -> str:
        """The scenario with every default written out."""

    @property
    def threads(self) -> tuple[int, str] | None:
        """How many threads ran it, and why; nothing for a run that was read from a folder."""

    @property
    def python_share(self) -> float | None:
        """The share of its time that the run spent in Python; None without a scheme there, or for a results folder."""

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped before its end."""

    @property
    def interrupted_at_s(self) -> float | None:
        """The simulated time at which it was stopped, s."""

    @property
    def acted(self) -> bool | None:
        """Whether the scheme has acted; nothing where the scenario does not claim so."""

    @property
    def lossless(self) -> bool | None:
        """Whether no data frame was lost; nothing where the scenario does not claim so."""

    @property
    def end_s(self) -> float:
        """The simulated time that the run reached, s."""

    @property
    def path(self) -> Path | None:
        """The results folder."""

    @property
    def tables(self) -> list[str]:
        """Names of the recorded tables."""

    def table(self, name: str) -> Table:
        """Give a table; from memory without a copy.

        Raises:
            KeyError: it was not recorded.
            OutputError: its file cannot be read.
        """

    def rows_of(self, name: str, columns: list[str], names: list[str] | None) -> Table:
        """Give the rows of some queues or flows, and of these some columns and that of the names; or all rows.

        Raises:
            KeyError: it was not recorded.
            OutputError: its file cannot be read.
        """

    def fingerprint(self) -> str:
        """Give a hash of all columns and of the summary without its ``run`` object.

        Raises:
            OutputError: a table's file cannot be read.
        """

def wire_formats() -> str:
    """Every format and every kind of frame, as a JSON object: ``formats`` and ``kinds``.

    A format has name, title, source, octets, fields; a field name, label (the standard's name), first_bit, bits,
    shown_as, reserved, meaning. A kind has name, title, formats (each with name and always), rest.
    """

def wire_decode(frame: bytes, original: int, ether_types: tuple[int, int, int | None]) -> str:
    """The layers of a frame that had ``original`` octets on the line, as a JSON list.

    Each has name, title, offset, octets, missing, encapsulated, fields (each with name, label, value, text), parts
    (pairs of name and text), fault, unchecked, notes.
    ``ether_types`` are those of SMCC, of other messages without one, and of congestion isolation messages.
    """

def wire_encode(kind: str, pairs: list[tuple[str, str]]) -> bytes:
    """The octets of a frame; ValueError says what is wrong with the texts."""

@final
class WireCapture:
    """A pcap or pcapng file in memory, with its frames up to the first damage."""

    def __new__(cls, file: bytes) -> WireCapture: ...
    def __len__(self) -> int:
        """How many frames it has."""

    def frame(self, number: int) -> tuple[int, str | None, int | None, bytes, int, str | None]:
        """Interface, its name, time in ns, octets, length on the line, comment."""

    @property
    def damage(self) -> tuple[int, str] | None:
        """The place and the fault where it could not be read on."""

def wire_stats(
    file: bytes,
    ether_types: tuple[int, int, int | None],
    bits_per_s: int | None,
    storm_ps: int | None = None,
    every_ns: int | None = None,
) -> str:
    """Counts of a capture, as a JSON object; ``bits_per_s`` stands for the rates of its interfaces.

    It has frames, octets, span_s, formats, tagged, cut, faulty, faults, not_ethernet, notified, paused, roce,
    queue_pairs, series, paused_series, damage.
    """

def wire_pcapng(interfaces: list[str], written: list[tuple[int, int, bytes, int, str | None]]) -> bytes:
    """A pcapng file: frames as interface, time in ns, octets, length on the line, comment."""

def dcb_objects() -> str:
    """Managed objects and the members of Linux's structures, as a JSON object: tables, qcn, qcn_stats, states.

    A table has name, per, clause, meaning, objects; an object key, name (the MIB's), variable, clause, values,
    writable, default, default_origin ("mib", "own" or null), parameter, meaning; a member name, octets, unit.
    """

def dcb_show(key: str, number: int) -> str:
    """A value of a managed object as a person reads it; KeyError if there is no such object."""

def dcb_fit(key: str, value: float) -> tuple[int, bool]:
    """The number of an object nearest to a parameter's value, which is in the catalogue's unit; whether it is equal."""

def dcb_read(member: str, text: str) -> int:
    """A text as the number of a member of Linux's structures.

    Raises:
        KeyError: there is no such member.
        ValueError: it is no value of it; its arguments are the message and a hint.
    """

def dcb_show_member(member: str, number: int) -> str:
    """A number of a member of Linux's structures as a person reads it."""

def dcb_get(device: str, sequence: int) -> bytes:
    """The request for a device's structures; ValueError if no device can have the name."""

def dcb_set(device: str, sequence: int, values: dict[str, list[int]]) -> bytes:
    """The request that gives a device other values, eight of each member of ``ieee_qcn``."""

def dcb_reply(octets: bytes, sequence: int) -> str:
    """The kernel's answer, as a JSON object: error (a number or null), qcn and stats (eight of each member, or null).

    Raises:
        ValueError: the octets are no answer to the request of this number.
    """

def dcb_negotiate(left: int, right: int) -> str:
    """The modes of two ports that face each other, as a JSON list of two lists.

    Bit n of ``left`` and ``right`` says that priority n is a congestion notification priority of that station. Each
    entry has priority, mode, alternate_priority, cn_tag_out, announces_cnpv, announces_ready, state.

    Raises:
        ValueError: all eight bits are set.
    """

class TestbedRunError(PenstockError):
    """A run on the testbed that cannot be made.

    Attributes:
        unsuited: whether it is the scenario that cannot run there.
    """

    unsuited: bool

def testbed_layout(toml: str) -> str:
    """The layout of a resolved scenario's testbed, as JSON.

    Raises:
        TestbedRunError: the testbed cannot do what the scenario asks for.
    """

def testbed_node(toml: str, node: str, origin_ns: int, real_time: bool, log: Path) -> None:
    """Run a node of a resolved scenario until its end, or until standard input, a socket with its wires, is closed.

    Raises:
        TestbedRunError: a wire or the record fails.
    """

def testbed_collect(
    toml: str,
    logs: Path,
    wall_s: float,
    unread: int,
    faults: list[str],
    out: Path | None = None,
    force: bool = False,
) -> Result:
    """Put the records of a run's nodes together, as a result of the simulator's kind.

    Raises:
        TestbedRunError: a record cannot be read.
        OutputError: the results cannot be written.
    """
