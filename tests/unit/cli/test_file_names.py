"""Names of system files: names of cases have fewer letters than those."""

import json

import pytest

NAMES = {
    "My System (1)": "My_System_1_",
    "Übung, Nr. 2": "Ubung_Nr._2",
    "it's & more": "it_s_more",
    ".hidden": "hidden",
    "-rf": "rf",
    "雪": "system",
    "x" * 120: "x" * 100,
    "plain-1.2": "plain-1.2",
}
SYSTEM = """
[system]
name = "s"
[experiment]
step = "0.1 s"
stop = "0.2 s"
[component.d]
source = "block:virtual_damper"
values = { velocity = 0.1 }
"""


@pytest.mark.parametrize(("stem", "case"), NAMES.items())
@pytest.mark.parametrize("suffix", [".toml", ".ssp"])
def test_a_system_of_any_name_is_run_and_drawn(softdock, tmp_path, monkeypatch, stem, case, suffix):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / f"{stem}{suffix}"
    plain = tmp_path / "plain.toml"
    plain.write_text(SYSTEM)
    if suffix == ".toml":
        file.write_text(SYSTEM)
    else:
        code, _, err = softdock("system", "convert", plain, file)
        assert code == 0, err
    for command in ("run", "graph"):
        code, out, err = softdock(command, file, "--json", "--output", tmp_path / "out")
        assert code == 0, err
        assert json.loads(out)
    assert (tmp_path / "out" / f"{case}.parquet").is_file()
    assert (tmp_path / "out" / f"{case}-graph.svg").is_file()
