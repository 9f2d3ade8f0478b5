"""Runs of many machines, which the test in Rust measures by simulation into the folder that this runs in."""

from __future__ import annotations

from pathlib import Path

import polars
import polars.testing
import pytest

import nearfar
from nearfar import fleet


def test_the_slow_machine_is_named_with_what_it_lacks() -> None:
    found = fleet.compare("april")
    assert [it.machine for it in found.machines if it.verdict != "good"] == ["n7"]
    assert found.verdicts["good"] == 10
    assert "n7" in str(found)
    assert fleet.compare("march").verdicts == {"good": 11}


def test_cells_are_a_frame_that_parquet_keeps(tmp_path: Path) -> None:
    cells = polars.DataFrame(fleet.cells("april"))
    assert set(cells["machine"]) == {f"n{number}" for number in range(11)}
    cells.write_parquet(tmp_path / "april.parquet")
    polars.testing.assert_frame_equal(polars.read_parquet(tmp_path / "april.parquet"), cells)
    least = cells.filter(unit="GB/s").sort("of_peers_median").row(0, named=True)
    assert least["machine"] == "n7" and least["of_peers_median"] < 0.95, least
    # A figure and its share of the peers' median give the same median for each machine.
    of_one = cells.filter(case=least["case"])
    medians = (of_one["figure"] / of_one["of_peers_median"]).round(6)
    assert medians.n_unique() == 1, of_one


def test_machines_stand_beside_their_peers_in_each_run() -> None:
    drift = fleet.drift("march", "april")
    assert [Path(run.folder).name for run in drift.runs] == ["march", "april"]
    april = {it.machine: it.ratios[1] for it in drift.machines}
    assert len(april) == 11 and min(april, key=lambda it: april[it] or 2.0) == "n7", april


def test_errors_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(nearfar.Error, match="fleet plan"):
        fleet.compare(tmp_path)
    with pytest.raises(nearfar.Error, match="from 0 to below 0.5"):
        fleet.compare("april", floor=3.0)
    with pytest.raises(nearfar.Error, match="two runs"):
        fleet.drift("april")
    with pytest.raises(nearfar.Error, match="is named twice"):
        fleet.drift("april", "./april")
