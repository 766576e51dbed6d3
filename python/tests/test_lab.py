"""The server of the laboratory's page: these files, this machine, and nothing else."""

import http.client
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.cli import app
from penstock.errors import ArgumentError
from penstock.lab import Server
from penstock.scenario import Scenario


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A page of two files."""
    (tmp_path / "page/scenarios").mkdir(parents=True)
    (tmp_path / "page/index.html").write_text("<!doctype html>")
    (tmp_path / "page/engine.wasm").write_bytes(b"\0asm")
    (tmp_path / "secret").write_text("secret")
    return tmp_path / "page"


@pytest.fixture
def server(page: Path) -> Iterator[Server]:
    """The page with a scenario, served."""
    with Server('question = "Why?"\n', page=page) as server:
        thread = threading.Thread(target=server.serve, daemon=True)
        thread.start()
        yield server
        server.stop()
        thread.join()


def ask(server: Server, path: str, host: str | None = None) -> http.client.HTTPResponse:
    """The answer to a request, its path as it is."""
    connection = http.client.HTTPConnection("127.0.0.1", _port(server), timeout=10)
    connection.putrequest("GET", path, skip_host=host is not None)
    if host is not None:
        connection.putheader("Host", host)
    connection.endheaders()
    return connection.getresponse()


def _port(server: Server) -> int:
    return int(server.url.split(":")[2].split("/")[0])


def test_the_page_and_its_scenario_are_served_with_a_strict_policy(server: Server) -> None:
    assert server.url.endswith("/?opened")
    answer = ask(server, "/?opened")
    assert (answer.status, answer.read()) == (200, b"<!doctype html>")
    policy = answer.getheader("Content-Security-Policy") or ""
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy
    assert "'unsafe-eval'" not in policy
    assert ask(server, "/engine.wasm").getheader("Content-Type") == "application/wasm"
    assert ask(server, "/opened.toml").read() == b'question = "Why?"\n'


@pytest.mark.parametrize("path", ["/../secret", "/%2e%2e/secret", "/scenarios", "/scenarios/", "//etc/passwd", "/x"])
def test_nothing_else_is_served(server: Server, path: str) -> None:
    assert ask(server, path).status == 404


@pytest.mark.parametrize("host", ["example.org", "example.org:80", ""])
def test_a_name_of_another_machine_is_not_answered(server: Server, host: str) -> None:
    assert ask(server, "/", host).status == 404


def test_only_this_machine_is_answered(server: Server) -> None:
    with socket.socket() as other:
        other.settimeout(1)
        with pytest.raises(OSError):
            # Another address of the same machine.
            other.connect(("127.0.0.2", _port(server)))


def test_a_page_that_is_not_built_and_a_port_that_is_taken_are_told(page: Path, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="make lab"):
        Server(page=tmp_path / "none")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ArgumentError, match="cannot be opened"):
            Server(port=taken.getsockname()[1], page=page)


def test_a_request_that_is_broken_off_says_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    # More than the buffers of a connection hold, so that the server still writes when its reader has gone.
    (tmp_path / "index.html").write_bytes(bytes(50_000_000))
    with Server(page=tmp_path) as other:
        thread = threading.Thread(target=other.serve)
        thread.start()
        with socket.create_connection(("127.0.0.1", _port(other))) as reader:
            # Closed at once, whatever is still in flight.
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            reader.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            reader.recv(1000)
        # The next one is answered.
        assert ask(other, "/x").status == 404
        other.stop()
        thread.join()
    assert capfd.readouterr() == ("", "")


def test_a_wrong_scenario_is_refused_before_anything_is_served() -> None:
    result = CliRunner().invoke(app, ["lab", "no-such-scenario", "--no-browser"])
    assert result.exit_code == 2


def test_a_scenario_that_is_refused_is_refused_as_a_run_of_it_is(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    text = Scenario.named("baseline/ten-gig").to_toml()
    file.write_text(text.replace('scheme = "qcn"', 'scheme = "qcm"'))
    run = CliRunner().invoke(app, ["run", str(file), "--out", str(tmp_path / "out")])
    lab = CliRunner().invoke(app, ["lab", str(file), "--no-browser"])
    assert (lab.exit_code, lab.output) == (2, run.output)
    line = text.splitlines().index('scheme = "qcn"') + 1
    assert f"{file}:{line}: scheme: " in lab.output
    assert "qcn" in lab.output
