"""A record, and what can be asked of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from os import PathLike
from typing import Literal, Optional, Union, cast, overload

from . import results
from ._answer import Answer, answer, preformatted, typed
from ._nearfar import Error, Frame, RankedPlaces, Ranking, ReadRecord, read_record, simulate_record

Path = Union[str, "PathLike[str]"]

#: Models by their names.
MODELS: dict[str, type[Answer]] = {
    "classes": results.ClassesModel,
    "latency": results.LatencyModel,
    "exchange": results.ExchangeModel,
    "sharing": results.SharingModel,
    "roofline": results.RooflineModel,
    "hybrid": results.HybridModel,
    "distribution": results.DistributionModel,
    "flow": results.FlowModel,
    "strategy": results.StrategyModel,
    "devices": results.DevicesModel,
    "network": results.NetworkModel,
    "workloads": results.WorkloadsModel,
}


class Record:
    """What was measured of a machine. `open` and `simulate` give one."""

    def __init__(self, read: ReadRecord) -> None:
        self._read = read

    @property
    def host(self) -> str:
        return self._read.host

    @property
    def started(self) -> str:
        """When measuring began, UTC, RFC 3339."""
        return self._read.started

    @property
    def suite(self) -> str:
        return self._read.suite

    @property
    def is_simulated(self) -> bool:
        """Whether a machine was simulated and not measured."""
        return self._read.is_simulated

    @property
    def torn(self) -> bool:
        """Whether the last line was torn and is left out."""
        return self._read.torn

    @property
    def seals(self) -> Literal["fit", "edited", "absent"]:
        """Whether the record is as it was written, as far as the seals of its lines tell: `edited` where it was changed
        since, `absent` where nobody knows."""
        return cast(Literal["fit", "edited", "absent"], self._read.seals)

    @property
    def cautions(self) -> list[str]:
        """What must be known before its figures are believed, in sentences: that they are simulated, that the record
        was changed. Frames and rankings say nothing of it."""
        return self._read.cautions

    @cached_property
    def machine(self) -> results.Machine:
        return typed(results.Machine, json.loads(self._read.machine()))

    def samples(self) -> Frame:
        """A row for each window, actor and place: the columns of the CSV (docs/csv-columns.md)."""
        return self._read.samples()

    def figures(self) -> Frame:
        """A row for each case, actor and place: medians over rounds with the bounds within which they lie."""
        return self._read.figures()

    def absent(self) -> Frame:
        """A row for each place of what was not measured, with the reason."""
        return self._read.absent()

    @overload
    def model(self, name: Literal["classes"]) -> results.ClassesModel: ...
    @overload
    def model(self, name: Literal["latency"]) -> results.LatencyModel: ...
    @overload
    def model(self, name: Literal["exchange"]) -> results.ExchangeModel: ...
    @overload
    def model(self, name: Literal["sharing"]) -> results.SharingModel: ...
    @overload
    def model(self, name: Literal["roofline"]) -> results.RooflineModel: ...
    @overload
    def model(self, name: Literal["hybrid"]) -> results.HybridModel: ...
    @overload
    def model(self, name: Literal["distribution"]) -> results.DistributionModel: ...
    @overload
    def model(self, name: Literal["flow"]) -> results.FlowModel: ...
    @overload
    def model(self, name: Literal["strategy"]) -> results.StrategyModel: ...
    @overload
    def model(self, name: Literal["devices"]) -> results.DevicesModel: ...
    @overload
    def model(self, name: Literal["network"]) -> results.NetworkModel: ...
    @overload
    def model(self, name: Literal["workloads"]) -> results.WorkloadsModel: ...
    @overload
    def model(self, name: str) -> Answer: ...

    def model(self, name: str) -> Answer:
        """What a model says of the record (docs/models.md); an error where it lacks what the model needs."""
        told = self._read.model(name)
        return answer(MODELS[name], told)

    def advise(
        self,
        *,
        threads: Optional[int] = None,
        initiators: Optional[Sequence[int]] = None,
        working_set: Optional[int] = None,
        load_share: Optional[float] = None,
        pattern: Optional[str] = None,
    ) -> results.AdvisedPlacement:
        """Where a program's threads and pages belong: docs/advising.md. `working_set` is in bytes."""
        told = self._read.advise(threads, initiators, working_set, load_share, pattern)
        return answer(results.AdvisedPlacement, told)

    def predict_streams(self, *streams: str) -> results.PredictedStreams:
        """What streams get that run at the same time, for example `cpus=0-3 mem=bind:0`."""
        return answer(results.PredictedStreams, self._read.predict_streams(streams))

    def predict_accesses(
        self,
        *,
        read_share: float,
        gb_per_s: float,
        initiator: Optional[int] = None,
        memory_node: Optional[int] = None,
    ) -> results.PredictedAccesses:
        """What an access takes beside traffic of this rate and share of reads."""
        told = self._read.predict_curve(read_share, gb_per_s * 1e9, initiator, memory_node)
        return answer(results.PredictedAccesses, told)

    def predict_placements(
        self, *, load_share: float, fast_shares: Sequence[float] = ()
    ) -> results.PredictedPlacements:
        """What loads and stores get over a fast and a slow memory, also with these shares in the fast one."""
        told = self._read.predict_hybrid(load_share, fast_shares)
        return answer(results.PredictedPlacements, told)

    def predict_change(
        self, change: str, *, gamma: Optional[str] = None, phi: Optional[str] = None
    ) -> results.ChangedMachine:
        """What would become of the figures with `channels=6`, `dimm=DDR5-5600`, `nps=4`, `snc=off` or `cxl=64GB/s`.
        `gamma` says what a memory node has now (`DDR5-4800x8`), `phi` what the link to CXL memory is."""
        return answer(results.ChangedMachine, self._read.predict_change(change, gamma, phi))

    def predict_program(
        self, program: Path, *, copies: int = 1, gb_per_s: float = 0.0, read_share: float = 1.0
    ) -> results.PredictedProgram:
        """A program's time at every placement: of a file by `nearfar profile --pressure --out FILE`, or of a workload
        (`@cg.A`) by the traffic that it declares; with copies of itself, beside traffic of this rate."""
        told = self._read.predict_program(program, copies, gb_per_s * 1e9, read_share)
        return answer(results.PredictedProgram, told)

    def predict_points(self, *points: Union[float, tuple[float, Optional[float]]]) -> results.PlacedPrograms:
        """Where programs lie below the roofs: each its FLOPs per byte that the cores request, and GFLOP/s if known."""
        pairs = [point if isinstance(point, tuple) else (point, None) for point in points]
        return answer(results.PlacedPrograms, self._read.predict_points(pairs))

    def predict_processes(self, *nodes: int) -> results.PredictedProcesses:
        """What processes get by the record's classes, the data of each on one of these memory nodes."""
        return answer(results.PredictedProcesses, self._read.predict_data(nodes))

    def advise_device(self, device: str) -> results.AdvisedDevice:
        """Which memory nodes copies to and from a device (`cuda0`), or messages through an adapter (`eth0`), are
        fastest with."""
        return answer(results.AdvisedDevice, self._read.advise_device(device))

    def compare(self, other: Record, *, floor: Optional[float] = None) -> results.Comparison:
        """What differs in another record, by more than noise and this part (0.02 unless given) explain."""
        return answer(results.Comparison, self._read.compare(other._read, floor))

    def report(self, path: Path) -> None:
        """Writes a document in the form that the ending says: .html, .md, .tex, .json, .csv, .prom."""
        self._read.report(path)

    def ranking(self, *, beside: bool = True) -> Ranking:
        """Makes questions of runtimes ready: docs/runtime-library.md. Without `beside` it answers for tasks that run
        alone, which any record with pairs can; else the flow model is fitted, which takes a while."""
        return self._read.ranking(beside)

    @cached_property
    def _ranking(self) -> Ranking:
        return self.ranking(beside=False)

    def __repr__(self) -> str:
        return f"<nearfar.Record of {self.host}, {self.started}, suite {self.suite}>"

    def __str__(self) -> str:
        return self._read.text()

    def _repr_html_(self) -> str:
        return preformatted(self._read.text())


def open(path: Path) -> Record:
    """Reads a record, packed or not."""
    return Record(read_record(path))


def simulate(
    machine: str,
    *,
    suite: str = "standard",
    only: Optional[Sequence[str]] = None,
    seed: Optional[int] = None,
    noise: bool = True,
) -> Record:
    """Measures a simulated machine, by its name or file (docs/simulated-machines.md), into memory."""
    if seed is not None and not 0 <= seed < 1 << 64:
        raise Error(f"seed: give a whole number from 0 to below 2^64, and not {seed}")
    return Record(simulate_record(machine, suite, only, seed, noise))


def rank(record: Record, data: Mapping[int, int]) -> RankedPlaces:
    """Where to run a lone task that touches these bytes of these nodes. What is needed of the record is kept in it;
    `Record.ranking` answers beside other tasks as well."""
    return record._ranking.rank(data if isinstance(data, dict) else dict(data))
