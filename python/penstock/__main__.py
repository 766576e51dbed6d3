"""``penstock`` and ``python -m penstock``: the command line as a process."""

# Nothing else is imported before signals are taken over.
from penstock import interrupts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> "NoReturn":
    """Run the command line, and end the process with its exit status."""
    interrupts.install()
    import gc
    import os
    import sys

    # Python looks for cycles of garbage after every 700 new objects, and again and again among those that stay, as the
    # modules of matplotlib and a large summary do. To look less often saves a tenth of the time of a short run.
    gc.set_threshold(200_000, 10, 10)
    # Commands write files: a back end of notebooks or windows is of no use to them, and may not be there.
    os.environ["MPLBACKEND"] = "agg"
    # Matrices of theory have a hundred rows: threads wait for each other, beside other work forty times as long as one.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from penstock import terminal

    terminal.take_over()
    status: object = 0
    try:
        from penstock.cli import app

        app()
    except SystemExit as end:
        status = end.code
    except BaseException as error:
        status = 1
        if isinstance(error, OSError) and error.filename is None:
            # Help and version are written where no command reports failures.
            print(f"error: standard output: {error.strerror}", file=sys.stderr)
        else:
            # A fault of Penstock's own: the traceback says where.
            sys.excepthook(*sys.exc_info())
    interrupts.finish(status if isinstance(status, int) else 0 if status is None else 1)


if __name__ == "__main__":
    main()
