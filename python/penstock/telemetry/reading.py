"""A file of watermarks and counters, of either form."""

from dataclasses import replace
from pathlib import Path

from penstock.errors import TextFileError
from penstock.telemetry.columns import Columns, read_columns
from penstock.telemetry.measures import Measure, Sample
from penstock.telemetry.show_output import is_show_output, read_show

_OCTETS_MAX = 200_000_000
"""The longest file that is read, octets."""


def read(
    path: str | Path,
    *,
    device: str | None = None,
    columns: Columns | None = None,
    measure: Measure | None = None,
) -> list[Sample]:
    """Return the values of a file: the output of SONiC's ``show`` commands, or CSV if ``columns`` are given.

    Args:
        path: the file.
        device: the device that it was read on, whatever the file says; by default the file says so.
        columns: the columns of a CSV file.
        measure: the watermark or counter of a CSV file, where no column has it.

    Raises:
        TextFileError: it cannot be read, is neither, or has a wrong line, which is named.
    """
    name = str(path)
    try:
        if Path(path).stat().st_size > _OCTETS_MAX:
            raise TextFileError(name, None, f"the file is longer than {_OCTETS_MAX} octets; split it")
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise TextFileError(name, None, "this is no text in UTF-8") from error
    except OSError as error:
        raise TextFileError(name, None, f"it cannot be read: {error.strerror}") from error
    if columns is not None:
        samples = read_columns(text, name, columns, measure)
    elif is_show_output(text):
        samples = read_show(text, name)
    else:
        reason = "this is no output of SONiC's show commands; of a CSV file, name the columns (--measured-columns)"
        raise TextFileError(name, None, reason)
    if not samples:
        raise TextFileError(name, None, "there is no value in it")
    return [replace(sample, device=device or sample.device) for sample in samples]
