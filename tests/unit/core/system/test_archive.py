import errno
import shutil
import stat
import struct
import subprocess
import zipfile

import pytest

from orchestrator.core import archive
from orchestrator.core.diagnostics import FmuError


@pytest.fixture
def make_zip(tmp_path):
    def make(*entries, compression=zipfile.ZIP_DEFLATED):
        path = tmp_path / "test.zip"
        with zipfile.ZipFile(path, "w", compression) as made:
            for name, content in entries:
                made.writestr(name, content)
        return path

    return make


def test_extract(make_zip, tmp_path):
    path = make_zip(("a.txt", "one"), ("sub/b.txt", "two"))
    archive.extract(path, tmp_path / "out", FmuError)
    assert (tmp_path / "out" / "sub" / "b.txt").read_text() == "two"


@pytest.mark.parametrize(
    "name", ["../evil", "sub/../../evil", "/etc/evil", "..\\evil", "C:\\evil", "C:evil"]
)
def test_escape(make_zip, tmp_path, name):
    path = make_zip(("good.txt", "x"), (name, "x"))
    with pytest.raises(FmuError, match="would be written outside"):
        archive.extract(path, tmp_path / "out", FmuError)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["", "."])
def test_an_entry_without_a_name(make_zip, tmp_path, name):
    path = make_zip(("good.txt", "x"), (zipfile.ZipInfo("x" if name else ""), "x"))
    if name:
        path = make_zip((name, "x"))
    with pytest.raises(FmuError, match="an entry has no name; the file was not unpacked"):
        archive.extract(path, tmp_path / "out", FmuError)


def test_a_full_disk_is_no_damage(make_zip, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    path = make_zip(("a.txt", "x"))
    monkeypatch.setattr(zipfile.ZipFile, "extractall", full)
    expected = "the archive cannot be unpacked to .*out: No space left on device"
    with pytest.raises(FmuError, match=expected):
        archive.extract(path, tmp_path / "out", FmuError)


def test_a_really_full_disk(make_zip, tmp_path):
    """A file system of 64 KiB, where this user may mount one."""
    small = tmp_path / "small"
    small.mkdir()
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=64k", "none", str(small)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode:  # noqa: S603
        pytest.skip("this user may not mount a file system")
    try:
        path = make_zip(("a.bin", bytes(1_000_000)))
        with pytest.raises(FmuError, match=r"cannot be unpacked to .*: No space left on device"):
            archive.extract(path, small / "out", FmuError)
    finally:
        subprocess.run([shutil.which("umount"), str(small)], check=True)  # noqa: S603


def test_symbolic_link(make_zip, tmp_path):
    entry = zipfile.ZipInfo("link")
    entry.create_system = 3
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    with pytest.raises(FmuError, match="'link' would be written outside"):
        archive.extract(make_zip((entry, "/etc")), tmp_path / "out", FmuError)


def test_bombs(make_zip, monkeypatch):
    path = make_zip(("zeros", bytes(10_000)), ("more", "x"))
    assert path.stat().st_size < 1000
    monkeypatch.setattr(archive, "MOST_BYTES", 10_000)
    with pytest.raises(
        FmuError, match=r"of \d+ bytes unpacks to 10001 bytes; expected at most 10000"
    ):
        archive.open_archive(path, FmuError)
    monkeypatch.setattr(archive, "MOST_BYTES", 20_000)
    monkeypatch.setattr(archive, "MOST_ENTRIES", 1)
    with pytest.raises(FmuError, match="has 2 files; expected at most 1"):
        archive.open_archive(path, FmuError)


def test_much_more_than_is_packed_is_refused_unless_it_is_allowed(make_zip, monkeypatch, tmp_path):
    path = make_zip(("zeros", bytes(1_000_000)))
    monkeypatch.setattr(archive, "FREE_BYTES", 1000)
    with pytest.raises(FmuError, match="environment variable SOFTDOCK_MOST_UNPACKED=1000000"):
        archive.extract(path, tmp_path / "out", FmuError)
    monkeypatch.setenv("SOFTDOCK_MOST_UNPACKED", "1000000")
    archive.extract(path, tmp_path / "out", FmuError)
    assert (tmp_path / "out" / "zeros").stat().st_size == 1_000_000


def test_folders_without_end_are_refused(make_zip):
    path = make_zip(("/".join(["d"] * 2000), "x"))
    with pytest.raises(FmuError, match="an entry lies 2000 folders deep; expected at most 64"):
        archive.open_archive(path, FmuError)


def test_a_size_that_lies_is_not_believed(make_zip, tmp_path):
    """The directory says 10 bytes, the data unpack to 10000: what is beyond is not written."""
    path = make_zip(("zeros", bytes(10_000)))
    content = bytearray(path.read_bytes())
    at = content.find(b"PK\x01\x02") + 24  # uncompressed size in the central directory
    assert struct.unpack_from("<I", content, at) == (10_000,)
    struct.pack_into("<I", content, at, 10)
    path.write_bytes(content)
    with pytest.raises(FmuError, match="damaged"):
        archive.extract(path, tmp_path / "out", FmuError)
    assert (tmp_path / "out" / "zeros").stat().st_size <= 10


@pytest.mark.parametrize("content", [b"", b"no zip archive", b"PK\x03\x04 and no directory"])
def test_no_zip(tmp_path, content):
    path = tmp_path / "test.zip"
    path.write_bytes(content)
    with pytest.raises(FmuError, match=r"test\.zip: expected a zip archive, but it cannot be read"):
        archive.open_archive(path, FmuError)


def test_missing(tmp_path):
    with pytest.raises(FmuError, match=r"no\.zip: no such file"):
        archive.open_archive(tmp_path / "no.zip", FmuError)
    with pytest.raises(FmuError, match="no such file"):
        archive.open_archive(tmp_path, FmuError)


@pytest.mark.parametrize(
    "compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_damaged_entry(make_zip, tmp_path, compression):
    path = make_zip(("a.txt", bytes(range(256)) * 9), compression=compression)
    content = bytearray(path.read_bytes())
    content[50:90] = b"\xff" * 40
    path.write_bytes(content)
    with pytest.raises(FmuError, match="damaged"):
        archive.extract(path, tmp_path / "out", FmuError)
    with (
        archive.open_archive(path, FmuError) as opened,
        pytest.raises(FmuError, match=r"'a\.txt' is damaged"),
    ):
        archive.read_entry(path, opened, "a.txt", FmuError)


def test_encrypted_entry(make_zip, tmp_path):
    path = make_zip(("a.txt", "x"))
    content = bytearray(path.read_bytes())
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.find(magic) + offset] |= 1
    path.write_bytes(content)
    with pytest.raises(FmuError, match="password"):
        archive.extract(path, tmp_path / "out", FmuError)


def test_read_entry_that_is_not_there(make_zip):
    path = make_zip(("a.txt", "x"))
    with (
        archive.open_archive(path, FmuError) as opened,
        pytest.raises(FmuError, match=r"has no 'b\.txt'"),
    ):
        archive.read_entry(path, opened, "b.txt", FmuError)


def test_xml():
    assert archive.parse_xml(b"<a><b/></a>", "here", FmuError).tag == "a"
    for wrong in (b"", b"<a>", b"<a/><b/>", b'<?xml version="1.0" encoding="none"?><a/>'):
        with pytest.raises(FmuError, match="here: malformed XML"):
            archive.parse_xml(wrong, "here", FmuError)


@pytest.mark.parametrize(
    "doctype",
    [
        "<!DOCTYPE a>",
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE a [<!ENTITY x "xx"><!ENTITY y "&x;&x;">]>',
        '<!DOCTYPE a SYSTEM "http://localhost/a.dtd">',
    ],
)
def test_document_types_are_refused(doctype):
    with pytest.raises(FmuError, match="document type declaration"):
        archive.parse_xml(f"{doctype}<a/>".encode(), "here", FmuError)
