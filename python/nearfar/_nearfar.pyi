from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Optional, Union, final

__version__: str

class Error(Exception):
    """What went wrong, and what to do about it, in the program's words."""

@final
class Frame:
    """A table of a record, which libraries of tables take by Arrow's C stream: `polars.DataFrame(frame)`,
    `pyarrow.table(frame)`."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in their order."""
    @property
    def units(self) -> list[tuple[str, str]]:
        """The units of the columns that have one; so does the metadata of their fields."""
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object: ...

@final
class Place:
    """Where a task can run: CPUs from which memory was measured."""

    @property
    def kind(self) -> str:
        """Whether it is an initiator (`memory`), an L3 domain (`l3`) or a core."""
    @property
    def cpu_group(self) -> int:
        """Its number among its kind."""
    @property
    def initiator(self) -> int: ...
    @property
    def cpu_node(self) -> Optional[int]:
        """The lowest node with CPUs of its initiator."""
    @property
    def cpus(self) -> str: ...

@final
class RankedPlace:
    @property
    def place(self) -> int:
        """Its position in `Ranking.places`."""
    @property
    def seconds(self) -> float:
        """Time to touch all of the data once; 0 without data."""
    @property
    def ratio(self) -> float:
        """Seconds / seconds of the best place; 1 without data."""

@final
class RankedNode:
    @property
    def node(self) -> int: ...
    @property
    def seconds(self) -> float:
        """Time until the slowest user has touched its part; 0 without data."""
    @property
    def ratio(self) -> float:
        """Seconds / seconds of the best node; 1 without data."""

@final
class RankedPlaces:
    """Places, the best first; of equal ones the one with the lower position."""

    @property
    def absent(self) -> list[tuple[int, int]]:
        """Places that are not ranked, each with a node of which nothing is known from there."""
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> RankedPlace: ...
    def __iter__(self) -> Iterator[RankedPlace]: ...

@final
class RankedNodes:
    """Nodes, the best first; of equal ones the one with the lower number."""

    @property
    def absent(self) -> list[tuple[int, int]]:
        """Places of users, each with a node of which nothing is known from there."""
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> RankedNode: ...
    def __iter__(self) -> Iterator[RankedNode]: ...

@final
class Ranking:
    """Answers in microseconds where tasks should run and where data should lie. Any number of threads may ask."""

    @property
    def places(self) -> list[Place]:
        """Where tasks can run; answers name them by their positions here."""
    @property
    def nodes(self) -> list[int]:
        """The memory nodes, by the system's numbers, ascending."""
    @property
    def noise(self) -> Optional[float]:
        """Places whose ratio to the best is within it are equally good; None with one round of each."""
    def rank(self, data: dict[int, int], running: Sequence[tuple[int, float, int]] = ()) -> RankedPlaces:
        """Where to run a task that touches these bytes of these nodes, while threads run: place, threads, node."""
    def rank_nodes(
        self, users: Sequence[tuple[int, float, int]], running: Sequence[tuple[int, float, int]] = ()
    ) -> RankedNodes:
        """Where to put data that these will touch: place, threads, bytes."""
    def lone_rate(self, place: int, node: int) -> Optional[float]:
        """What one thread alone moves, bytes/s; None where that is not known."""
    def why_unknown(self, place: int, node: int) -> Optional[str]:
        """Why nothing is known of a place and a node; None where something is."""

Told = tuple[str, str]

@final
class ReadRecord:
    @property
    def host(self) -> str: ...
    @property
    def started(self) -> str: ...
    @property
    def is_simulated(self) -> bool: ...
    @property
    def suite(self) -> str: ...
    @property
    def torn(self) -> bool: ...
    @property
    def seals(self) -> str: ...
    @property
    def cautions(self) -> list[str]: ...
    def machine(self) -> str: ...
    def text(self) -> str: ...
    def samples(self) -> Frame: ...
    def figures(self) -> Frame: ...
    def absent(self) -> Frame: ...
    def model(self, name: str) -> Told: ...
    def advise(
        self,
        threads: Optional[int],
        initiators: Optional[Sequence[int]],
        working_set: Optional[int],
        load_share: Optional[float],
        pattern: Optional[str],
    ) -> Told: ...
    def predict_streams(self, streams: Sequence[str]) -> Told: ...
    def predict_curve(
        self,
        read_share: float,
        bytes_per_s: float,
        initiator: Optional[int],
        memory_node: Optional[int],
    ) -> Told: ...
    def predict_hybrid(self, load_share: float, fast_shares: Sequence[float]) -> Told: ...
    def predict_change(self, change: str, gamma: Optional[str], phi: Optional[str]) -> Told: ...
    def predict_points(self, points: Sequence[tuple[float, Optional[float]]]) -> Told: ...
    def predict_program(
        self, program: Union[str, PathLike[str]], copies: int, bytes_per_s: float, read_share: float
    ) -> Told: ...
    def predict_data(self, nodes: Sequence[int]) -> Told: ...
    def advise_device(self, device: str) -> Told: ...
    def compare(self, other: ReadRecord, floor: Optional[float]) -> Told: ...
    def report(self, path: Union[str, PathLike[str]]) -> None: ...
    def ranking(self, beside: bool) -> Ranking: ...

def read_record(path: Union[str, PathLike[str]]) -> ReadRecord: ...
def compare_fleet(
    folder: Union[str, PathLike[str]], floor: Optional[float], target: Optional[Union[str, PathLike[str]]]
) -> Told: ...
def fleet_cells(
    folder: Union[str, PathLike[str]], floor: Optional[float], target: Optional[Union[str, PathLike[str]]]
) -> Frame: ...
def fleet_drift(folders: Sequence[Union[str, PathLike[str]]]) -> Told: ...
def simulate_record(
    machine: str,
    suite: str,
    experiments: Optional[Sequence[str]],
    seed: Optional[int],
    noise: bool,
) -> ReadRecord: ...
