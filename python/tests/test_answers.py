"""Answers: typed, as the program prints them, and errors in its words."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import nearfar
from nearfar import results
from nearfar._answer import Answer, NotOfThisKind, typed
from nearfar.record import MODELS


@pytest.fixture(scope="module")
def records() -> list[nearfar.Record]:
    return [nearfar.simulate(name) for name in ("two-socket-4-gpus", "knl-flat")]


def plain(value: Any) -> Any:
    """Typed objects as JSON has them."""
    if dataclasses.is_dataclass(value):
        fields = [(field.name, getattr(value, field.name), field.default) for field in dataclasses.fields(value)]
        return {name.rstrip("_"): plain(one) for name, one, default in fields if one is not None or default is not None}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return value


def test_types_are_those_of_the_schemas() -> None:
    writer = Path(__file__).parents[1] / "write_results.py"
    subprocess.run([sys.executable, writer, "--check"], check=True)


def test_every_model_is_typed_without_loss(records: list[nearfar.Record]) -> None:
    told = set()
    hand_overs = nearfar.simulate("two-socket-8-nodes", only=["exchange"])
    messages = nearfar.open(Path(__file__).parents[2] / "fuzz/corpus/record/network")
    for record in [*records, hand_overs, messages]:
        for name, kind in MODELS.items():
            try:
                model = record.model(name)
            except nearfar.Error as error:
                assert str(error).startswith(f"no {name} model: ")
                continue
            told.add(name)
            assert isinstance(model, kind)
            assert plain(model) == json.loads(model.json)
            assert record.host in str(model)
            assert model._repr_html_().startswith("<pre>") and "\x1b" not in str(model)
    assert told >= MODELS.keys() - {"workloads"}


def test_advice_and_predictions_are_typed_without_loss(records: list[nearfar.Record]) -> None:
    record, knl = records
    answers: list[Answer] = [
        record.advise(working_set=1 << 30),
        record.predict_change("nps=1"),
        record.advise(threads=2, initiators=[0], load_share=0.5, pattern="shared"),
        record.predict_streams("cpus=0 mem=bind:0", "cpus=1 mem=bind:1"),
        record.predict_accesses(read_share=1.0, gb_per_s=10.0),
        knl.predict_placements(load_share=0.67, fast_shares=[0.5]),
        record.predict_program("@cg.C"),
        record.predict_program("@mg.C", copies=2, gb_per_s=5.0, read_share=0.5),
        record.predict_points(0.5, (2.0, 10.0)),
        record.predict_processes(0, 1),
        record.advise_device("cuda1"),
        record.compare(nearfar.simulate("two-socket-4-gpus", only=["pairs"], seed=7)),
    ]
    for answer in answers:
        assert plain(answer) == json.loads(answer.json)


def test_a_machine_is_typed(records: list[nearfar.Record]) -> None:
    machine = records[0].machine
    assert isinstance(machine, results.Machine)
    assert machine is records[0].machine
    assert len(machine.packages) == 2 and machine.nodes[0].memory_bytes


def test_what_no_schema_knows_is_refused() -> None:
    with pytest.raises(NotOfThisKind):
        typed(results.Estimate, {"value": 1.0})
    with pytest.raises(NotOfThisKind):
        typed(results.Estimate, {"value": True, "interval": None, "confidence": None, "cases": []})


def test_errors_are_in_the_programs_words(tmp_path: Path, records: list[nearfar.Record]) -> None:
    with pytest.raises(nearfar.Error, match="cannot open the record .*no.jsonl: No such file"):
        nearfar.open(tmp_path / "no.jsonl")
    (tmp_path / "broken.jsonl").write_text("{}\n")
    with pytest.raises(nearfar.Error, match="broken.jsonl: "):
        nearfar.open(tmp_path / "broken.jsonl")
    with pytest.raises(nearfar.Error, match="says no form by its ending: give the file one of .html"):
        records[0].report(tmp_path / "report.docx")
    with pytest.raises(nearfar.Error, match="there is no suite 'quik'; did you mean 'quick'"):
        nearfar.simulate("amd-2p", suite="quik")
    with pytest.raises(nearfar.Error, match="there is no initiator 99"):
        records[0].advise(initiators=[99])
    with pytest.raises(nearfar.Error, match="the record has no device cuda7; it has cuda0, "):
        records[0].advise_device("cuda7")
    with pytest.raises(nearfar.Error, match="'cgg' is no workload; did you mean 'cg'"):
        records[0].predict_program("@cgg.A")
    with pytest.raises(nearfar.Error, match="cannot open the profile .*no.json: No such file"):
        records[0].predict_program(tmp_path / "no.json")
    with pytest.raises(nearfar.Error, match="a share of reads is between 0 and 1, and not 3"):
        records[0].predict_program("@cg.C", read_share=3.0)
    with pytest.raises(nearfar.Error, match="-1 GB/s are no traffic"):
        records[0].predict_program("@cg.C", gb_per_s=-1.0)
    with pytest.raises(nearfar.Error, match="a share of reads is between 0 and 1, and not 2"):
        records[0].predict_accesses(read_share=2.0, gb_per_s=5.0)
    for rate in (-5.0, float("nan"), float("inf")):
        with pytest.raises(nearfar.Error, match="GB/s are no traffic"):
            records[0].predict_accesses(read_share=1.0, gb_per_s=rate)
    with pytest.raises(nearfar.Error, match="copies: 4097 is not between 1 and 4096"):
        records[0].predict_program("@cg.C", copies=4097)
    with pytest.raises(nearfar.Error, match="no point is given"):
        records[0].predict_points()
    with pytest.raises(nearfar.Error, match="nothing to place"):
        records[0].advise(working_set=0)
    with pytest.raises(nearfar.Error, match="no initiator is named"):
        records[0].advise(initiators=[])
    for floor in (-1.0, 5.0, float("nan")):
        with pytest.raises(nearfar.Error, match="from 0 to below 0.5"):
            records[0].compare(records[0], floor=floor)
    with pytest.raises(nearfar.Error, match="-2 is no rate in GFLOP/s"):
        records[0].predict_points((1.0, -2.0))
    with pytest.raises(nearfar.Error, match="memory node 9 is in no class; .* nodes 0-"):
        records[0].predict_processes(9)
    with pytest.raises(nearfar.Error, match="nothing to compare: "):
        records[0].compare(nearfar.simulate("knl-flat", only=["exchange"]))


def test_a_simulation_is_interrupted() -> None:
    # Where the tests run in a shell's background, the signal is ignored from their start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    soon = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    soon.start()
    with pytest.raises(KeyboardInterrupt):
        while True:
            nearfar.simulate("two-socket-8-nodes", suite="full")


def test_a_record_is_read_and_reported(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "records"
    paths = sorted(example.rglob("*.jsonl*"))
    assert paths
    for path in paths:
        record = nearfar.open(path)
        assert record.host and record.started and not record.is_simulated
        record.report(tmp_path / "report.md")
        assert record.host in (tmp_path / "report.md").read_text()
        assert "<pre>" in record._repr_html_() and str(record)
        # What was measured is not lost by a slip.
        own = tmp_path / "own.json"
        own.write_bytes(path.read_bytes())
        with pytest.raises(nearfar.Error, match="is the record itself"):
            nearfar.open(own).report(own)
        assert own.read_bytes() == path.read_bytes()


def test_a_changed_record_says_so(tmp_path: Path) -> None:
    for path in sorted((Path(__file__).parents[2] / "fuzz/corpus/record").glob("pairs")):
        text = path.read_text()
        changed = tmp_path / "changed.jsonl"
        changed.write_text(text.replace('"started":"20', '"started":"19', 1))
        record = nearfar.open(changed)
        assert record.seals == "edited" and "was changed after it was measured" in record.cautions[-1]


def test_nothing_and_no_number_are_refused() -> None:
    with pytest.raises(nearfar.Error, match="only: name an experiment"):
        nearfar.simulate("joe0", only=[])
    with pytest.raises(nearfar.Error, match="seed: "):
        nearfar.simulate("joe0", only=["latency"], seed=-1)
