"""Downloads from a server that answers well, wrongly, not at all, or stops half-way."""

import hashlib
import os
import sys

import pytest

from featsieve.datasets.load import cache_folder, fetch
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


def test_a_file_is_downloaded_once(net, cache):
    entry = toy_entry(CONTENT, url=f"{net.url}/toy.npz")
    path = fetch(entry)
    assert path == cache / "paper" / "toy.npz"
    assert path.read_bytes() == CONTENT
    assert fetch(entry) == path
    assert net.requests == ["/toy.npz"]
    assert files_in(cache) == ["toy.npz"]


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


def test_not_found(net, cache):
    entry = toy_entry(CONTENT, url=f"{net.url}/gone.npz")
    with pytest.raises(OSError, match=r"toy could not be downloaded: 404 .*by hand .*the toy shop"):
        fetch(entry)
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


def test_the_cache_is_the_systems_unless_named(tmp_path, monkeypatch):
    monkeypatch.delenv("FEATSIEVE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder().name == "featsieve"
    if sys.platform == "linux":
        assert cache_folder() == tmp_path / "featsieve"
    monkeypatch.setenv("FEATSIEVE_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"


def test_a_download_without_end_is_ended(net, cache, monkeypatch):
    monkeypatch.setattr("featsieve.datasets.load.LARGEST_DOWNLOAD", 100_000)
    entry = toy_entry(CONTENT, url=f"{net.url}/toy.npz")
    with pytest.raises(OSError, match=r"not be downloaded: more than 97\.7 KiB .*by hand"):
        fetch(entry)
    assert files_in(cache) == []
