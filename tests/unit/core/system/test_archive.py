import errno
import shutil
import stat
import struct
import subprocess
import threading
import zipfile

import pytest

from orchestrator.core.diagnostics import FmuError
from orchestrator.core.files import archive


@pytest.fixture
def make_zip(tmp_path):
    def make(*entries, compression=zipfile.ZIP_DEFLATED):
        path = tmp_path / "test.zip"
        with zipfile.ZipFile(path, "w", compression) as zip_file:
            for name, content in entries:
                zip_file.writestr(name, content)
        return path

    return make


def test_extract(make_zip, tmp_path):
    path = make_zip(("a.txt", "one"), ("sub/b.txt", "two"))
    archive.extract(path, tmp_path / "out", FmuError)
    assert (tmp_path / "out" / "sub" / "b.txt").read_text() == "two"


@pytest.mark.parametrize(
    "name", ["../evil", "sub/../../evil", "/etc/evil", "..\\evil", "C:\\evil", "C:evil"]
)
def test_escape(make_zip, tmp_path, name, wording):
    path = make_zip(("good.txt", "x"), (name, "x"))
    with wording.raises(FmuError):
        archive.extract(path, tmp_path / "out", FmuError)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["", "."])
def test_an_entry_without_a_name(make_zip, tmp_path, name, wording):
    path = make_zip(("good.txt", "x"), (zipfile.ZipInfo("x" if name else ""), "x"))
    if name:
        path = make_zip((name, "x"))
    with wording.raises(FmuError):
        archive.extract(path, tmp_path / "out", FmuError)


def test_a_full_disk_is_no_damage(make_zip, tmp_path, monkeypatch, wording):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    path = make_zip(("a.txt", "x"))
    monkeypatch.setattr(zipfile.ZipFile, "extractall", full)
    with wording.raises(FmuError):
        archive.extract(path, tmp_path / "out", FmuError)


def test_a_really_full_disk(make_zip, tmp_path, wording):
    """A file system of 64 KiB, where this user may mount one."""
    small = tmp_path / "small"
    small.mkdir()
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=64k", "none", str(small)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode:  # noqa: S603
        pytest.skip("this user may not mount a file system")
    try:
        path = make_zip(("a.bin", bytes(1_000_000)))
        with wording.raises(FmuError):
            archive.extract(path, small / "out", FmuError)
    finally:
        subprocess.run([shutil.which("umount"), str(small)], check=True)  # noqa: S603


def test_symbolic_link(make_zip, tmp_path, wording):
    entry = zipfile.ZipInfo("link")
    entry.create_system = 3
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    with wording.raises(FmuError):
        archive.extract(make_zip((entry, "/etc")), tmp_path / "out", FmuError)


def test_bombs(make_zip, monkeypatch, wording):
    path = make_zip(("zeros", bytes(10_000)), ("more", "x"))
    assert path.stat().st_size < 1000
    monkeypatch.setattr(archive, "MOST_BYTES", 10_000)
    with pytest.raises(FmuError, match=r"unpacks to 10001 bytes; expected at most 10000"):
        archive.open_archive(path, FmuError)
    monkeypatch.setattr(archive, "MOST_BYTES", 20_000)
    monkeypatch.setattr(archive, "MOST_ENTRIES", 1)
    with wording.raises(FmuError):
        archive.open_archive(path, FmuError)


def test_much_more_than_is_packed_is_refused_unless_it_is_allowed(make_zip, monkeypatch, tmp_path):
    path = make_zip(("zeros", bytes(1_000_000)))
    monkeypatch.setattr(archive, "FREE_BYTES", 1000)
    with pytest.raises(FmuError, match="environment variable SOFTDOCK_MOST_UNPACKED=1000000"):
        archive.extract(path, tmp_path / "out", FmuError)
    monkeypatch.setenv("SOFTDOCK_MOST_UNPACKED", "1000000")
    archive.extract(path, tmp_path / "out", FmuError)
    assert (tmp_path / "out" / "zeros").stat().st_size == 1_000_000


def test_folders_without_end_are_refused(make_zip, wording):
    path = make_zip(("/".join(["d"] * 2000), "x"))
    with wording.raises(FmuError):
        archive.open_archive(path, FmuError)


def test_a_size_that_lies_is_not_believed(make_zip, tmp_path, wording):
    """The directory says 10 bytes, the data unpack to 10000: what is beyond is not written."""
    path = make_zip(("zeros", bytes(10_000)))
    content = bytearray(path.read_bytes())
    at = content.find(b"PK\x01\x02") + 24  # uncompressed size in the central directory
    assert struct.unpack_from("<I", content, at) == (10_000,)
    struct.pack_into("<I", content, at, 10)
    path.write_bytes(content)
    with wording.raises(FmuError):
        archive.extract(path, tmp_path / "out", FmuError)
    assert (tmp_path / "out" / "zeros").stat().st_size <= 10


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "is empty"),
        (b"no zip archive", "cannot be read: File is not a zip file"),
        (b"PK\x03\x04 and no directory", "is a zip archive whose end is missing"),
        (b"<!DOCTYPE HTML><title>Sign in", "is a web page"),
        (b"\x1f\x8b\x08", "is compressed by gzip"),
        (b"Rar!\x1a\x07", "is a RAR archive"),
        (b"/annex/objects/MD5E-s1--0.fmu\n", "is a pointer of git-annex"),
    ],
)
def test_no_zip(tmp_path, content, kind):
    path = tmp_path / "test.zip"
    path.write_bytes(content)
    with pytest.raises(FmuError) as caught:
        archive.open_archive(path, FmuError)
    assert f"test.zip: expected a zip archive, but it {kind}" in str(caught.value)


@pytest.mark.parametrize("packed", ["probe/a.txt", "A.TXT"])
def test_an_entry_that_stands_elsewhere_is_named(make_zip, packed):
    path = make_zip((packed, "0.0"))
    with archive.open_archive(path, FmuError) as opened, pytest.raises(FmuError) as caught:
        archive.read_entry(path, opened, "a.txt", FmuError)
    assert f"has no 'a.txt', but '{packed}': pack that file as 'a.txt'" in str(caught.value)


def test_missing(tmp_path, wording):
    with wording.raises(FmuError):
        archive.open_archive(tmp_path / "no.zip", FmuError)
    with wording.raises(FmuError):
        archive.open_archive(tmp_path, FmuError)


@pytest.mark.parametrize(
    "compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_damaged_entry(make_zip, tmp_path, compression, wording):
    path = make_zip(("a.txt", bytes(range(256)) * 9), compression=compression)
    content = bytearray(path.read_bytes())
    content[50:90] = b"\xff" * 40
    path.write_bytes(content)
    with wording.raises(FmuError):
        archive.extract(path, tmp_path / "out", FmuError)
    with (
        archive.open_archive(path, FmuError) as opened,
        wording.raises(FmuError),
    ):
        archive.read_entry(path, opened, "a.txt", FmuError)


def test_encrypted_entry(make_zip, tmp_path, wording):
    path = make_zip(("a.txt", "x"))
    content = bytearray(path.read_bytes())
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.find(magic) + offset] |= 1
    path.write_bytes(content)
    with wording.raises(FmuError):
        archive.extract(path, tmp_path / "out", FmuError)


def test_read_entry_that_is_not_there(make_zip, wording):
    path = make_zip(("a.txt", "x"))
    with (
        archive.open_archive(path, FmuError) as opened,
        wording.raises(FmuError),
    ):
        archive.read_entry(path, opened, "b.txt", FmuError)


def test_xml(wording):
    assert archive.parse_xml(b"<a><b/></a>", "here", FmuError).tag == "a"
    for wrong in (b"", b"<a>", b"<a/><b/>", b'<?xml version="1.0" encoding="none"?><a/>'):
        with wording.raises(FmuError):
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
def test_document_types_are_refused(doctype, wording):
    with wording.raises(FmuError):
        archive.parse_xml(f"{doctype}<a/>".encode(), "here", FmuError)


@pytest.mark.parametrize("write", ["{}", "./{}", ".//{}"])
@pytest.mark.parametrize("separator", ["/", "\\"])
def test_names_as_other_tools_write_them(make_zip, tmp_path, write, separator):
    names = ["a.txt", "sub/b [1].txt", "sub/deep/c.txt"]
    path = make_zip(*((write.format(name).replace("/", separator), name) for name in names))
    with archive.open_archive(path, FmuError) as opened:
        assert opened.namelist() == names
        assert archive.read_entry(path, opened, "sub/b [1].txt", FmuError) == b"sub/b [1].txt"
    archive.extract(path, tmp_path / "out", FmuError, without=("sub/deep/",))
    found = {p.relative_to(tmp_path / "out").as_posix() for p in tmp_path.rglob("*.txt")}
    assert found == {"a.txt", "sub/b [1].txt"}


def test_one_archive_in_several_threads(make_zip, tmp_path):
    path = make_zip(*((f".\\sub\\{i}.txt", str(i)) for i in range(50)))
    errors = []

    def work(number):
        try:
            archive.extract(path, tmp_path / f"out{number}", FmuError)
        except Exception as error:  # noqa: BLE001 - whatever it is
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert all((tmp_path / f"out{n}" / "sub" / "49.txt").read_text() == "49" for n in range(4))


def _link():
    entry = zipfile.ZipInfo("sub/libx.so.1")
    entry.external_attr, entry.create_system = 0o120777 << 16, 3
    return entry


@pytest.mark.parametrize(
    "entry",
    [
        _link(),
        "sub/a:b.txt",
    ],
)
def test_an_entry_is_refused_for_what_it_is(make_zip, tmp_path, entry, wording):
    path = make_zip(("a.txt", "x"), (entry, "a.txt"))
    with wording.raises(FmuError) as caught:
        archive.extract(path, tmp_path / "out", FmuError)
    assert "outside" not in str(caught.value)


def _marked(path, flag, method):
    """Let all entries say that they are encrypted, or compressed in another way."""
    content = bytearray(path.read_bytes())
    for signature, flags, methods in ((b"PK\3\4", 6, 8), (b"PK\1\2", 8, 10)):
        at = -1
        while (at := content.find(signature, at + 1)) >= 0:
            content[at + flags] |= flag
            content[at + methods] = method or content[at + methods]
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("flag", "method"),
    [
        (1, 0),
        (0, 9),
        (0, 77),
    ],
)
def test_content_that_cannot_be_read(make_zip, tmp_path, flag, method, wording):
    path = make_zip(("sub/a.txt", "x"))
    _marked(path, flag, method)
    refused = wording.raises(FmuError)
    with archive.open_archive(path, FmuError) as opened, refused:
        archive.read_entry(path, opened, "sub/a.txt", FmuError)
    with wording.raises(FmuError):
        archive.extract(path, tmp_path / "out", FmuError)
    archive.extract(path, tmp_path / "out", FmuError, without=("sub/",))  # nobody reads it


def test_a_pointer_of_git_lfs(tmp_path, wording):
    path = tmp_path / "a.fmu"
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    with wording.raises(FmuError):
        archive.open_archive(path, FmuError)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("second", ["a.txt", "./a.txt", ".\\a.txt"])
def test_two_contents_of_one_name(make_zip, second, wording):
    with wording.raises(FmuError):
        archive.open_archive(make_zip(("a.txt", "0.0"), (second, "-0.0")), FmuError)
    archive.open_archive(make_zip(("a.txt", "-0.0"), (second, "-0.0")), FmuError).close()
