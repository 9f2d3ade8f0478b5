"""Frames: what the CSV has, by its types, for each library as it takes them."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pandas
import polars
import polars.testing
import pyarrow
import pyarrow.csv
import pytest

import nearfar

DTYPES = {"string": polars.String, "UInt64": polars.UInt64, "Float64": polars.Float64, "boolean": polars.Boolean}
DOCS = Path(__file__).parents[2] / "docs"


def declared() -> dict[str, str]:
    """The columns of the CSV by their document, with pandas' types."""
    lines = (DOCS / "csv-columns.md").read_text().splitlines()
    rows = [line.split(" | ") for line in lines if line.startswith("| `")]
    return {row[0].strip("| `"): row[1] for row in rows}


@pytest.fixture(scope="module")
def record() -> nearfar.Record:
    return nearfar.simulate("two-socket-4-gpus", seed=3)


def test_samples_are_the_rows_of_the_csv(record: nearfar.Record, tmp_path: Path) -> None:
    record.report(tmp_path / "samples.csv")
    schema = {name: DTYPES[dtype] for name, dtype in declared().items()}
    csv = polars.read_csv(tmp_path / "samples.csv", schema=schema, null_values=[""])
    frame = polars.DataFrame(record.samples())
    assert frame.columns == record.samples().columns == csv.columns
    assert len(frame) == len(record.samples()) == len(csv) > 1000
    # A spreadsheet's mark before a text is not part of it.
    unmarked = polars.col(polars.String).str.replace("^'", "")
    polars.testing.assert_frame_equal(frame, csv.with_columns(unmarked), check_exact=True)


def test_pandas_and_polars_see_the_same(record: nearfar.Record) -> None:
    for frame in (record.samples(), record.figures(), record.absent()):
        table = pyarrow.table(frame)
        assert table.num_rows == len(frame) > 0
        assert isinstance(table.to_pandas(), pandas.DataFrame)
        polars.testing.assert_frame_equal(polars.DataFrame(frame), polars.DataFrame(table))
        units = {name: unit.decode() for name, unit in units_of(table).items()}
        assert units == dict(frame.units)
    assert dict(record.samples().units)["window_ns"] == "ns"


def units_of(table: pyarrow.Table) -> dict[str, bytes]:
    return {field.name: field.metadata[b"unit"] for field in table.schema if field.metadata}


def test_numbers_are_handed_over_without_a_copy(record: nearfar.Record) -> None:
    frame = record.samples()
    addresses = []
    for _ in range(2):
        buffer = pyarrow.table(frame)["useful_bytes"].chunk(0).buffers()[1]
        addresses.append(buffer.address)
    assert addresses[0] == addresses[1]
    column = polars.DataFrame(frame)["useful_bytes"].to_arrow()
    assert column.buffers()[1].address == addresses[0]


def test_a_frame_outlives_its_record() -> None:
    table = pyarrow.table(nearfar.simulate("amd-2p", suite="quick", only=["pairs"]).samples())
    assert table["experiment"].to_pylist() == ["pairs"] * table.num_rows


def test_figures_are_medians_of_rounds(record: nearfar.Record) -> None:
    figures = polars.DataFrame(record.figures()).filter(experiment="pairs", coordinates_index=0)
    samples = polars.DataFrame(record.samples()).filter(experiment="pairs", coordinates_index=0, disturbed=False)
    rounds = samples.group_by("case", "round").agg(polars.col("sum_gb_per_s").median())
    medians = rounds.group_by("case").agg(polars.col("sum_gb_per_s").median().alias("expected"))
    joined = figures.join(medians, on="case")
    assert len(joined) == len(medians) > 10
    assert ((joined["sum_gb_per_s"] / joined["expected"] - 1).abs() < 1e-12).all()
    within = joined["sum_gb_per_s"].is_between(joined["sum_gb_per_s_low"], joined["sum_gb_per_s_high"])
    assert within.all()
    chases = polars.DataFrame(record.figures()).filter(actor_kind="chase")
    assert (chases["access_ns"] > 1).all() and len(chases) > 0


def test_what_is_absent_has_its_reason(record: nearfar.Record) -> None:
    absent = polars.DataFrame(record.absent())
    assert absent["reason"].null_count() == 0
    assert set(absent["absence"]) <= {"omitted", "refused"}


def test_other_threads_run_meanwhile() -> None:
    ticks = 0
    done = threading.Event()

    def measure() -> None:
        nearfar.simulate("two-socket-4-gpus")
        done.set()

    thread = threading.Thread(target=measure)
    thread.start()
    while not done.is_set():
        ticks += 1
        time.sleep(0.001)
    thread.join()
    assert ticks > 10
