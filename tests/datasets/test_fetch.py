"""Downloads from a server that answers well, wrongly, not at all, or stops half-way."""

import hashlib
import os

import pytest

from featsieve.datasets.load import fetch
from tests.datasets.internet import internet, toy_entry

CONTENT = os.urandom(300_000)


@pytest.fixture
def net():
    with internet() as served:
        served.pages["/toy.npz"] = CONTENT
        yield served


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FEATSIEVE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def files_in(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_another_file_is_refused_with_both_checksums(net, cache):
    net.pages["/toy.npz"] = other = CONTENT[::-1]
    entry = toy_entry(CONTENT, url=f"{net.url}/toy.npz")
    with pytest.raises(
        ValueError, match="is not the file that the committed results of toy"
    ) as info:
        fetch(entry)
    message = str(info.value)
    assert hashlib.sha256(CONTENT).hexdigest() in message
    assert hashlib.sha256(other).hexdigest() in message
    assert entry.url in message
    assert "read_table" in message
    assert files_in(cache) == []


@pytest.mark.parametrize("sent", [0, 150_000])
def test_a_transfer_that_stops_leaves_nothing_and_can_be_repeated(net, cache, sent):
    entry = toy_entry(CONTENT, url=f"{net.url}/toy.npz")
    net.cut_after = sent
    with pytest.raises(OSError, match="toy could not be downloaded"):
        fetch(entry)
    assert files_in(cache) == []
    net.cut_after = None
    assert fetch(entry).read_bytes() == CONTENT


def test_without_a_checksum_nothing_is_downloaded(net, cache):
    with pytest.raises(ValueError, match=r"no known checksum.*the toy shop"):
        fetch(toy_entry(CONTENT, url=f"{net.url}/toy.npz", sha256=None))
    assert net.requests == []
