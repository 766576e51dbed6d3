"""A static server for the page, bound to the loopback address."""

from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from penstock.errors import ArgumentError

PAGE = Path(__file__).resolve().parent / "page"
"""The folder of the page."""

BUILD = "make lab"
"""The command that builds it, in a checkout."""

OPENED = "opened.toml"
"""The name under which the page finds the scenario that it opens."""
EMBEDDED = "embed.html"
"""The page that another page may show in a frame: the picture alone, whose controls change nothing outside of it."""

# The page's policy, also for the Worker, which has no <meta>.
_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; "
    "style-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'"
)
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".toml": "text/plain; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
}


def page_files(page: Path = PAGE) -> dict[str, bytes]:
    """Return the files of the page by their names.

    Raises:
        ArgumentError: the page has not been built.
    """
    if not (page / "index.html").is_file():
        raise ArgumentError(f"{page}: the laboratory's page has not been built", f"{BUILD} builds it, in a checkout")
    return {path.relative_to(page).as_posix(): path.read_bytes() for path in page.rglob("*") if path.is_file()}


class Server:
    """Serves the page, and with it a scenario, until it is closed.

    Use it in a ``with`` statement; :meth:`serve` answers requests until an interrupt.

    Args:
        scenario: text of the scenario that the page opens; without one it opens its first.
        port: the port on the loopback address; 0 for a free one.
        page: the folder of the page.

    Raises:
        ArgumentError: the page has not been built, or the port is taken.
    """

    def __init__(self, scenario: str | None = None, *, port: int = 0, page: Path = PAGE) -> None:
        # Read once: nothing but these files can be asked for.
        files = page_files(page)
        if scenario is not None:
            files[OPENED] = scenario.encode()
        handler = type("Handler", (_Handler,), {"files": files})
        try:
            self._server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        except OSError as error:
            raise ArgumentError(f"port {port} cannot be opened: {error.strerror}", "name another one, or 0") from None
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/" + ("" if scenario is None else "?opened")
        """The address of the page."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.server_close()

    def serve(self) -> None:
        """Answers requests until an interrupt, or until :meth:`stop` is called in another thread."""
        self._server.serve_forever()

    def stop(self) -> None:
        """Lets :meth:`serve` return."""
        self._server.shutdown()


class _Handler(BaseHTTPRequestHandler):
    """Answers with a file out of a list."""

    files: ClassVar[dict[str, bytes]] = {}
    # A page elsewhere could point its name at this machine: only names of this machine are answered.
    hosts: ClassVar[tuple[str, ...]] = ("127.0.0.1", "localhost")

    def do_GET(self) -> None:
        host = self.headers.get("Host", "").rsplit(":", 1)[0]
        name = self.path.split("?")[0].split("#")[0].removeprefix("/") or "index.html"
        data = self.files.get(name)
        if host not in self.hosts or data is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", _TYPES.get(Path(name).suffix, "application/octet-stream"))
        self.send_header("Content-Length", str(len(data)))
        ancestors = "" if name == EMBEDDED else "; frame-ancestors 'none'"
        self.send_header("Content-Security-Policy", f"{_POLICY}{ancestors}")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-cache")
        self.end_headers()
        # A page that is closed or reloaded breaks its requests off.
        with suppress(ConnectionError):
            self.wfile.write(data)

    def log_message(self, format: str, *arguments: object) -> None:
        """Says nothing: requests of the page are of no interest."""
