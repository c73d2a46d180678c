"""Fetching data sets from a server of our own: whole, cut off, continued, wrong, refused."""

from __future__ import annotations

import contextlib
import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from mnemic.bench.datasets import download as module
from mnemic.bench.datasets.download import DownloadFailed, Published, download
from mnemic.errors import InvalidInput, MnemicError

WORDS = b"".join(b"line %d\n" % i for i in range(40_000))


class Server(ThreadingHTTPServer):
    """Serves one content under every name.

    Attributes:
        content: What.
        cut: Bytes after which it breaks off, of what was asked for.
        ranges: Whether it can go on from a byte.
        lengths: Whether it says how long its answer is.
        status: Refuses with it, where it is not 200.
        asked: The path and range of each request.
    """

    daemon_threads = True
    content = WORDS
    cut: int | None = None
    ranges = True
    lengths = True
    status = 200

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked = []


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        server = self.server
        span = self.headers.get("Range")
        server.asked.append((self.path, span))
        start = int(span.removeprefix("bytes=").rstrip("-")) if span and server.ranges else 0
        if server.status != 200 or start >= len(server.content) > 0:
            self.send_error(server.status if server.status != 200 else 416)
            return
        body = server.content[start:]
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(server.content) - 1}/{len(server.content)}")
        if server.lengths:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(body[: server.cut])
        self.close_connection = True


@pytest.fixture
def server():
    one = Server()
    thread = threading.Thread(target=one.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield one
    one.shutdown()
    thread.join()
    one.server_close()


@pytest.fixture
def address(server):
    return f"http://127.0.0.1:{server.server_port}/folder"


@pytest.fixture
def published(monkeypatch, address):
    """One small file stands for LoCoMo."""
    file = Published("locomo/locomo10.json", len(WORDS), hashlib.sha256(WORDS).hexdigest(), f"{address}/authors.json")
    monkeypatch.setattr(module, "PUBLISHED", {**module.PUBLISHED, "locomo": (file,)})
    return file


@pytest.fixture
def place(tmp_path, published):
    """Where the file goes; the folder does not exist yet."""
    return tmp_path / "data" / published.path


@pytest.fixture
def fetch(tmp_path, published):
    return lambda **given: download("locomo", tmp_path / "data", **given)


def left(place):
    """The names in the file's folder."""
    return sorted(path.name for path in place.parent.iterdir())


def test_a_file_is_fetched_from_its_authors_once(server, fetch, place):
    seen = []
    assert fetch(progress=seen.append) == (place,)
    assert place.read_bytes() == WORDS
    assert sum(seen) == len(WORDS)
    assert left(place) == ["locomo10.json"]
    fetch()
    assert server.asked == [("/folder/authors.json", None)]


def test_a_folder_of_ones_own_holds_the_files_by_their_names(server, fetch, address, place):
    fetch(address=f"{address}/")
    assert [path for path, _ in server.asked] == ["/folder/locomo10.json"]
    assert place.read_bytes() == WORDS


def test_a_data_set_of_two_files(server, address, tmp_path, monkeypatch):
    pin = (len(WORDS), hashlib.sha256(WORDS).hexdigest())
    several = (Published("personamem/q.csv", *pin), Published("personamem/c.jsonl", *pin))
    monkeypatch.setattr(module, "PUBLISHED", {"personamem": several})
    assert download("personamem", tmp_path, address=address) == tuple(tmp_path / file.path for file in several)
    assert [path for path, _ in server.asked] == ["/folder/q.csv", "/folder/c.jsonl"]


def test_what_was_cut_off_goes_on(server, fetch, place):
    server.cut = 100_000
    with pytest.raises(DownloadFailed, match=r"broke off after 100,000 of .* bytes, which are kept; run it again"):
        fetch()
    assert left(place) == ["locomo10.json.part"]
    with pytest.raises(DownloadFailed, match="broke off after 200,000"):
        fetch()
    server.cut = None
    fetch()
    assert [span for _, span in server.asked] == [None, "bytes=100000-", "bytes=200000-"]
    assert place.read_bytes() == WORDS
    assert left(place) == ["locomo10.json"]


def test_an_interrupt_keeps_what_came_and_the_file_never_appears_half(server, fetch, place):
    seen = []

    def interrupt(count):
        seen.append(count)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(progress=interrupt)
    assert left(place) == ["locomo10.json.part"]
    kept = (place.parent / "locomo10.json.part").read_bytes()
    assert kept == WORDS[: sum(seen)]
    fetch()
    assert server.asked[1][1] == f"bytes={len(kept)}-"
    assert place.read_bytes() == WORDS


def test_a_server_that_cannot_go_on_is_read_from_the_beginning(server, fetch, place):
    server.cut = 100_000
    with pytest.raises(DownloadFailed):
        fetch()
    server.cut, server.ranges = None, False
    fetch()
    assert place.read_bytes() == WORDS


@pytest.mark.parametrize("lengths", [True, False])
def test_a_part_that_is_complete_or_too_long_needs_no_luck(server, fetch, place, lengths):
    server.lengths = lengths
    place.parent.mkdir(parents=True)
    part = place.with_name("locomo10.json.part")
    part.write_bytes(WORDS)
    fetch()
    assert server.asked == []
    place.unlink()
    part.write_bytes(WORDS + b"more")
    fetch()
    assert place.read_bytes() == WORDS
    assert server.asked == [("/folder/authors.json", None)]


def test_another_file_of_the_same_size_is_thrown_away(server, fetch, place):
    server.content = WORDS[::-1]
    with pytest.raises(DownloadFailed, match=f"gave another file than mnemic was measured on .SHA-256 {'.' * 64}, not"):
        fetch()
    assert left(place) == []
    server.content = WORDS
    fetch()
    assert place.read_bytes() == WORDS


def test_a_part_of_another_file_is_found_out(server, fetch, place):
    place.parent.mkdir(parents=True)
    place.with_name("locomo10.json.part").write_bytes(b"x" * 1000)
    with pytest.raises(DownloadFailed, match="another file"):
        fetch()
    fetch()
    assert place.read_bytes() == WORDS


@pytest.mark.parametrize("content", [b"<html>sign in</html>", WORDS * 2], ids=["shorter", "longer"])
def test_a_file_of_another_size_is_not_even_read(server, fetch, place, content):
    server.content = content
    with pytest.raises(DownloadFailed, match="has another size than the file mnemic was measured on"):
        fetch()
    assert left(place) == []


def test_a_server_that_never_ends_does_not_fill_the_disk(server, fetch, place):
    server.content, server.lengths = WORDS * 50, False
    seen = []
    with pytest.raises(DownloadFailed, match="has another size"):
        fetch(progress=seen.append)
    assert sum(seen) <= len(WORDS)
    assert left(place) == []


def test_a_server_shorter_than_the_part_is_asked_again_from_the_beginning(server, fetch, place):
    place.parent.mkdir(parents=True)
    place.with_name("locomo10.json.part").write_bytes(WORDS[:1000])
    server.content = WORDS[:500]
    with pytest.raises(DownloadFailed, match="another size"):
        fetch()
    assert [span for _, span in server.asked] == ["bytes=1000-", None]
    assert left(place) == []


@pytest.mark.parametrize("status", [404, 403, 500])
def test_a_refusal_is_said(server, fetch, status, place):
    server.status = status
    with pytest.raises(DownloadFailed, match=rf"authors\.json: the server refuses \({status} "):
        fetch()
    assert left(place) == []


def test_a_server_that_is_not_there(fetch, place):
    with pytest.raises(DownloadFailed, match="cannot be reached"):
        fetch(address="http://127.0.0.1:9/folder", timeout=2.0)
    assert left(place) == []


def test_a_file_of_the_users_own_is_never_overwritten(server, fetch, place):
    place.parent.mkdir(parents=True)
    place.write_bytes(b"mine")
    with pytest.raises(DownloadFailed, match="is there already, and is another file; move it away first"):
        fetch()
    assert place.read_bytes() == b"mine"
    assert server.asked == []


def test_a_place_that_cannot_be_written(fetch, place):
    place.parent.parent.write_bytes(b"a file where the folder should be")
    with pytest.raises(DownloadFailed, match="cannot be written"):
        fetch()


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://host/x", "folder", ""])
def test_only_web_addresses_are_fetched(fetch, address):
    with pytest.raises(InvalidInput, match="is no web address"):
        fetch(address=address)


@pytest.mark.parametrize("name", ["personamem", "longmemeval"])
def test_what_has_no_address_of_its_own_asks_for_one(tmp_path, name):
    with pytest.raises(InvalidInput, match="mnemic knows no address"):
        download(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_error_is_one_of_ours():
    assert issubclass(DownloadFailed, MnemicError)
