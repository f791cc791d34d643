"""Files that are to be written."""

import pytest

from featsieve.workflow.destinations import check_outputs


def test_what_cannot_be_written_is_told_before(tmp_path):
    (tmp_path / "folder").mkdir()
    source = tmp_path / "t.csv"
    for outputs, message in (
        ([source], "would be written over"),
        ([tmp_path / "x.doc"], "does not say how to write it"),
        ([tmp_path / "folder"], "is a folder"),
        ([tmp_path / "gone" / "x.csv"], "There is no folder"),
        ([tmp_path / "x.csv", tmp_path / "x.csv"], "named twice"),
    ):
        with pytest.raises((ValueError, FileNotFoundError), match=message):
            check_outputs(outputs, sources=[source])
    check_outputs([tmp_path / "x.csv", None, tmp_path / "c.CSV"], sources=[source])
    check_outputs([tmp_path / "x.csv"], sources=[source], tables=False)
    with pytest.raises(ValueError, match=r"c\.parquet would hold comma-separated text"):
        check_outputs([tmp_path / "x.parquet", tmp_path / "c.parquet"], sources=[source])
    with pytest.raises(ValueError, match=r"would hold comma-separated text: .* end in \.csv"):
        check_outputs([tmp_path / "x.parquet"], sources=[source], tables=False)


def test_files_that_are_there_are_kept(tmp_path):
    there, new = tmp_path / "there.csv", tmp_path / "new.csv"
    there.write_text("precious")
    for outputs in ([there], [new, there]):
        check_outputs(outputs, sources=[])
        with pytest.raises(FileExistsError, match=r"there\.csv is there already: add --force"):
            check_outputs(outputs, sources=[], overwrite=False)
    check_outputs([new], sources=[], overwrite=False)
