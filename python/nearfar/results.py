"""Types of what the module answers: written by python/write_results.py from docs/schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional, Union

from ._answer import Answer


@dataclass(frozen=True)
class ClassesClass:
    class_: int
    """0 is the fastest."""
    max_gb_per_s: float
    """Best value of its pairs, useful bytes."""
    min_gb_per_s: float
    """Lowest best value of its pairs, useful bytes."""
    alpha: Optional[float]
    """Maximum / theoretical maximum (eq. 4.3 of braithwaite2012); null where that is not known. One that the user gives and that is exceeded is refused; by the memory modules it is above 1 where the system names too few."""
    alpha_relative: float
    """Maximum / maximum of class 0."""
    wide: bool
    """Whether it spans more than ten percent."""
    widened_by_noise: bool
    """Whether it is wider than the rule's span because the scatter of rounds explains the rest."""
    border_within_noise: bool
    """Whether the border to the next slower class is within the noise, so that the two are a continuum and not two levels."""
    pairs: list[ClassPair]
    """Its pairs, by group of CPUs or device, then by node."""
    groups: Optional[list[PairGroup]] = None
    """The same pairs of groups of CPUs and memory nodes, in few groups."""
    others: Optional[list[ClassFigure]] = None
    """What other kernels and thread counts give on the same pairs."""


@dataclass(frozen=True)
class ClassAbove:
    """The class above a border."""

    index: Optional[int]
    """The group of CPUs whose class it is, or null."""
    class_: int


@dataclass(frozen=True)
class ClassFigure:
    """A kernel at one thread or all, on the pairs of a class."""

    kernel: str
    threads: ThreadChoice
    max_gb_per_s: float
    """Best value of the class's pairs, useful bytes."""
    min_gb_per_s: float
    """Lowest best value of the class's pairs, useful bytes."""
    only_disturbed: bool
    """Whether something disturbed every sample of one of these pairs."""


@dataclass(frozen=True)
class ClassNoteAllLocal:
    """All pairs are of cores and memory of their own."""

    note: Literal["all_local"]


@dataclass(frozen=True)
class ClassNoteAllRemote:
    """No pair is: class 0 is remote."""

    note: Literal["all_remote"]


@dataclass(frozen=True)
class ClassNoteFewerThreads:
    """"All threads" are the most that were measured, which these groups of CPUs have more cores than."""

    note: Literal["fewer_threads"]
    cpu_groups: list[FewerThreads]


@dataclass(frozen=True)
class ClassNoteFewRounds:
    """A pair has fewer rounds than its best should be taken from."""

    note: Literal["few_rounds"]
    enough: int


@dataclass(frozen=True)
class ClassNoteDisturbed:
    """Every window of these pairs was disturbed."""

    note: Literal["disturbed"]
    pairs: list[DisturbedPair]


@dataclass(frozen=True)
class ClassNoteUnknownNoise:
    """With one round a pair the scatter of rounds is unknown, and classes that it alone separates are not merged."""

    note: Literal["unknown_noise"]


@dataclass(frozen=True)
class ClassNoteMuchNoise:
    """The scatter of rounds alone spreads the pairs of the largest class by this fraction."""

    note: Literal["much_noise"]
    pairs: int
    spread: float


@dataclass(frozen=True)
class ClassNoteWidened:
    """A class spans this fraction of its maximum, which is more than the rule's span, and which the standard error of its pairs explains."""

    note: Literal["widened"]
    index: Optional[int]
    """The group of CPUs whose class it is, or null."""
    class_: int
    span: float
    pairs: int


@dataclass(frozen=True)
class ClassNoteArbitraryBorders:
    """The gap between classes is less than `least_gap` standard errors: a continuum and not levels."""

    note: Literal["arbitrary_borders"]
    least_gap: float
    above: list[ClassAbove]


@dataclass(frozen=True)
class ClassPair:
    """A pair of a group of CPUs and a memory node."""

    index: int
    """The CPU group's number."""
    initiator: int
    cpu_node: Optional[int]
    """The initiator's lowest node with CPUs, or null."""
    memory_node: int
    """The node that is accessed."""
    memory_kind: MemoryKind
    """What its memory is made of."""
    relation: Optional[Relation]
    """How the two lie to each other; null where the node is of no single package, or either is not described."""
    distance: Optional[int]
    """The firmware's relative distance from the initiator's node, or null."""
    best_gb_per_s: float
    """Best round, useful bytes."""
    median_gb_per_s: Estimate
    """Median over rounds, useful bytes."""
    kernel: str
    """Kernel that gave the best."""
    variant: str
    """Variant that gave the best."""
    threads: int
    rounds: int


@dataclass(frozen=True)
class ClassSet:
    """Classes that belong together."""

    index: Optional[int]
    """The group of CPUs whose classes these are; null for the whole machine."""
    classes: list[ClassesClass]
    """The fastest first."""


@dataclass(frozen=True)
class DisturbedPair:
    """A pair whose windows were all disturbed."""

    index: int
    """The CPU group's number."""
    memory_node: int


@dataclass(frozen=True)
class Estimate:
    """A number in the unit of its type, how sure it is, and what it rests on."""

    value: float
    interval: Optional[tuple[float, float]]
    """From the lowest to the highest that it may be; null where that is not known."""
    confidence: Optional[float]
    """How often such an interval holds the true value, a fraction; null where that is not known."""
    cases: list[str]
    """The cases behind it, by their ids in the record."""


@dataclass(frozen=True)
class FewerThreads:
    """A group of CPUs that was measured with fewer threads than it has cores."""

    index: int
    """Its number."""
    threads: int
    cores: int


@dataclass(frozen=True)
class LeftOut:
    """A pair that the record knows and the rule could not judge."""

    index: int
    """The CPU group's number."""
    memory_node: int
    """The node that would have been accessed."""
    refused: Optional[str]
    """Why the machine refused it; null when it was not measured in the way asked for."""


@dataclass(frozen=True)
class ClassesOutcomeUnknown:
    unknown: str
    """Why, in words."""


@dataclass(frozen=True)
class PairBlock:
    """Groups of CPUs, each with each of some nodes."""

    cpu_groups: str
    """A list such as `0-3,8`."""
    memory_nodes: str
    """A list such as `0-3,8`."""


@dataclass(frozen=True)
class PairGroupAlike:
    """All pairs of these groups of CPUs and the machine's nodes that lie so, but for a few."""

    pairs: Literal["alike"]
    relation: Relation
    memory_kind: Optional[MemoryKind]
    """What the nodes are made of; null where all are made of the same."""
    distance: Optional[int]
    """The firmware's distance; null where pairs at any distance are meant."""
    cpu_groups: str
    """A list such as `0-3,8`."""
    is_one_node_each: bool
    """Whether each of these groups of CPUs has only one such node."""
    except_: list[PairBlock]
    """Those that are in another class, or in none."""


@dataclass(frozen=True)
class PairGroupBlock:
    """Each of these groups of CPUs with each of these nodes."""

    pairs: Literal["block"]
    cpu_groups: str
    """A list such as `0-3,8`."""
    memory_nodes: str
    """A list such as `0-3,8`."""


@dataclass(frozen=True)
class Seals:
    """Whether a record is as it was written, as far as the seals of its lines tell."""

    seals: str
    """`fit`, `edited` or `absent`."""
    lines: list[int]
    """The first lines that were changed since, from 1."""
    count: int
    """How many were."""


@dataclass(frozen=True)
class TheoreticalMaximum:
    """A theoretical maximum: its name, what it is the maximum of, and how much."""

    name: str
    """`DDR3-2133`, `DDR4-3200x8`, `PCIe 2.0 x16`, `braithwaite2012`, `given`."""
    scope: Scope
    gb_per_s: float
    """How much."""
    source: str
    """Where the figure is from: a standard, the machine's firmware, the user."""


@dataclass(frozen=True)
class ClassesModel(Answer):
    """The classes of a record."""

    schema: Literal["nearfar.classes/2"]
    """Name and version of this format."""
    host: str
    started: str
    """When measuring began, UTC."""
    executor: Executor
    """Whether a machine was measured or simulated."""
    sealing: Seals
    """Whether the record is as it was written."""
    is_disturbed: bool
    """Whether something disturbed at least half of the samples: figures can then be of disturbed ones alone."""
    may_contain_cache: bool
    """Whether working sets were not shown to be beyond the caches."""
    group_by: GroupBy
    """How CPUs were grouped."""
    kernels: list[str]
    """Kernels of which a pair's best counts."""
    absent_kernels: list[str]
    """Kernels that would count and of which the record holds no figure, by these threads and this variant."""
    threads: ThreadChoice
    """Threads of the cases that are classed."""
    variant: Optional[str]
    """One variant only, by name; null for the best of those that walk in order."""
    class_span: float
    """A class spans at most this fraction of its maximum, and what noise explains."""
    per_group: bool
    """Whether every group of CPUs has classes of its own."""
    gamma: ClassesOutcome
    """What alphas are relative to."""
    noise: Optional[float]
    """Pooled relative standard deviation of a pair's rounds; null with one round each."""
    standard_error: Optional[float]
    """Relative standard error of a pair's best round, which is that deviation times what is left of it in the best of as many rounds as pairs have; null as above."""
    fewest_rounds: int
    """Fewest rounds that a pair has; the thesis asks for five."""
    sets: list[ClassSet]
    """One set, or one for each group of CPUs."""
    left_out: list[LeftOut]
    """Pairs that the record knows and that are in no class, by group of CPUs, then by node."""
    notes: list[ClassNote]
    """What to know about them."""


@dataclass(frozen=True)
class AccessTime:
    """Time of an access."""

    time_ns: Estimate
    """Median over rounds."""
    rounds: int
    """Rounds that count."""
    samples: int
    disturbed: int
    """Samples that were left out because something disturbed them."""
    only_disturbed: bool
    """Whether all samples were disturbed, and so none was left out."""


@dataclass(frozen=True)
class CurveFamily:
    """An initiator on a node beside traffic of any read share."""

    initiator: int
    """The initiator of the chase and of the threads beside it."""
    memory_node: int
    """The node that all access."""
    is_local: bool
    """Whether the node is one of the initiator's own."""
    law: Outcome5
    """The law of its curves."""


@dataclass(frozen=True)
class CurvePlace:
    """The curve of which advice is, and its ends."""

    position: int
    """Its position among the curves."""
    idle_ns: float
    """Time of an access without traffic."""
    most_traffic_gb_per_s: float
    """All that the threads can move."""
    rise: float
    """Time of an access beside it / that without."""
    highest_rise: float
    """The highest that it can be by the intervals."""


@dataclass(frozen=True)
class Estimate2:
    """A number in the unit of its type, how sure it is, and what it rests on."""

    value: float
    interval: Optional[tuple[float, float]]
    """From the lowest to the highest that it may be; null where that is not known."""
    confidence: Optional[float]
    """How often such an interval holds the true value, a fraction; null where that is not known."""
    cases: list[str]
    """The cases behind it, by their ids in the record."""


@dataclass(frozen=True)
class Estimate3:
    """A number in the unit of its type, how sure it is, and what it rests on."""

    value: float
    interval: Optional[tuple[float, float]]
    """From the lowest to the highest that it may be; null where that is not known."""
    confidence: Optional[float]
    """How often such an interval holds the true value, a fraction; null where that is not known."""
    cases: list[str]
    """The cases behind it, by their ids in the record."""


@dataclass(frozen=True)
class FactorSpan:
    """The NUMA factors of all remote nodes."""

    least: float
    most: Estimate2
    worst_initiator: int
    """Initiator of the pair with the most."""
    worst_memory_node: int
    has_worst: bool
    """Whether that pair is worse than every other by more than noise and than what is worth moving data for."""
    pairs: int
    """Pairs of an initiator and a remote node that have a factor."""


@dataclass(frozen=True)
class FamilyLaw:
    """The law of a family: ns = idle (1 + k u^p / (1 - u)), u = traffic / capacity."""

    idle_ns: Estimate
    """Time of an access without traffic."""
    exponent: Estimate2
    """p: how late the wait begins."""
    shares: list[FamilyShare]
    """By ascending read share. Between them 1 / capacity and ln k lie on lines."""
    error: float
    """Root mean square of (the law's time / measured - 1)."""
    worst_error: float
    """The largest of these, without its sign."""
    points: int
    """Points that it was fitted to, the idle one among them."""


@dataclass(frozen=True)
class FamilyShare:
    """The law at a read share that was measured."""

    read_share: float
    """Reads / all bytes that cross."""
    most_traffic_gb_per_s: float
    """The most traffic that was measured."""
    capacity_gb_per_s: Estimate3
    """Where the wait would have no end."""
    is_straight: bool
    """Whether the curve ends before it bends, so that a larger capacity would fit it as well."""
    wait: Estimate2
    """k: how long accesses wait."""


@dataclass(frozen=True)
class LatencyAdviceLeaveData:
    """Not move data: what is farthest is too near for that."""

    do: Literal["leave_data"]


@dataclass(frozen=True)
class LatencyAdviceKeepTogether:
    """Put a thread whose accesses wait for each other and its data on one node."""

    do: Literal["keep_together"]


@dataclass(frozen=True)
class LatencyAdviceDistrustFirmware:
    """Not place by the firmware's distances, which are farthest off for this pair."""

    do: Literal["distrust_firmware"]
    initiator: int
    memory_node: int


@dataclass(frozen=True)
class LatencyAdviceLimitTraffic:
    """Keep traffic below what is usable."""

    do: Literal["limit_traffic"]
    curve: CurvePlace


@dataclass(frozen=True)
class LatencyAdviceKnowKnee:
    """Know what the first traffic costs and what the last: nothing is too much."""

    do: Literal["know_knee"]
    curve: CurvePlace


@dataclass(frozen=True)
class LatencyAdviceLetTrafficRun:
    """Let traffic run beside chases."""

    do: Literal["let_traffic_run"]
    curve: CurvePlace


@dataclass(frozen=True)
class LatencyAdviceMeasureMore:
    """Measure more rounds: noise hides whether traffic is too much."""

    do: Literal["measure_more"]
    curve: CurvePlace


@dataclass(frozen=True)
class LatencyKnee:
    """Where a loaded curve bends."""

    traffic_gb_per_s: Estimate3
    """Traffic at the knee."""
    time_ns: float
    """Time of an access there."""
    distance: float
    """How far below the straight line it lies, a fraction of the rise."""


@dataclass(frozen=True)
class LevelLatency:
    """Time of an access that one level answers."""

    initiator: int
    """The initiator of the chase."""
    memory_node: int
    """The node behind the caches."""
    level: Optional[int]
    """The cache, 1 being the one next to the core, or null for memory."""
    working_set_bytes: int
    """Bytes that are walked through: of several sets that the level holds the largest."""
    time_ns: Estimate
    """Time of an access."""


@dataclass(frozen=True)
class LoadedCurve:
    """An initiator on a node beside one kind of traffic."""

    initiator: int
    """The initiator of the chase and of the threads beside it."""
    memory_node: int
    """The node that all access."""
    is_local: bool
    """Whether the node is one of the initiator's own."""
    kernel: str
    """Kernel of the threads beside the chase."""
    variant: str
    """Its instruction-set variant."""
    threads: int
    """How many they are."""
    read_share: Optional[Estimate2]
    """Reads / all bytes that cross to the memory for them; the interval is of what stores may read first. Null where it is not known."""
    idle_ns: Optional[Estimate]
    """Time of the same access without them; null where it was not measured."""
    points: list[LoadedPoint]
    """From the least load to the most, those that have figures."""
    missing: int
    """Points of the plan without figures."""
    knee: LatencyOutcome3
    """Where the curve bends."""
    usable_gb_per_s: Outcome4
    """What may cross beside accesses that take 1.5 times the idle ones."""


@dataclass(frozen=True)
class LoadedPoint:
    pause_cycles: int
    """Cycles that each thread pauses after every KiB of each array."""
    time_ns: Estimate
    """Time of an access."""
    traffic_gb_per_s: Estimate3
    """What crosses to the memory for the threads; the interval is of the rounds and of what stores may read first."""


@dataclass(frozen=True)
class MovedCores:
    """Samples left out because a hypervisor had their CPUs on other cores than in most."""

    left_out: int
    """Samples that no figure is made of."""
    of: int
    """All samples of which the distance is known, these among them."""
    usual_ns: float
    """Time of a line, one way, in the others: the median, ns."""
    other_ns: float
    """The same while CPUs were on other cores, ns."""


@dataclass(frozen=True)
class NumaFactor:
    """An initiator on a node."""

    case: str
    """The case, by its id."""
    initiator: int
    """The initiator of the chase."""
    cpu_node: Optional[int]
    """The lowest node with CPUs of that initiator."""
    memory_node: int
    """The node that is accessed."""
    is_local: bool
    """Whether the node is one of the initiator's own."""
    latency: Optional[AccessTime]
    """Of an idle access; null where it was not measured."""
    is_short: bool
    """Whether caches answered a part of the accesses, so that memory alone takes longer."""
    numa_factor: LatencyOutcome
    """That time / the least of the initiator's own nodes; the interval is what those of both leave room for."""
    firmware_factor: Optional[float]
    """The firmware's distance / 10, which by the ACPI's convention is such a factor, or null."""
    firmware_error: Optional[float]
    """That / the measured one - 1, or null."""
    is_firmware_wrong: Optional[bool]
    """Whether what the firmware says is not so; null where that cannot be told."""


@dataclass(frozen=True)
class LatencyOutcomeUnknown:
    unknown: str
    """Why, in words."""


@dataclass(frozen=True)
class LatencyOutcome2Unknown:
    unknown: str
    """Why, in words."""


@dataclass(frozen=True)
class LatencyOutcome3Unknown:
    unknown: str
    """Why, in words."""


@dataclass(frozen=True)
class Outcome4Unknown:
    unknown: str
    """Why, in words."""


@dataclass(frozen=True)
class Outcome5Unknown:
    unknown: str
    """Why, in words."""


@dataclass(frozen=True)
class LatencyModel(Answer):
    """Times of an access of a record."""

    schema: Literal["nearfar.latency/2"]
    """Name and version of this format."""
    host: str
    started: str
    """When measuring began, UTC."""
    executor: Executor
    """Whether a machine was measured or simulated."""
    sealing: Seals
    """Whether the record is as it was written."""
    is_disturbed: bool
    """Whether something disturbed at least half of the samples: figures can then be of disturbed ones alone."""
    may_contain_cache: bool
    """Whether working sets were not shown to be beyond the caches."""
    factors: list[NumaFactor]
    """Each initiator on each node, in this order."""
    span: LatencyOutcome2
    """The NUMA factors of remote nodes together."""
    levels: list[LevelLatency]
    """By size, for initiators and nodes of which there are several: caches from the first on, then memory."""
    curves: list[LoadedCurve]
    """Beside traffic, by initiator, node and kernel."""
    families: list[CurveFamily]
    """The curves of each initiator and node together."""
    advice: list[LatencyAdvice]
    """What to do."""
    moved: Optional[MovedCores]
    """Samples left out because CPUs were on other cores; null where there are none, or nobody looked."""


@dataclass(frozen=True)
class Absent:
    """Something that has no samples, or that failed in one round."""

    case: str
    """The case, or the group of cases, by its id."""
    coordinates: list[Coordinates]
    """Where it would stand, as of a case; empty for a group of cases."""
    absence: Absence
    reason: Reason
    round: Optional[int]
    """The round in which it was refused, from 0; null when it was never begun."""


@dataclass(frozen=True)
class CoordinatesPairs:
    """One group of CPUs on one memory node."""

    experiment: Literal["pairs"]
    group_by: GroupBy
    index: int
    """The CPU group's number among its kind, from 0."""
    initiator: int
    """The initiator that it belongs to."""
    cpu_node: Optional[int]
    """The lowest node with CPUs of that initiator; null: it has none."""
    memory_node: int
    """The node that is accessed."""
    kernel: str
    """Kernel by its name."""
    variant: str
    """Instruction-set variant by its name."""
    threads: int
    stage: Stage


@dataclass(frozen=True)
class CoordinatesScaling:
    """One run of all threads of the machine."""

    experiment: Literal["scaling"]
    affinity: Affinity
    threads: int
    kernel: str
    """Kernel by its name."""
    variant: str
    """Instruction-set variant by its name."""


@dataclass(frozen=True)
class CoordinatesSharing:
    """Local and remote threads on one memory node."""

    experiment: Literal["sharing"]
    memory_node: int
    """The node whose memory both groups use."""
    local_initiator: int
    """The initiator near it."""
    remote_initiator: int
    local_threads: int
    """n, 0 for none."""
    remote_threads: int
    """m, 0 for none."""
    kernel: str
    """Kernel by its name."""
    variant: str
    """Instruction-set variant by its name."""


@dataclass(frozen=True)
class CoordinatesLinks:
    """All initiators of a package, or one of them, on the memory of another package."""

    experiment: Literal["links"]
    from_package: int
    """The package whose cores move data."""
    to_package: int
    """The package whose memory they use."""
    initiator: Optional[int]
    """The initiator of `from_package` that moves data while the others rest; null: all of them do."""
    way: Way
    kernel: str
    """Kernel by its name."""
    variant: str
    """Instruction-set variant by its name."""
    threads: int
    """Threads of `from_package`."""


@dataclass(frozen=True)
class CoordinatesRoofs:
    """A roof, or a point below one."""

    experiment: Literal["roofs"]
    initiator: int
    """The initiator whose roof it is."""
    actor: int
    """Position of its actor in the case, from 0."""
    roof: Roof
    kernel: str
    """Kernel, mix or arithmetic by its name."""
    variant: str
    """Instruction-set variant by its name."""
    threads: int
    """Threads of the initiator."""
    purpose: RoofPurpose


@dataclass(frozen=True)
class CoordinatesHybrid:
    """Loads and stores shared out over a fast and a slow memory."""

    experiment: Literal["hybrid"]
    initiator: int
    fast_node: int
    slow_node: int
    point: HybridPoint
    loads: int
    """Elements loaded in a step of the mix; 0 where nothing is read."""
    stores: int
    """Elements stored in a step of the mix; 0 where nothing is written."""
    load_pages: Optional[PageSplit]
    """Pages of the array that is read; null where nothing is."""
    store_pages: Optional[PageSplit]
    """Pages of the array that is written; null where nothing is."""
    kernel: str
    """Mix by its name."""
    variant: str
    """Instruction-set variant by its name."""
    threads: int


@dataclass(frozen=True)
class CoordinatesMixes:
    """A random set of streams."""

    experiment: Literal["mixes"]
    index: int
    """Its number, from 0."""


@dataclass(frozen=True)
class CoordinatesLatency:
    """The time of an access."""

    experiment: Literal["latency"]
    initiator: int
    """The initiator of the thread."""
    cpu_node: Optional[int]
    """The lowest node with CPUs of that initiator; null: it has none."""
    memory_node: int
    """The node that is accessed."""
    working_set_bytes: int
    """Memory that is walked through."""
    pages: Pages
    walk: ChaseWalk
    load: Optional[LatencyLoad]
    """What loads the memory beside it, the second actor; null where nothing does."""


@dataclass(frozen=True)
class CoordinatesExchange:
    """A line that two CPUs hand to each other."""

    experiment: Literal["exchange"]
    first_cpu: int
    """The CPU that begins."""
    second_cpu: int
    """The CPU that answers."""
    memory_node: int
    """The node whose memory the line is in."""
    by: HandOver


@dataclass(frozen=True)
class CoordinatesDevicesTransfer:
    """A transfer, alone or beside something."""

    experiment: Literal["devices"]
    part: Literal["transfer"]
    device: str
    """The device, by its id among the inputs."""
    actor: int
    """Position of the transfer among the case's actors."""
    initiator: int
    """The initiator of the host's thread."""
    cpu_node: Optional[int]
    """The lowest node with CPUs of that initiator; null: it has none."""
    memory_node: Optional[int]
    """The node of the host's pages; null between devices."""
    direction: TransferDirection
    host_memory: Optional[HostMemory]
    """What the host's pages are; null between devices."""
    peer: Optional[str]
    """The device that is copied to, by its id; null where it is the host."""
    bytes: int
    """One copy, each way."""
    beside: Optional[TransferBeside]
    """What runs at the same time, the case's other actor; null where nothing does."""


@dataclass(frozen=True)
class CoordinatesDevicesStreams:
    """What runs beside transfers elsewhere, alone."""

    experiment: Literal["devices"]
    part: Literal["streams"]
    initiator: int
    """The initiator of the threads."""
    cpu_node: Optional[int]
    """The lowest node with CPUs of that initiator; null: it has none."""
    memory_node: int
    """The node of their pages."""
    kernel: str
    """Kernel by its name."""
    variant: str
    """Instruction-set variant by its name."""
    threads: int


@dataclass(frozen=True)
class CoordinatesNetwork:
    """Messages to and from another machine."""

    experiment: Literal["network"]
    initiator: int
    """Of the threads."""
    cpu_node: Optional[int]
    """The initiator's node that has CPUs; null for one without."""
    memory_node: int
    """The node of the threads' pages."""
    way: MessageDirection
    message_bytes: int
    """Bytes of one message."""
    threads: int


@dataclass(frozen=True)
class CoordinatesCommands:
    """A program at a placement."""

    experiment: Literal["commands"]
    command: str
    """The program's label."""
    initiator: int
    """The initiator of its CPUs."""
    cpu_node: Optional[int]
    """The lowest node with CPUs of that initiator; null: it has none."""
    memory_node: Optional[int]
    """The node that its memory is asked for on; null where pages are dealt out over several."""
    load: Optional[LatencyLoad]
    """Threads that load the same memory beside it; null for a run alone."""


@dataclass(frozen=True)
class CoordinatesWorkloads:
    """One of the papers' programs at a placement."""

    experiment: Literal["workloads"]
    workload: str
    """Its name and size, as `cg.A`."""
    initiator: Optional[int]
    """The initiator of its threads; null where they are spread over the machine."""
    cpu_node: Optional[int]
    """The lowest node with CPUs of that initiator; null: it has none, or threads are spread."""
    memory_node: Optional[int]
    """The node of all its pages; null where a strategy places them."""
    strategy: Optional[PlacementStrategy]
    """The strategy that places them; null where they are on one node."""
    threads: int


@dataclass(frozen=True)
class DeviatingPair:
    """A pair that is of another level than most that lie as it does."""

    cpus: tuple[int, int]
    relation: CpuRelation
    level: int
    usual_level: int
    """The level of most pairs that lie so."""
    time_ns: Estimate
    """Its time by store and load."""


@dataclass(frozen=True)
class ExchangeLevel:
    """Pairs of CPUs that take about as long."""

    level: int
    """From 0, the fastest."""
    store_load_ns: Estimate
    """By store and load: median over its pairs."""
    compare_swap_ns: Optional[Estimate]
    """By compare-and-swap on the same pairs; null where none was measured so."""
    relations: dict[str, int]
    """Pairs that lie so to each other, by how they do; those of which the topology says nothing are left out here."""
    pairs: list[tuple[int, int]]
    """Both CPUs of each pair."""


@dataclass(frozen=True)
class GroupHandOver:
    """Pairs of CPUs of a group, or of two."""

    groups: tuple[int, int]
    """Positions among `groups`, the lower first."""
    by: HandOver
    time_ns: Estimate
    """Median over its pairs."""
    pairs: int


@dataclass(frozen=True)
class HandOverFigures:
    """A line that two CPUs hand to each other."""

    case: str
    """Its id in the record."""
    llc_multiple: Optional[float]
    """Of a case with a chase, lines that it touches / caches involved; of others the smallest working set / caches of its streams. Null where that is not known, or no actor touches memory."""
    absent: list[Absent]
    """Why it has no figures, or not all: what was refused or omitted, in the order of the record."""
    first_cpu: int
    """The CPU that begins."""
    second_cpu: int
    """The CPU that answers."""
    memory_node: int
    """The node whose memory the line is in."""
    by: HandOver
    relation: Optional[CpuRelation]
    """How the two CPUs lie to each other; null where the topology does not say."""
    hand_over: Optional[AccessTime]
    """Time of a hand-over, one way; null without samples, and where a round had none."""


@dataclass(frozen=True)
class HybridPointCorner:
    """One kind alone: its bandwidth b."""

    point: Literal["corner"]
    of: TransferKind


@dataclass(frozen=True)
class HybridPointPair:
    """Two kinds, of which one takes a little longer: their overlap."""

    point: Literal["pair"]
    dominating: TransferKind
    """The one that takes longer."""
    beside: TransferKind


@dataclass(frozen=True)
class HybridPointSurface:
    """A point of the surface that the fitted model is validated by."""

    point: Literal["surface"]


@dataclass(frozen=True)
class LatencyLoad:
    """What loads the memory beside a chase; the second actor of the case."""

    kernel: str
    """Kernel or mix by its name."""
    variant: str
    """Instruction-set variant by its name."""
    threads: int
    pause_cycles: int
    """As of a stream."""
    loads: int
    """Elements that the kernel loads in a step; 0 with no stores: an old record does not say."""
    stores: int
    """Elements that it stores in a step."""


@dataclass(frozen=True)
class ExchangeOutcomeUnknown:
    unknown: str
    """Why, in words."""


@dataclass(frozen=True)
class PageSplit:
    """Of this many pages in turn those in the fast and those in the slow memory."""

    fast: int
    slow: int


@dataclass(frozen=True)
class Reason:
    """Why something is absent."""

    code: ReasonCode
    """For programs."""
    text: str
    """For people: what happened, and what to do about it where something can be done."""


@dataclass(frozen=True)
class RoofCompute:
    """Arithmetic on registers."""

    limit: Literal["compute"]


@dataclass(frozen=True)
class RoofCache:
    """A cache of the CPU, each thread with its part."""

    limit: Literal["cache"]
    level: int
    """1 is the one next to the core."""


@dataclass(frozen=True)
class RoofMemory:
    """A memory node, the rest of the machine idle."""

    limit: Literal["memory"]
    node: int


@dataclass(frozen=True)
class RoofInterleaved:
    """All nodes of a kind, page by page in turn, the rest of the machine idle."""

    limit: Literal["interleaved"]
    kind: MemoryKind


@dataclass(frozen=True)
class RoofContended:
    """A memory node that several initiators use at once."""

    limit: Literal["contended"]
    node: int
    initiators: int
    """How many initiators, this one among them."""


@dataclass(frozen=True)
class RoofAllLocal:
    """Its own node while every other initiator uses its own."""

    limit: Literal["all_local"]
    node: int
    """The initiator's own node."""


@dataclass(frozen=True)
class RoofCongested:
    """All nodes of a kind, page by page in turn, all initiators at once."""

    limit: Literal["congested"]
    kind: MemoryKind


@dataclass(frozen=True)
class TransferBesideStreams:
    """Threads on the node of the host's pages."""

    beside: Literal["streams"]
    kernel: str
    """Kernel by its name."""
    variant: str
    """Instruction-set variant by its name."""
    threads: int


@dataclass(frozen=True)
class TransferBesideDevice:
    """A transfer of another device, the same way."""

    beside: Literal["device"]
    device: str
    """Its id among the inputs."""


@dataclass(frozen=True)
class ExchangeModel(Answer):
    """Times of a hand-over of a record."""

    schema: Literal["nearfar.exchange/1"]
    """Name and version of this format."""
    host: str
    started: str
    """When measuring began, UTC."""
    executor: Executor
    """Whether a machine was measured or simulated."""
    sealing: Seals
    """Whether the record is as it was written."""
    is_disturbed: bool
    """Whether something disturbed at least half of the samples: figures can then be of disturbed ones alone."""
    may_contain_cache: bool
    """Whether working sets were not shown to be beyond the caches."""
    pairs: list[HandOverFigures]
    """Pairs of CPUs, by both, node and way."""
    levels: list[ExchangeLevel]
    """Levels of times by store and load, the fastest first."""
    deviating: list[DeviatingPair]
    """Pairs that are of another level than most that lie as they do."""
    compare_swap: ExchangeOutcome
    """What compare-and-swap takes / what store and load take, over pairs that have both."""
    groups: list[str]
    """CPUs that share a last-level cache; on a machine with many such groups its packages."""
    between_groups: list[GroupHandOver]
    """The same pairs by the groups of their CPUs."""
    level_span: float
    """A level spans at most this part of its largest time, a fraction."""


@dataclass(frozen=True)
class AboveLone:
    """What equation 4 of the paper cannot say of a grid."""

    cells: int
    """Mixed cells whose two lone figures were measured too."""
    above: int
    """Those of which the total is above both."""
    largest: Optional[Excess]
    """Where it is furthest above."""


@dataclass(frozen=True)
class Excess:
    local_threads: int
    """n."""
    remote_threads: int
    """m."""
    excess: float
    """total / larger lone figure - 1."""


@dataclass(frozen=True)
class Fairness:
    """What both groups lose beside each other."""

    cells: int
    """Mixed cells whose two lone figures were measured too."""
    local: Loss
    """The local group."""
    remote: Loss
    """The remote group."""
    on_average: WhoLosesMore
    """Who loses more on average."""
    under_full_load: WhoLosesMore
    """Who loses more in the cell with the most threads."""


@dataclass(frozen=True)
class LawFitPressure:
    """Each group is slowed by the pressure of the other."""

    inside: Residual
    """On the cells that it was fitted to."""
    left_out: Optional[Residual]
    """On cells that were left out of the fit one after the other; null with one cell."""
    cells: int
    """Mixed cells that it was fitted to."""
    law: Literal["pressure"]
    a: float
    """How much the local threads are slowed."""
    b: float
    """How much the remote threads are slowed."""


@dataclass(frozen=True)
class LawFitSaturation:
    """The controller saturates."""

    inside: Residual
    """On the cells that it was fitted to."""
    left_out: Optional[Residual]
    """On cells that were left out of the fit one after the other; null with one cell."""
    cells: int
    """Mixed cells that it was fitted to."""
    law: Literal["saturation"]
    limit_gb_per_s: float
    """K: what the controller gives at most."""
    sharpness: float
    """p: how sharply it saturates."""
    remote_weight: float
    """k: what a remote byte weighs against a local one when the node is shared out."""


@dataclass(frozen=True)
class LoneCurve:
    """A group alone by its number of threads; at least one point."""

    points: list[LonePoint]
    """What was measured, by threads."""
    most_threads: int
    """The most threads that were planned."""


@dataclass(frozen=True)
class LonePoint:
    """A group alone, measured."""

    threads: int
    sum_gb_per_s: Estimate
    """All threads together."""
    paced_gb_per_s: Estimate
    """Threads x the slowest."""
    from_pairs: bool
    """Whether `pairs` measured it and not `sharing`; the cases are alike."""


@dataclass(frozen=True)
class Loss:
    """1 - what a group moves beside the other / what it moves alone."""

    mean: float
    """Mean over the cells."""
    under_full_load: float
    """In the cell with the most threads."""
    slope: Optional[float]
    """How much more with each thread of either group, by least squares; null with fewer than three cells or only one number of threads."""


@dataclass(frozen=True)
class MeasuredCell:
    total_gb_per_s: Estimate
    """Both groups."""
    paced_gb_per_s: Estimate
    """Threads x the slowest of all."""
    local_gb_per_s: Optional[Estimate]
    """The local group; null without local threads."""
    remote_gb_per_s: Optional[Estimate]
    """The remote group; null without remote threads."""
    beta: Optional[float]
    """Remote / total; null where nothing moved."""


@dataclass(frozen=True)
class ProcessSplit:
    """Processes near their memory and processes far from it."""

    near: int
    far: int
    support: Support
    """Where the figures come from."""
    sum_gb_per_s: Estimate
    """All together: of a measured figure its interval, of a predicted one what the law can be off; none where neither is known."""
    paced_gb_per_s: Estimate
    """Processes x the slowest."""
    near_each_gb_per_s: Optional[float]
    """What each of the near ones gets, or null."""
    far_each_gb_per_s: Optional[float]
    """What each of the far ones gets, or null."""
    beta: Optional[float]
    """The far ones' part of the sum, or null."""
    is_as_good_as_best: bool
    """Whether it can be put instead of the best: it is not lower by more than the best and, as far as it is known no worse, itself can be off, and where that gains on all near, so does it."""


@dataclass(frozen=True)
class Residual:
    """How far a law is off, root mean square of relative errors over cells."""

    total: float
    group: float
    """Local and remote groups."""
    all: float
    """Totals and groups: by this laws are compared."""


@dataclass(frozen=True)
class SharedCell:
    """A cell of a grid."""

    local_threads: int
    """n."""
    remote_threads: int
    """m."""
    measured: Optional[MeasuredCell]
    """What was measured; null for a cell that is only predicted."""
    predicted: Optional[Shares]
    """By the law that is reported; of a cell with one group its lone figure, and null where that was measured."""
    predicted_total_gb_per_s: Optional[Estimate]
    """Both groups by that law, and where that lies."""
    by_other_law: Optional[Shares]
    """By the other law; null with one group."""
    total_error: Optional[float]
    """predicted / measured - 1 of the total, or null."""
    support: Support
    """Whether it was measured, lies between cells that were fitted, or beyond."""
    lone_support: Support
    """Where the lone figures of the prediction come from: the worse of the two."""
    law_difference: Optional[float]
    """By how much the two laws differ at most in a group or the total, a fraction; null with one group."""
    is_worth_measuring: bool
    """Whether it was not measured and the laws differ so much that it should be."""
    why_absent: Optional[str]
    """Why a cell of the plan has no figures; null for all others."""


@dataclass(frozen=True)
class SharedGrid:
    """A grid with its laws."""

    memory_node: int
    """The node whose memory both groups use."""
    local_initiator: int
    remote_initiator: int
    kernel: str
    """Kernel by its name."""
    variant: str
    """Instruction-set variant by its name."""
    local: LoneCurve
    """The local group alone."""
    remote: LoneCurve
    """The remote group alone."""
    fit: LawFit
    """The law that predicts better what is left out of its fit; without such a comparison the pressure law."""
    other: LawFit
    is_predictive: bool
    """Whether the law is near enough to predict cells that were not measured: off by at most a third where a cell is left out of its fit, or that is not known."""
    cells: list[SharedCell]
    """The cells of the plan, and those between them by a full grid's counts of threads, by local and then by remote threads."""
    above_lone: AboveLone
    """What equation 4 of the paper cannot give."""
    fairness: Optional[Fairness]
    """What both groups lose beside each other; null without a mixed cell whose lone figures were measured."""
    rankings: list[SplitRanking]
    """The best splits of as many processes as the local initiator holds, and of the counts of threads of a full grid below, two at least; for both ways to share work."""


@dataclass(frozen=True)
class Shares:
    """What two groups get beside each other."""

    local_gb_per_s: float
    """The local threads."""
    remote_gb_per_s: float
    """The remote threads."""


@dataclass(frozen=True)
class SplitRanking:
    """Splits of N processes."""

    work: WorkSharing
    """How they share their work."""
    processes: int
    """N."""
    verdict: SplitVerdict
    """What follows from them."""
    gain: Optional[float]
    """First / all near - 1; null where not all fit near."""
    all_near: Optional[ProcessSplit]
    """All of them near; null where they do not fit."""
    splits: list[ProcessSplit]
    """By bandwidth, the best first; of a model the best and those that are as good, at most four. Before it stands one that is lower, but surely better than all near where the best is not; and of what is to be put, measured ones stand before predicted ones."""
    as_good_splits: int
    """How many are as good as the best, it included."""
    unsure_splits: list[tuple[int, int]]
    """Splits, near and far, that are not as good by what is known, but may be: it is too little."""
    wants_more: bool
    """Whether measuring more would tell more."""


@dataclass(frozen=True)
class UnfittedGrid:
    """A grid of which too little was measured."""

    memory_node: int
    """The node whose memory both groups use."""
    local_initiator: int
    remote_initiator: int
    kernel: str
    """Kernel by its name."""
    variant: str
    """Instruction-set variant by its name."""
    why: str
    """Why it has no law, without a full stop."""


@dataclass(frozen=True)
class SharingModel(Answer):
    """Local and remote threads on one memory node (saad2022); `model RECORD sharing --json` prints it."""

    schema: Literal["nearfar.sharing/2"]
    """Name and version of this format."""
    host: str
    started: str
    """When measuring began, UTC."""
    executor: Executor
    """Whether a machine was measured or simulated."""
    sealing: Seals
    """Whether the record is as it was written."""
    is_disturbed: bool
    """Whether something disturbed at least half of the samples: figures can then be of disturbed ones alone."""
    may_contain_cache: bool
    """Whether working sets were not shown to be beyond the caches."""
    grids: list[SharedGrid]
    """Grids with laws, by node, initiators, kernel and variant."""
    unfitted: list[UnfittedGrid]
    """Grids without, and why."""
    more_cells: Optional[str]
    """The command that measures more cells of the grids; null where all were asked for."""


@dataclass(frozen=True)
class BandwidthRoof:
    """A roof of bandwidth."""

    roof: Roof
    """What limits."""
    is_local: Optional[bool]
    """Whether the node is the initiator's own; null for a roof that is not one node's."""
    kernel: str
    """How memory is accessed, by the kernel's or mix's name: `load`."""
    variant: str
    """The variant that is best at it."""
    threads: int
    """Threads of the initiator."""
    gb_per_s: Estimate2
    """Useful bytes of all threads together."""
    is_refuted: bool
    """Whether points of known intensity are so far off the roof that it predicts nothing."""
    ridges: list[Ridge]
    """Where it meets each ceiling, in their order."""
    corners: list[Corner]
    """The roof as a line below the ceiling; empty without one."""


@dataclass(frozen=True)
class Ceiling:
    """A roof of arithmetic."""

    kernel: str
    """The arithmetic by its name: `fma_dp`."""
    variant: str
    """The variant that is best at it."""
    threads: int
    """Threads of the initiator."""
    gflop_per_s: Estimate
    """All threads together."""


@dataclass(frozen=True)
class Chart:
    """The roofs of an initiator, and the points that they are validated by."""

    initiator: int
    cpus: str
    """Its CPUs; none where the machine has no such initiator."""
    cpu_node: Optional[int]
    """Its node with CPUs, on which pages come to lie that its threads touch first; null for a initiator without one."""
    within_of: Optional[int]
    """The initiator whose caches and arithmetic stand here, because its own were not measured and that one has as many threads; null where they are its own, or nobody's."""
    ceiling: Optional[str]
    """The arithmetic that points and corners are held against: the highest of double precision, and where there is none the highest; null without any."""
    ceilings: list[Ceiling]
    """Roofs of arithmetic, the highest first."""
    roofs: list[BandwidthRoof]
    """Roofs of bandwidth: caches, local and remote nodes, interleaved, contended, all local, congested."""
    validations: list[RoofValidation]
    """Points below the roofs, by roof; those of `within_of` where it has none itself."""
    workloads: list[PhasePoint]
    """Phases of workloads that ran on this initiator by as many threads, in the order of the plan."""
    least_difference: float
    """What figures of memory must differ by to be told apart, a fraction of them."""
    programs: list[ProgramExpectation]
    """What programs can expect."""
    advice: list[RooflineAdvice]
    """What to do."""


@dataclass(frozen=True)
class Corner:
    """A corner of a roof's line."""

    flops_per_byte: float
    gflop_per_s: float
    """What is attainable there."""


@dataclass(frozen=True)
class Expected:
    """What a program can expect of one placement."""

    roof: Roof
    """The placement, by the roof that it meets."""
    is_local: Optional[bool]
    """Whether the node is the initiator's own; null for a placement that is not on one node."""
    is_first_touch: bool
    """Whether pages come to lie so where each thread first touches what it will use."""
    gb_per_s: float
    """Useful bytes of the roof."""
    gflop_per_s: Estimate
    """What the program can attain there."""
    is_refuted: bool
    """Whether points refute the roof, so that nothing can be expected."""


@dataclass(frozen=True)
class PhasePoint:
    """A phase of a workload, by as many threads as the roofs, below the roofs of its placement."""

    workload: str
    """Its name and size."""
    phase: str
    case: str
    """The case, by its id."""
    memory_node: int
    """The node of its pages."""
    time_share: float
    """Of the time of all phases."""
    flops_per_byte: Optional[float]
    """Per byte that its loops move between memory and caches, as declared; null where it computes nothing or moves nothing."""
    gflop_per_s: float
    """Median over runs, as its bandwidth."""
    declared_gb_per_s: float
    """Declared bytes, both ways."""
    attainable_gflop_per_s: Optional[float]
    """What the roof of its placement and the ceiling allow at its intensity; null where it has none."""
    ratio: Optional[float]
    """What it reaches of the nearer of the roof of its node's loads and the ceiling; null where one of them that bounds it was not measured, or points refute it."""
    limit: Optional[PhaseLimit]
    """Null with the ratio."""


@dataclass(frozen=True)
class ProgramExpectation:
    """What a program can expect of an initiator."""

    program: str
    """Its name in the paper."""
    flops_per_byte: float
    kernel: str
    """The kernel or mix that accesses memory as it does."""
    alone: list[Expected]
    """While the rest of the machine is idle: its pages on each node, the best first."""
    alone_factor: Optional[float]
    """Best / worst of these; null where there is nothing to choose from."""
    together: list[Expected]
    """While all initiators do the same: each on its own node, all on all nodes of a kind in turn, all on one node; the best first."""
    together_factor: Optional[float]
    """Best / worst of these; null where there is nothing to choose from."""


@dataclass(frozen=True)
class Ridge:
    """Where a roof of bandwidth meets a ceiling."""

    ceiling: str
    """The arithmetic."""
    flops_per_byte: float
    """Below it bandwidth limits, above it arithmetic."""


@dataclass(frozen=True)
class RoofCommands:
    """Commands that would tell more of the record's machine."""

    again: str
    """Measures the roofs again."""
    all: str
    """Measures all of them."""
    hybrid: str
    """Measures the points of the hybrid model."""


@dataclass(frozen=True)
class RoofErrors:
    """What the points below a roof come to, fractions of what is attainable."""

    paper: float
    """The paper's: `1/n sqrt(sum r^2)`, r = measured / attainable - 1. Smaller than the true one by the square root of n."""
    relative_rms: float
    """The true relative RMS: `sqrt(1/n sum r^2)`."""
    mean: float
    """The mean of r with its sign."""
    worst: int
    """Position of the point with the largest r."""
    refutes: bool
    """Whether the points are so far off that the roof predicts nothing."""


@dataclass(frozen=True)
class RoofValidation:
    """The points below one roof."""

    initiator: int
    """The initiator whose points they are."""
    roof: Roof
    """The roof of bandwidth."""
    is_local: Optional[bool]
    """Whether the node is the initiator's own; null for a roof that is not one node's."""
    variant: str
    """The variant of the points."""
    planned: int
    """Points that were planned; those without a figure, or without a roof, are not in `points`."""
    points: list[ValidationPoint]
    """By intensity."""
    errors: Optional[RoofErrors]
    """What the points come to; null without points."""


@dataclass(frozen=True)
class RooflineAdvicePutPages:
    """Put the pages of a program of one initiator on the node of its first placement."""

    do: Literal["put_pages"]
    program: int
    of_nodes: int
    """Memory nodes of the machine, measured or not."""


@dataclass(frozen=True)
class RooflineAdviceLeavePages:
    """Let them lie where they are: the placements differ by less than the model can tell apart."""

    do: Literal["leave_pages"]
    program: int
    of_nodes: int
    """Memory nodes of the machine, measured or not."""


@dataclass(frozen=True)
class RooflineAdviceExpectOnly:
    """Expect what its only placement gives."""

    do: Literal["expect_only"]
    program: int
    has_others: bool
    """Whether the machine has other nodes."""


@dataclass(frozen=True)
class RooflineAdviceArrangePages:
    """Arrange the pages of a program of all initiators as its first placement has them."""

    do: Literal["arrange_pages"]
    program: int
    between: list[int]
    """Placements between the best and the worst that are worth naming."""


@dataclass(frozen=True)
class RooflineAdviceArrangeFreely:
    """Arrange them in any way: the placements differ by less than the model can tell apart."""

    do: Literal["arrange_freely"]
    program: int


@dataclass(frozen=True)
class RooflineAdviceExpectOnlyTogether:
    """Expect what the only placement of all initiators gives."""

    do: Literal["expect_only_together"]
    program: int


@dataclass(frozen=True)
class RooflineAdviceComputeBetter:
    """Compute better: above this intensity the initiator's own memory does not limit."""

    do: Literal["compute_better"]
    roof: int
    ceiling: int
    flops_per_byte: float


@dataclass(frozen=True)
class RooflineAdviceDistrustRoofs:
    """Measure again: points refute these roofs."""

    do: Literal["distrust_roofs"]
    validations: list[int]
    worst: int


@dataclass(frozen=True)
class RooflineAdviceTrustRoofs:
    """Rely on the roofs, whose points are off most below this one."""

    do: Literal["trust_roofs"]
    worst: int


@dataclass(frozen=True)
class RooflineAdviceMeasurePoints:
    """Measure points: none tells how well the roofs predict."""

    do: Literal["measure_points"]


@dataclass(frozen=True)
class RooflineAdviceMeasureExceeded:
    """Measure a roof again that a point lies above."""

    do: Literal["measure_exceeded"]
    validation: int
    point: int


@dataclass(frozen=True)
class ValidationPoint:
    """A loop of known intensity."""

    kernel: str
    """The mix by its name."""
    flops_per_byte: float
    gflop_per_s: Estimate
    """What was measured."""
    attainable_gflop_per_s: float
    """What the lower roof allows."""
    ratio: float
    """Measured / attainable."""
    exceeds: bool
    """Whether it lies above the roof by more than 2 % and more than the intervals of both explain: then that is no roof."""


@dataclass(frozen=True)
class RooflineModel(Answer):
    """What limits each initiator at each arithmetic intensity (denoyelle2019)."""

    schema: Literal["nearfar.roofline/2"]
    """Name and version of this format."""
    host: str
    started: str
    """When measuring began, UTC."""
    executor: Executor
    """Whether a machine was measured or simulated."""
    sealing: Seals
    """Whether the record is as it was written."""
    is_disturbed: bool
    """Whether something disturbed at least half of the samples: figures can then be of disturbed ones alone."""
    may_contain_cache: bool
    """Whether working sets were not shown to be beyond the caches."""
    charts: list[Chart]
    """A chart for each initiator that has roofs."""
    commands: RoofCommands
    """What would tell more."""


@dataclass(frozen=True)
class GainOver:
    """By how much a placement is better than another."""

    over: PlacementName
    """The other one."""
    gain: float
    """Predicted / that of the other - 1, by the kinds with the largest t."""
    is_claimed: bool
    """Whether it is more than the room of the model's error, whichever kinds dominate. Without a known error, without enough rounds for intervals or with shares that are not validated none is."""
    is_sure_loss: bool
    """Whether the other one is so much better."""


@dataclass(frozen=True)
class HeldOutErrors:
    """How far the model is off."""

    points: int
    """Points that could be predicted."""
    paper_measure: float
    """denoyelle2019's measure: 1/n sqrt(sum of ((measured - model) / model)^2). It falls with the number of points even where each is as far off."""
    relative_rms: float
    """sqrt(1/n sum of the same squares): the true relative root mean square."""
    worst: float
    """The point that is farthest off, predicted / measured - 1."""
    room: float
    """How far off a prediction may be, a fraction, and what a gain must be above to be claimed: twice the relative root mean square; of fewer than ten points at least as far as the worst of them."""


@dataclass(frozen=True)
class HeldOutPoint:
    """A point that was measured and never fitted."""

    case: str
    """The case, by its id."""
    load_share: float
    """Share of loads in all bytes, 0 to 1."""
    load_fast_share: Optional[float]
    """Share of the read buffers that is in the fast memory, 0 to 1; null where nothing is read."""
    store_fast_share: Optional[float]
    """Share of the written buffers that is in the fast memory, 0 to 1; null where nothing is written."""
    measured_gb_per_s: float
    """Mean of the rounds without outliers."""
    predicted_gb_per_s: Optional[float]
    """By the model; null where an overlap that is needed is not known."""
    error: Optional[float]
    """Predicted / measured - 1; null as that."""
    has_one_share: bool
    """Whether what is read and what is written were asked to lie alike, or only one is there."""


@dataclass(frozen=True)
class HybridAdviceLeave:
    """Leave buffers as the default placement has them."""

    do: Literal["leave"]
    because: NoGain
    """Why no other is taken."""


@dataclass(frozen=True)
class HybridAdvicePut:
    """Put buffers as the recommended placement has them."""

    do: Literal["put"]
    rounding_cost: Optional[float]
    """The fraction of it that the rounding of weights costs; null where that is too little to tell."""
    drop: Optional[HybridDrop]
    """Close to these shares the model drops; null where it does not."""


@dataclass(frozen=True)
class HybridAdviceAvoidJump:
    """Expect nothing of the shares that this placement would have if they were not at a jump of the model."""

    do: Literal["avoid_jump"]
    placement: PlacementName


@dataclass(frozen=True)
class HybridAdviceTrySeparately:
    """Try different shares for what is read and what is written on the program itself: the model gives more for them, and no point validates it."""

    do: Literal["try_separately"]


@dataclass(frozen=True)
class HybridAdviceFillHalf:
    """Where only half of the data finds room in the fast memory, put buffers as `half_fast` has them."""

    do: Literal["fill_half"]


@dataclass(frozen=True)
class HybridAdviceMeasureOverlaps:
    """Measure the overlaps without which no gain over the default placement can be told."""

    do: Literal["measure_overlaps"]
    missing: list[tuple[TransferKind, TransferKind]]
    """The kind that takes longest, and the one beside it."""
    most: Optional[int]
    """Position of the placement that gives most of those that can be predicted, or null."""


@dataclass(frozen=True)
class HybridAdviceSuspectBetter:
    """Keep in mind that a better share may not be seen: overlaps are missing for some."""

    do: Literal["suspect_better"]


@dataclass(frozen=True)
class HybridAnswer:
    """What a program with one share of loads gets of two memories."""

    load_share: float
    """Share of loads in all bytes."""
    default_placement: PlacementName
    """Where pages come to lie that nobody places: the initiator's own node with CPUs, or the fast memory where that is neither of the two."""
    placements: list[HybridPlacement]
    """The placements that can be predicted."""
    recommended: Optional[PlacementName]
    """Of these the simplest whose gain over simpler ones is claimed; null where the default cannot be predicted."""
    is_complete: bool
    """Whether no overlap is missing: else a better share may not be seen."""
    advice: list[HybridAdvice]
    """What to do."""


@dataclass(frozen=True)
class HybridCorner:
    """One kind of transfer alone."""

    of: TransferKind
    gb_per_s: Estimate
    """Mean of the rounds without outliers; its interval is that of drawn rounds, null with fewer than five."""


@dataclass(frozen=True)
class HybridDrop:
    """Where a program gets much less than with the recommended share of the fast memory, close to it."""

    fast_share: float
    """Share of all bytes in the fast memory."""
    gb_per_s: Estimate


@dataclass(frozen=True)
class HybridLeftOut:
    """An initiator with two memories that has no model."""

    initiator: int
    fast_node: int
    """Node of the memory that should be faster."""
    slow_node: int
    why: str
    """Why, in words."""


@dataclass(frozen=True)
class HybridOverlap:
    """What of one kind's time does not overlap with another's."""

    dominating: TransferKind
    """The kind that takes longest."""
    beside: TransferKind
    fit: HybridOutcome
    """The overlap, or why it is not known."""


@dataclass(frozen=True)
class HybridPair:
    """An initiator's loads and stores over a fast and a slow memory."""

    initiator: int
    fast_node: int
    """Node of the memory that should be faster."""
    fast_kind: MemoryKind
    fast_memory_bytes: Optional[int]
    """Its size, or null."""
    slow_node: int
    slow_kind: MemoryKind
    default_node: Optional[int]
    """Which of the two a program's pages come to lie on that asks for nothing: the initiator's node with CPUs; null where it is neither."""
    threads: int
    variant: str
    """Instruction-set variant."""
    fewest_rounds: int
    """Rounds of the case with the fewest."""
    corners: tuple[HybridCorner, HybridCorner, HybridCorner, HybridCorner]
    """Each kind alone: lf, sf, ls, ss."""
    is_fast_faster: bool
    """Whether loads from the memory that should be faster are faster."""
    overlaps: list[HybridOverlap]
    """The twelve ordered pairs of kinds, by the one that takes longest."""
    errors: HybridOutcome2
    """How far the model is off on points that were never fitted, with one share for all buffers."""
    separate_errors: Optional[HeldOutErrors]
    """The same with different shares for what is read and what is written; null with fewer than four points."""
    held_out: list[HeldOutPoint]
    """What was measured and never fitted."""
    surface: list[HybridSurfacePoint]
    """What the model gives over shares of loads and of fast pages."""
    answers: list[HybridAnswer]
    """What programs get, and what to do: those that only read, that read twice or once for each write, that only write."""
    remedy: str
    """The command that measures its cases with enough rounds."""


@dataclass(frozen=True)
class HybridPlacement:
    """A way to place buffers, and what it gives."""

    name: PlacementName
    load_share: float
    """Share of loads in all bytes, 0 to 1."""
    load_fast_share: Optional[float]
    """Share of the read buffers that is in the fast memory, 0 to 1; null where nothing is read."""
    store_fast_share: Optional[float]
    """Share of the written buffers that is in the fast memory, 0 to 1; null where nothing is written."""
    fast_share: float
    """Share of all bytes in the fast memory."""
    gb_per_s: Estimate
    """By the kind that takes longest; where what is read and what is written have different shares, the lowest that any kind gives which carries traffic. Interval: 95 % of the fits to drawn rounds, by all kinds that may take longest, and at least the room of the error on points that were not fitted to either side; null where neither is known, and where the shares are not validated."""
    lowest_gb_per_s: float
    """The lowest that a kind gives which may take longest; with different shares that any kind gives which carries traffic."""
    highest_gb_per_s: float
    """The highest that a kind gives which may take longest."""
    is_validated: bool
    """Whether points with shares of this sort, one for all buffers or different ones, were measured and never fitted; else nothing is claimed of them."""
    time_ns: float
    """Time for 1000 bytes of the whole."""
    kind_times_ns: tuple[float, float, float, float]
    """Time of each kind alone for its part of them: lf, sf, ls, ss."""
    dominating: TransferKind
    """The kind that takes longest."""
    may_dominate: list[TransferKind]
    """The others that are within three standard errors of it: with them the model jumps, and which side is true cannot be told."""
    unclaimed: Optional[HybridPrediction]
    """What equation 5 promises more elsewhere and cannot be claimed; null where there is none."""
    load_policy: Optional[MemoryPolicy]
    """The memory policy of what is read, with small weights; null where nothing is."""
    store_policy: Optional[MemoryPolicy]
    """The same of what is written."""
    weighted_gb_per_s: Optional[float]
    """With these policies, the lowest by the kinds that may take longest; null where an overlap that they need is not known."""
    gains: list[GainOver]
    """Over `all_fast`, `all_slow` and `even`, as far as these are others and can be predicted."""


@dataclass(frozen=True)
class HybridPrediction:
    """What a program gets with given shares."""

    load_share: float
    """Share of loads in all bytes, 0 to 1."""
    load_fast_share: Optional[float]
    """Share of the read buffers that is in the fast memory, 0 to 1; null where nothing is read."""
    store_fast_share: Optional[float]
    """Share of the written buffers that is in the fast memory, 0 to 1; null where nothing is written."""
    fast_share: float
    """Share of all bytes in the fast memory."""
    gb_per_s: Estimate
    """By the kind that takes longest; where what is read and what is written have different shares, the lowest that any kind gives which carries traffic. Interval: 95 % of the fits to drawn rounds, by all kinds that may take longest, and at least the room of the error on points that were not fitted to either side; null where neither is known, and where the shares are not validated."""
    lowest_gb_per_s: float
    """The lowest that a kind gives which may take longest; with different shares that any kind gives which carries traffic."""
    highest_gb_per_s: float
    """The highest that a kind gives which may take longest."""
    is_validated: bool
    """Whether points with shares of this sort, one for all buffers or different ones, were measured and never fitted; else nothing is claimed of them."""
    time_ns: float
    """Time for 1000 bytes of the whole."""
    kind_times_ns: tuple[float, float, float, float]
    """Time of each kind alone for its part of them: lf, sf, ls, ss."""
    dominating: TransferKind
    """The kind that takes longest."""
    may_dominate: list[TransferKind]
    """The others that are within three standard errors of it: with them the model jumps, and which side is true cannot be told."""


@dataclass(frozen=True)
class HybridSurfacePoint:
    """What the model gives at given shares."""

    load_share: float
    """Share of loads in all bytes."""
    fast_share: float
    """Share of all buffers in the fast memory."""
    gb_per_s: Optional[float]
    """Null where an overlap that it needs is not known."""


@dataclass(frozen=True)
class HybridOutcomeUnknown:
    unknown: str
    """Why, in words."""


@dataclass(frozen=True)
class HybridOutcome2Unknown:
    unknown: str
    """Why, in words."""


@dataclass(frozen=True)
class OverlapValue:
    """An overlap as it was fitted."""

    overlap_theta: Estimate2
    """The share of the other's time that does not overlap: 0 where all is hidden, 1 where one waits for the other, above 1 where they hinder each other. Its interval is that of the fits to drawn rounds, null with fewer than five."""
    standard_error: Optional[float]
    """Of the fit without bounds, by the middle of the fits to drawn rounds; null as above."""
    unbounded: float
    """What the fit without bounds gives."""
    is_held: bool
    """Whether bounds hold it at 0, where without them it is less."""
    is_interference: bool
    """Whether it is above 1 by its whole interval; not without one."""


@dataclass(frozen=True)
class HybridModel(Answer):
    """Loads and stores over a fast and a slow memory."""

    schema: Literal["nearfar.hybrid/2"]
    """Name and version of this format."""
    host: str
    started: str
    """When measuring began, UTC."""
    executor: Executor
    """Whether a machine was measured or simulated."""
    sealing: Seals
    """Whether the record is as it was written."""
    is_disturbed: bool
    """Whether something disturbed at least half of the samples: figures can then be of disturbed ones alone."""
    may_contain_cache: bool
    """Whether working sets were not shown to be beyond the caches."""
    bounds: OverlapBounds
    """Between which limits overlaps were fitted."""
    pairs: list[HybridPair]
    """The initiators with two memories each, by initiator, nodes, threads and variant; one at least."""
    left_out: list[HybridLeftOut]
    """Those whose bandwidths alone are not all known."""


@dataclass(frozen=True)
class AffinityEffect:
    """Pinned runs beside unbound ones of as many threads, by pace."""

    threads: int
    affinity: Affinity
    """How the pinned ones are spread."""
    speedup: Estimate
    """Mean of pinned runs / mean of unbound ones."""
    mean: MeanVerdict
    """What its interval shows."""
    spread_ratio: Optional[Estimate]
    """Spread of pinned runs / that of unbound ones, or null where either have none."""
    spread: SpreadVerdict
    """What its interval shows."""


@dataclass(frozen=True)
class CaseDistribution:
    """Runs of one case."""

    case: str
    """Its id in the record."""
    threads: int
    affinity: Affinity
    """How they are spread."""
    runs: DistributionOutcome
    """How its runs are distributed."""


@dataclass(frozen=True)
class Histogram:
    """Bins of one width, from the one with the smallest value to that with the largest."""

    from_: float
    """Lower end of the first bin."""
    width: float
    counts: list[int]
    """Values in each; a bin holds its lower end and not its upper one."""


@dataclass(frozen=True)
class KernelDistribution:
    """Runs of one kernel."""

    kernel: str
    variant: str
    """Instruction-set variant."""
    cases: list[CaseDistribution]
    """By threads, then unbound, compact, scatter."""
    effects: list[AffinityEffect]
    """What pinning does, by threads and affinity; none where a side has too few runs."""
    knees: list[Knee]
    """Where more threads bring no more, by affinity."""
    widest: Optional[WidestRuns]
    """The runs that spread most, or null where no case has two."""
    advice: Optional[ThreadAdvice]
    """What to do, or null where nothing was measured."""


@dataclass(frozen=True)
class Knee:
    """The fewest threads that are enough."""

    affinity: Affinity
    """How threads are spread."""
    threads: int
    """Fewest threads whose mean is at most 5 % below the best."""
    mean_gb_per_s: float
    """Their mean by pace."""
    best_threads: int
    """The threads with the best mean."""
    best_mean_gb_per_s: float
    """That mean."""


@dataclass(frozen=True)
class ModeEvidence:
    """What is held against a single mode."""

    left_out: int
    """Values far from all others (8 interquartile ranges from the median, less than 5 % of the values on that side), which were left out."""
    dip: float
    """Hartigan's dip."""
    dip_p: float
    """How often values drawn evenly have a larger dip, at least 0.001. A gate of 1 %."""
    valley: float
    """Depth of the clearest valley in standard errors, 0 without any."""
    valley_threshold: float
    """Above so much a valley shows two modes."""


@dataclass(frozen=True)
class DistributionOutcomeUnknown:
    unknown: str
    """Why, in words."""


@dataclass(frozen=True)
class RunDistribution:
    """How runs are distributed."""

    runs: int
    """How many."""
    only_disturbed: bool
    """Whether all samples were disturbed, and so none was left out."""
    paced: RunSpread
    """Threads x the slowest thread."""
    sum: RunSpread
    """All threads together."""
    modes: Optional[RunModes]
    """The modes by pace, or null where a run is no number."""


@dataclass(frozen=True)
class RunMode:
    place_gb_per_s: float
    """Where runs are densest."""
    runs: int
    """Runs in it, as far as it is parted from the others."""
    share: Estimate
    """These as a fraction of the runs."""


@dataclass(frozen=True)
class RunModesTooFewRuns:
    """Too few runs to say anything."""

    verdict: Literal["too_few_runs"]


@dataclass(frozen=True)
class RunModesNoMoreThanOneShown:
    """There may be more than one."""

    verdict: Literal["no_more_than_one_shown"]
    evidence: ModeEvidence


@dataclass(frozen=True)
class RunModesShown:
    """There are at least as many as are listed."""

    verdict: Literal["shown"]
    evidence: ModeEvidence
    modes: list[RunMode]
    """The slowest first."""


@dataclass(frozen=True)
class RunSpread:
    """Statistics over runs, useful bytes."""

    mean_gb_per_s: float
    deviation_gb_per_s: Optional[float]
    """Standard deviation, or null with one run."""
    min_gb_per_s: float
    """Smallest."""
    max_gb_per_s: float
    """Largest."""
    quantiles_gb_per_s: tuple[float, float, float, float, float]
    """What 5, 25, 50, 75 and 95 % of the runs are at most."""


@dataclass(frozen=True)
class ThreadAdvice:
    """What to do with the threads of a program that moves data as the kernel does."""

    threads: int
    """How many: the fewest whose best mean is within 5 % of the best of all."""
    affinity: Affinity
    """How to spread them: unbound where pinned ones are neither faster nor steadier."""
    expected_gb_per_s: float
    """Mean of their runs by pace."""
    range_gb_per_s: tuple[float, float]
    """Smallest and largest of these."""
    runs: int
    """How many these are."""
    unbound_gb_per_s: Optional[float]
    """Mean of as many unbound threads, or null where they were not measured."""
    effect: Optional[AffinityEffect]
    """What pinning changes, or null where the advice is not to pin, or runs are too few."""
    settings: Optional[ThreadSettings]
    """What pins threads, or null where the advice is not to."""


@dataclass(frozen=True)
class ThreadSettings:
    """What pins the threads of a program that uses OpenMP: values of environment variables."""

    omp_num_threads: str
    """`OMP_NUM_THREADS`"""
    omp_places: str
    """`OMP_PLACES` by kind."""
    omp_proc_bind: str
    """`OMP_PROC_BIND` to go with it."""
    kmp_affinity: str
    """`KMP_AFFINITY`, for the libraries of Intel and LLVM."""
    thread_cpus: Optional[list[int]]
    """The CPU of each thread as measured, or null where the record lacks them."""
    omp_places_of_cpus: Optional[str]
    """`OMP_PLACES` with these CPUs, with `OMP_PROC_BIND=close`, or null."""
    gomp_cpu_affinity: Optional[str]
    """`GOMP_CPU_AFFINITY` with these CPUs, or null."""


@dataclass(frozen=True)
class WidestRuns:
    """The runs of a kernel that spread most."""

    threads: int
    affinity: Affinity
    """How they are spread."""
    spread: float
    """(largest - smallest) / mean, a fraction."""
    histogram: Histogram
    """Runs by pace, GB/s."""


@dataclass(frozen=True)
class DistributionModel(Answer):
    """How the runs of a record are distributed, and what affinity does to that (vladimirov2012); `model RECORD distribution --json` prints it."""

    schema: Literal["nearfar.distribution/2"]
    """Name and version of this format."""
    host: str
    started: str
    """When measuring began, UTC."""
    executor: Executor
    """Whether a machine was measured or simulated."""
    sealing: Seals
    """Whether the record is as it was written."""
    is_disturbed: bool
    """Whether something disturbed at least half of the samples: figures can then be of disturbed ones alone."""
    may_contain_cache: bool
    """Whether working sets were not shown to be beyond the caches."""
    kernels: list[KernelDistribution]
    """By kernel, in the order of the plan."""
    enough_runs: int
    """Runs that show modes which lie apart as far as the paper's."""
    more_runs: Optional[str]
    """The command that takes this many of each case; null where nothing can on this machine, and where all have about as many."""


@dataclass(frozen=True)
class Fitted:
    """A number that was fitted."""

    value: float
    interval: tuple[float, float]
    """Where it is with 95 % confidence."""
    is_bound: bool
    """Whether any case tells it."""


@dataclass(frozen=True)
class Fitted2:
    """A number that was fitted."""

    value: float
    interval: tuple[float, float]
    """Where it is with 95 % confidence."""
    is_bound: bool
    """Whether any case tells it."""


@dataclass(frozen=True)
class FlowPlacementOwnNodes:
    """Every initiator on memory of its own."""

    predicted_gb_per_s: Estimate
    """What all initiators move together with all their cores, useful bytes."""
    measured_gb_per_s: Optional[float]
    """What a case of the record moved that is the same, useful bytes; null where there is none."""
    initiators: list[InitiatorRate]
    """What each initiator moves."""
    limit: Optional[PlacementLimit]
    """What holds most of it up; null where the threads themselves do."""
    placement: Literal["own_nodes"]


@dataclass(frozen=True)
class FlowPlacementAllNodes:
    """Every initiator's pages in turn over all ordinary nodes."""

    predicted_gb_per_s: Estimate
    """What all initiators move together with all their cores, useful bytes."""
    measured_gb_per_s: Optional[float]
    """What a case of the record moved that is the same, useful bytes; null where there is none."""
    initiators: list[InitiatorRate]
    """What each initiator moves."""
    limit: Optional[PlacementLimit]
    """What holds most of it up; null where the threads themselves do."""
    placement: Literal["all_nodes"]


@dataclass(frozen=True)
class FlowPlacementOtherPackages:
    """Every initiator's pages in turn over the ordinary nodes of other packages."""

    predicted_gb_per_s: Estimate
    """What all initiators move together with all their cores, useful bytes."""
    measured_gb_per_s: Optional[float]
    """What a case of the record moved that is the same, useful bytes; null where there is none."""
    initiators: list[InitiatorRate]
    """What each initiator moves."""
    limit: Optional[PlacementLimit]
    """What holds most of it up; null where the threads themselves do."""
    placement: Literal["other_packages"]


@dataclass(frozen=True)
class FlowPlacementOneNode:
    """All initiators on one node."""

    predicted_gb_per_s: Estimate
    """What all initiators move together with all their cores, useful bytes."""
    measured_gb_per_s: Optional[float]
    """What a case of the record moved that is the same, useful bytes; null where there is none."""
    initiators: list[InitiatorRate]
    """What each initiator moves."""
    limit: Optional[PlacementLimit]
    """What holds most of it up; null where the threads themselves do."""
    placement: Literal["one_node"]
    memory_node: int


@dataclass(frozen=True)
class InitiatorRate:
    """What an initiator moves."""

    initiator: int
    gb_per_s: float


@dataclass(frozen=True)
class JudgedErrors:
    """How far predictions of some cases are off."""

    cases_are: JudgedCases
    experiment: Experiment
    """The experiment that the cases are of."""
    cases: int
    streams: int
    mean_error: float
    """Mean over streams, a fraction."""
    error_of_most: float
    """95 % of the streams are off by no more, a fraction; of fewer than 20 all are."""
    worst_error: float
    """The worst stream, a fraction."""


@dataclass(frozen=True)
class KernelRatio:
    """A kernel beside the first."""

    kernel: str
    """Its name; that of the first is the one that capacities are of."""
    variant: str
    """Its instruction-set variant where it runs beside others."""
    bytes: Fitted
    """Its useful bytes where parts are full / the first kernel's."""
    demand: Fitted
    """What its thread asks in bytes of the first kernel / what the first kernel's does."""


@dataclass(frozen=True)
class FlowMachinePartPath:
    """From the CPUs of an initiator to a node."""

    kind: Literal["path"]
    initiator: int
    memory_node: int


@dataclass(frozen=True)
class FlowMachinePartController:
    kind: Literal["controller"]
    memory_node: int


@dataclass(frozen=True)
class FlowMachinePartIssue:
    """What the CPUs of an initiator can have on the way."""

    kind: Literal["issue"]
    initiator: int


@dataclass(frozen=True)
class FlowMachinePartLink:
    """From the CPUs of a package to the memory of another."""

    kind: Literal["link"]
    from_package: int
    to_package: int


@dataclass(frozen=True)
class FlowMachinePartInitiatorLink:
    """From one of several initiators of a package to the memory of another."""

    kind: Literal["initiator_link"]
    initiator: int
    to_package: int


@dataclass(frozen=True)
class FlowMachinePartChannels:
    """What all memory of a kind in a package carries together."""

    kind: Literal["channels"]
    package: int
    memory_kind: MemoryKind


@dataclass(frozen=True)
class OneThread:
    """What one thread asks."""

    initiator: int
    memory_node: int
    demand_gb_per_s: Fitted2


@dataclass(frozen=True)
class PartCapacity:
    """What a part carries."""

    part: FlowMachinePart
    capacity_gb_per_s: Fitted2


@dataclass(frozen=True)
class PlacementLimit:
    """The part that holds a placement up most."""

    part: FlowMachinePart
    filled_share: float
    """What it carries / its capacity, below 1."""
    initiators: list[int]
    """The initiators of which a part of its sort is the first cause."""


@dataclass(frozen=True)
class FlowModel(Answer):
    """What streams get that share the parts of a machine."""

    schema: Literal["nearfar.flow/2"]
    """Name and version of this format."""
    host: str
    started: str
    """When measuring began, UTC."""
    executor: Executor
    """Whether a machine was measured or simulated."""
    sealing: Seals
    """Whether the record is as it was written."""
    is_disturbed: bool
    """Whether something disturbed at least half of the samples: figures can then be of disturbed ones alone."""
    may_contain_cache: bool
    """Whether working sets were not shown to be beyond the caches."""
    kernel: str
    """Its name; that of the first is the one that capacities are of."""
    variant: str
    """Its instruction-set variant where it runs beside others."""
    lone_variant: str
    """Its variant in lone cases: another where screening dropped the first, for near or for far memory."""
    saturation: Fitted
    """The saturation exponent p."""
    fairness: Fitted
    """The fairness exponent gamma."""
    one_thread: list[OneThread]
    """What one thread of each initiator asks of each node."""
    parts: list[PartCapacity]
    """What each part carries."""
    kernels: list[KernelRatio]
    """What further kernels move through the same parts."""
    has_converged: bool
    """Whether the fit ended because nothing was left to gain."""
    errors: list[JudgedErrors]
    """How far predictions are off, by experiment and kind of case."""
    model_error: float
    """The model's error, a fraction: of the mean errors of a stream, on cases that all others predicted and on those of each experiment, the largest."""
    judged_by: Experiment
    """The experiment of these cases."""
    interval_error: float
    """Predictions are within this, a fraction: 95 % of the streams that all others predicted are off by no more, and it is at least twice the model's error."""
    least_difference_share: float
    """A difference is told from this on, a fraction."""
    not_foretold_cases: int
    """Cases of which the others say nothing when they are left out."""
    placements: list[FlowPlacement]
    """What placements of the whole machine come to."""
    more_cases: str
    """The command that measures more of what it is fitted to."""


@dataclass(frozen=True)
class Expectation:
    """The strategies for one kind of access."""

    access: Access
    """How threads go over the data."""
    strategies: tuple[StrategyTime, StrategyTime, StrategyTime, StrategyTime]
    """All strategies, the fastest first."""
    margin: Estimate2
    """Time of the second / that of the first - 1; the interval is over all parameters and noise."""
    noise: float
    """How far a ratio of two times can be off by the noise of what was measured."""
    verdict: StrategyVerdict
    """What the margin means."""


@dataclass(frozen=True)
class LineCost:
    latency_ns: float
    """One access, the machine idle."""
    transfer_ns: float
    """A line's part of what a thread gets."""
    noise: float
    """Half the interval of the figures / their median, the larger of both."""


@dataclass(frozen=True)
class LineCosts:
    """What a line costs by where it lies."""

    basis: Basis
    """Where bandwidths are from."""
    kernel: str
    """Kernel of these."""
    variant: str
    """Its instruction-set variant; of pairs the best."""
    memory_kind: MemoryKind
    """Kind of the nodes."""
    initiators: list[StrategyInitiator]
    """Initiators that have such a node of their own."""
    line_bytes: int
    is_line_assumed: bool
    """Whether that is taken for want of a figure."""
    own: LineCost
    """Every thread on its own node."""
    remote: LineCost
    """A thread on another node, that being idle; its transfer no less than own."""
    central: LineCost
    """All threads on one node."""
    spread: LineCost
    """All threads on all nodes, page by page."""


@dataclass(frozen=True)
class Parameter:
    """What the equations need and no record holds."""

    parameter: str
    """Its name."""
    least: float
    """The least that is tried."""
    expected: float
    most: float
    """The most that is tried."""


@dataclass(frozen=True)
class StrategyAdvicePlaceRegular:
    """Place all regular data as memory-bind does, which is then ahead of round-robin."""

    do: Literal["place_regular"]


@dataclass(frozen=True)
class StrategyAdviceTakeFastest:
    """Take what is expected to be the fastest for this kind of access."""

    do: Literal["take_fastest"]
    access: Access


@dataclass(frozen=True)
class StrategyAdviceInterleaveAbove:
    """Interleave regular data after all where more than this share of its accesses goes to data that was not placed."""

    do: Literal["interleave_above"]
    share: float


@dataclass(frozen=True)
class StrategyAdviceSpareBinding:
    """Not bind: interleaved pages are as fast as own ones."""

    do: Literal["spare_binding"]


@dataclass(frozen=True)
class StrategyAdviceSpareInterleaving:
    """Not interleave: however much of the regular data is not placed, it gains nothing."""

    do: Literal["spare_interleaving"]


@dataclass(frozen=True)
class StrategyInitiator:
    """An initiator with a node of its own."""

    initiator: int
    """Its number."""
    memory_node: int
    """The lowest of its nodes of that kind."""
    binding: Binding
    """Its processes on its own node."""


@dataclass(frozen=True)
class StrategyTime:
    """What is expected of a strategy. Intervals are over all parameters and noise."""

    strategy: PlacementStrategy
    line_ns: Estimate
    """Time of a thread for a line."""
    gain: Estimate2
    """Time of first-touch / this - 1."""
    claim: Optional[float]
    """The gain that there is whatever the parameters and noise, which is what may be claimed; null where that is less than 5 %."""
    wins_share: float
    """Of all combinations of parameters the share in which all others are slower."""


@dataclass(frozen=True)
class StrategyModel(Answer):
    """Which way to place memory is expected to win, of the four of ribeiro2010."""

    schema: Literal["nearfar.strategy/2"]
    """Name and version of this format."""
    host: str
    started: str
    """When measuring began, UTC."""
    executor: Executor
    """Whether a machine was measured or simulated."""
    sealing: Seals
    """Whether the record is as it was written."""
    is_disturbed: bool
    """Whether something disturbed at least half of the samples: figures can then be of disturbed ones alone."""
    may_contain_cache: bool
    """Whether working sets were not shown to be beyond the caches."""
    costs: LineCosts
    """What a line costs by where it lies."""
    parameters: tuple[Parameter, Parameter, Parameter, Parameter, Parameter, Parameter]
    """What the equations need and no record holds."""
    regular: Expectation
    """Where each thread keeps to its part of the data."""
    irregular: Expectation
    """Where threads access all data in random order."""
    break_even_share: Optional[float]
    """The share of regular accesses to data that was not placed from which on round-robin beats memory-bind; null where it does for none, or for any."""
    deciding_share: Optional[float]
    """The same where which of both is ahead hangs on it: nothing is decided, and shares to both sides of it are tried."""
    placed_margin: float
    """Time of round-robin / that of memory-bind - 1, for regular accesses to data that was all placed."""
    interleave: Binding
    """The binding that interleaves pages over all nodes."""
    advice: list[StrategyAdvice]
    """What to do."""


@dataclass(frozen=True)
class DevicesClass:
    class_: int
    """0 is the fastest."""
    max_gb_per_s: float
    """Best value of its pairs, useful bytes."""
    min_gb_per_s: float
    """Lowest best value of its pairs, useful bytes."""
    alpha: Optional[float]
    """Maximum / theoretical maximum (eq. 4.3 of braithwaite2012); null where that is not known. One that the user gives and that is exceeded is refused; by the memory modules it is above 1 where the system names too few."""
    alpha_relative: float
    """Maximum / maximum of class 0."""
    wide: bool
    """Whether it spans more than ten percent."""
    widened_by_noise: bool
    """Whether it is wider than the rule's span because the scatter of rounds explains the rest."""
    border_within_noise: bool
    """Whether the border to the next slower class is within the noise, so that the two are a continuum and not two levels."""
    pairs: list[DevicePair]
    """Its pairs, by group of CPUs or device, then by node."""
    groups: Optional[list[PairGroup]] = None
    """The same pairs of groups of CPUs and memory nodes, in few groups."""
    others: Optional[list[ClassFigure]] = None
    """What other kernels and thread counts give on the same pairs."""


@dataclass(frozen=True)
class DeviceClassNoteSeveralSizes:
    """Pairs are judged by copies of several sizes: smaller ones show more of what a copy takes to begin."""

    note: Literal["several_sizes"]


@dataclass(frozen=True)
class DeviceClassNoteFewRounds:
    """A pair has fewer rounds than its best should be taken from."""

    note: Literal["few_rounds"]
    enough: int


@dataclass(frozen=True)
class DeviceClassNoteDisturbed:
    """Every window of some pairs was disturbed."""

    note: Literal["disturbed"]
    pairs: int
    of: int


@dataclass(frozen=True)
class DeviceClassNoteSlowLinks:
    """The links of devices ran below what they could when the record was begun. A link may rest while its device is idle, and alpha is then too high."""

    note: Literal["slow_links"]
    devices: list[str]


@dataclass(frozen=True)
class DeviceClasses:
    """The classes of the copies of one interface, one way."""

    backend: Backend
    """The programming interface."""
    direction: TransferDirection
    """Which way: to the host is the thesis's read (`alpha_r`), to the device its write (`alpha_w`)."""
    least_bytes: int
    """Smallest copy that a pair is judged by, bytes each way."""
    most_bytes: int
    """Largest."""
    noise: Optional[float]
    """Pooled relative standard deviation of a pair's rounds; null with one round each."""
    standard_error: Optional[float]
    """Relative standard error of a pair's best round; null as above."""
    fewest_rounds: int
    """Fewest rounds that a pair has."""
    classes: list[DevicesClass]
    """The classes, the fastest first; all ways together."""
    phi: DevicesOutcome
    """What the copies' bandwidth is compared with, all ways together."""
    left_out: list[DeviceLeftOut]
    """Pairs that are in no class."""
    notes: list[DeviceClassNote]
    """What to know about them."""


@dataclass(frozen=True)
class DeviceLeftOut:
    """A pair that the record knows and that is in no class."""

    device: str
    memory_node: int
    """The node of the host's pages."""
    refused: Optional[str]
    """Why the machine refused it; null when it was only copied in smaller pieces, or not yet."""


@dataclass(frozen=True)
class DevicePair:
    """A device and the memory node that it copies from or to."""

    device: str
    """The device, by interface and number."""
    memory_node: int
    """The node of the host's pages."""
    initiator: int
    """The initiator of the host's thread."""
    cpu_node: Optional[int]
    """The lowest node with CPUs of that initiator, or null."""
    bytes: int
    """Bytes of one copy, each way."""
    best_gb_per_s: float
    """Best round."""
    median_gb_per_s: Estimate
    """Median over rounds."""
    rounds: int


@dataclass(frozen=True)
class DevicesOutcomeUnknown:
    unknown: str
    """Why, in words."""


@dataclass(frozen=True)
class DevicesOutcome2Unknown:
    unknown: str
    """Why, in words."""


@dataclass(frozen=True)
class TransferLaw:
    """The law of one place: a copy of x bytes takes latency + x / bandwidth."""

    latency_ns: float
    """t: what a copy takes beside the time of its bytes."""
    bandwidth_gb_per_s: float
    """B: of long copies, all ways."""
    half_bandwidth_bytes: float
    """n: bytes, all ways, of a copy that gets half of that."""
    worst_error: float
    """Largest |law / measured - 1| over the sizes."""
    worst_error_bytes: int
    """The size where that is, bytes each way."""
    sizes: list[int]
    """The sizes that were measured, bytes each way, ascending."""


@dataclass(frozen=True)
class TransferLoss:
    """Copies at a place, and what ran at the same time."""

    device: str
    """The device, by its id among the inputs."""
    actor: int
    """Position of the transfer among the case's actors."""
    initiator: int
    """The initiator of the host's thread."""
    cpu_node: Optional[int]
    """The lowest node with CPUs of that initiator; null: it has none."""
    memory_node: Optional[int]
    """The node of the host's pages; null between devices."""
    direction: TransferDirection
    host_memory: Optional[HostMemory]
    """What the host's pages are; null between devices."""
    peer: Optional[str]
    """The device that is copied to, by its id; null where it is the host."""
    bytes: int
    """One copy, each way."""
    beside: Optional[TransferBeside]
    """What runs at the same time, the case's other actor; null where nothing does."""
    copies_kept: Optional[Estimate2]
    """Part of what they move alone that the copies keep, by medians over rounds, above 1 where noise, or the machine, has it so; null where they were not measured both ways."""
    other_kept: Optional[Estimate2]
    """What the other keeps; null likewise."""


@dataclass(frozen=True)
class TransferTime:
    """The time of the copies of one place over their size."""

    device: str
    direction: TransferDirection
    """Which way."""
    host_memory: Optional[HostMemory]
    """What the host's pages are; null between devices."""
    memory_node: Optional[int]
    """The node of the host's pages; null between devices."""
    peer: Optional[str]
    """The device that is copied to; null for the host."""
    initiator: int
    """The initiator of the host's thread."""
    law: DevicesOutcome2


@dataclass(frozen=True)
class DevicesModel(Answer):
    """What copies to and from devices mean."""

    schema: Literal["nearfar.devices/2"]
    """Name and version of this format."""
    host: str
    started: str
    """When measuring began, UTC."""
    executor: Executor
    """Whether a machine was measured or simulated."""
    sealing: Seals
    """Whether the record is as it was written."""
    is_disturbed: bool
    """Whether something disturbed at least half of the samples: figures can then be of disturbed ones alone."""
    may_contain_cache: bool
    """Whether working sets were not shown to be beyond the caches."""
    class_span: float
    """A class spans at most this fraction of its maximum, and what noise explains."""
    devices: dict[str, str]
    """The devices by their ids, with their names."""
    class_sets: list[DeviceClasses]
    """Classes of devices and memory nodes, by interface and way."""
    times: list[TransferTime]
    """The time of a copy over its size, by place."""
    losses: list[TransferLoss]
    """What copies and what runs beside them keep."""


@dataclass(frozen=True)
class AdapterInterrupts:
    """Who is interrupted by an adapter."""

    count: int
    """Interrupts of which it is known."""
    cpus: str
    """CPUs that take them."""
    nodes: str
    """The memory nodes next to these."""


@dataclass(frozen=True)
class CaseSummary:
    """What a case's samples say: useful bytes/s or FLOP/s, in JSON 1e9 of them."""

    sum: Median
    """Work a second of all threads together, over round values."""
    paced: Median
    """The same as threads x the slowest thread."""
    best_sum: float
    """Highest round value of the sum."""
    samples: int
    disturbed: int
    """Samples that something disturbed."""
    only_disturbed: bool
    """Whether every sample was disturbed, so that the figures rest on such samples."""
    spread_within_rounds: Optional[float]
    """(largest - smallest) / median of the windows within a round, median over rounds; `None` with one window a round."""
    spread_between_rounds: float
    """(largest - smallest) / median of the round values."""
    deviation_between_rounds: Optional[float]
    """Standard deviation / mean of the round values; `None` with one round."""
    huge_page_share: Optional[float]
    """The share of its memory that huge pages backed, median over samples; null where the system did not say."""


@dataclass(frozen=True)
class Median:
    """A median over rounds, as JSON has it."""

    value: float
    interval: tuple[float, float]
    """From the least to the most that the true median may be."""
    confidence: float
    """How often such an interval holds the true median, a fraction."""
    rounds: int
    """Rounds that count."""


@dataclass(frozen=True)
class MessageFigures:
    """Messages from one place, one way."""

    case: str
    """Its id in the record."""
    llc_multiple: Optional[float]
    """Of a case with a chase, lines that it touches / caches involved; of others the smallest working set / caches of its streams. Null where that is not known, or no actor touches memory."""
    absent: list[Absent]
    """Why it has no figures, or not all: what was refused or omitted, in the order of the record."""
    initiator: int
    """Of the threads."""
    cpu_node: Optional[int]
    """The initiator's node that has CPUs; null for one without."""
    memory_node: int
    """The node of the threads' pages."""
    way: MessageDirection
    message_bytes: int
    """Bytes of one message."""
    threads: int
    gb_per_s: Optional[CaseSummary]
    """Bytes of messages of all threads, GB/s, over round values; of a round trip each way counts. Null without samples."""
    one_way_ns: Optional[Estimate]
    """Of a round trip half its time; null for other ways, and without samples."""
    copied_share: Optional[float]
    """Of sends without a copy the share that the kernel copied all the same; null for other ways, and where none was told of."""


@dataclass(frozen=True)
class NetworkAdapter:
    """A network adapter. What the system does not say is null."""

    interface: str
    """The system's name of it: `eth0`."""
    is_loopback: bool
    """Whether it leads to this machine itself: what is sent is copied within its memory and crosses no link."""
    driver: Optional[str]
    """The kernel's driver."""
    bus_id: Optional[str]
    """PCIe address; null where it is on no PCIe."""
    node: Optional[int]
    """The memory node next to it."""
    link_bits_per_s: Optional[int]
    """What its link carries each way, bits/s; null where the system does not say, or where it is no adapter of its own and a number there would be made up."""
    no_rate: Optional[str]
    """Why the link's rate is null; null where it is not."""
    infiniband: Optional[str]
    """Its device for InfiniBand or RDMA: `mlx5_0`."""
    interrupts: Optional[AdapterInterrupts]
    """Who is interrupted by it when measuring began."""


@dataclass(frozen=True)
class NetworkClass:
    """Places that get about as much."""

    class_: int
    """From 0, the fastest."""
    max_gb_per_s: Estimate2
    """The most that a place of it gets."""
    alpha: NetworkOutcome2
    """That / what the link carries each way."""
    places: list[NetworkPlace]
    """The fastest first."""


@dataclass(frozen=True)
class NetworkClasses:
    """Places by what they get one way."""

    way: MessageDirection
    message_bytes: int
    classes: list[NetworkClass]
    """The fastest first."""


@dataclass(frozen=True)
class NetworkPlace:
    """Who sends, and where the pages are."""

    initiator: int
    memory_node: int


@dataclass(frozen=True)
class NetworkOutcomeUnknown:
    unknown: str
    """Why, in words."""


@dataclass(frozen=True)
class NetworkOutcome2Unknown:
    unknown: str
    """Why, in words."""


@dataclass(frozen=True)
class NetworkOutcome3Unknown:
    unknown: str
    """Why, in words."""


@dataclass(frozen=True)
class PlacedLatency:
    """The time of a message from a place."""

    initiator: int
    memory_node: int
    message_bytes: int
    one_way_ns: Estimate


@dataclass(frozen=True)
class WithoutCopyGain:
    """What sending without a copy gives."""

    initiator: int
    memory_node: int
    gain: Estimate3
    copied_share: float
    """Of the sends there, a fraction."""


@dataclass(frozen=True)
class NetworkModel(Answer):
    """What a record says of messages to another machine."""

    schema: Literal["nearfar.network/1"]
    """Name and version of this format."""
    host: str
    started: str
    """When measuring began, UTC."""
    executor: Executor
    """Whether a machine was measured or simulated."""
    sealing: Seals
    """Whether the record is as it was written."""
    is_disturbed: bool
    """Whether something disturbed at least half of the samples: figures can then be of disturbed ones alone."""
    may_contain_cache: bool
    """Whether working sets were not shown to be beyond the caches."""
    peer: Optional[str]
    """The other machine, as it was named."""
    adapter: Optional[NetworkAdapter]
    """The adapter; null where the system did not say."""
    link_gb_per_s: NetworkOutcome
    """What its link carries each way, and else why that is not known."""
    messages: list[MessageFigures]
    """All messages, by way, initiator, node, threads and size."""
    class_sets: list[NetworkClasses]
    """Of each way the places that get about as much, by large messages of most threads."""
    latencies: list[PlacedLatency]
    """Of each place that has one the time of the smallest message one way, the fastest first."""
    without_copy: NetworkOutcome3
    """What large messages get without a copy / with one, where both were measured, and how many were copied all the same."""


@dataclass(frozen=True)
class PlacedWorkload:
    """A workload on one node after the other."""

    workload: str
    """Its name and size."""
    initiator: int
    """The initiator of its threads."""
    threads: int
    unit: Optional[str]
    """What its work is counted in; null where no run ended."""
    nodes: list[WorkloadOnNode]
    """The own node first."""


@dataclass(frozen=True)
class Relative:
    """A ratio with what its parts' intervals leave open."""

    ratio: float
    """Of medians."""
    interval: tuple[float, float]
    """From the worst of one and the best of the other to the opposite."""


@dataclass(frozen=True)
class RunSummary:
    """What the runs of a program at one placement say."""

    median: float
    """The median of the values."""
    interval: tuple[float, float]
    """It holds the true median with at least `confidence`."""
    confidence: float
    """The interval's exact coverage, a fraction. Below 0.95 when there are too few values (fewer than six) for any interval of 95 %."""
    count: int
    """How many values there were."""
    least: float
    """The least round value."""
    most: float
    """The highest round value."""
    deviation: Optional[float]
    """Standard deviation / mean of the round values; null with one round."""
    samples: int
    disturbed: int
    """Samples that something disturbed."""


@dataclass(frozen=True)
class StrategyRuns:
    """The runs of one strategy."""

    strategy: PlacementStrategy
    case: str
    """The case, by its id."""
    rate: Optional[RunSummary]
    """Units / s; null without runs."""
    against_first_touch: Optional[Relative]
    """Rate / that of first-touch; null without both."""
    moved_pages: int
    """Most pages that were moved in a run."""
    refused: list[Absent]


@dataclass(frozen=True)
class StrategyStatement:
    """What the paper says of a program at the machine's NUMA factor, and what the record says."""

    access: ArrayAccess
    numa_factor: float
    """The largest of the machine's remote nodes with CPUs."""
    stated: list[PlacementStrategy]
    """The strategies that the paper finds the best; of two, alike."""
    other: PlacementStrategy
    """The fastest of the others."""
    gain: Relative
    """The rate of the faster stated one / that of `other`."""
    holds: Optional[bool]
    """Whether a stated one is the fastest; null where the interval of `gain` holds 1."""


@dataclass(frozen=True)
class WorkloadOnNode:
    """A workload on one node."""

    case: str
    """The case, by its id."""
    memory_node: int
    is_own: bool
    """Whether it is the initiator's own node, that with CPUs: others may be local too, as HBM and CXL are."""
    rate: Optional[RunSummary]
    """Units / s; null without runs."""
    performance: Optional[Relative]
    """Rate / that on the own node; null without both."""
    alpha_relative: Optional[float]
    """Bandwidth of this node / that of the own one, by the same threads; null where `pairs` has not both."""
    refused: list[Absent]


@dataclass(frozen=True)
class WorkloadStrategies:
    """A workload by each strategy."""

    workload: str
    """Its name and size."""
    threads: int
    unit: Optional[str]
    """What its work is counted in; null where no run ended."""
    runs: list[StrategyRuns]
    """In the order of the paper."""
    best: Optional[PlacementStrategy]
    """The fastest; null without runs."""
    as_fast: list[PlacementStrategy]
    """Those that are as fast within the intervals."""
    paper: Optional[StrategyStatement]
    """What ribeiro2010 says of such a program; null where it says nothing, or the record has no latency of remote memory."""


@dataclass(frozen=True)
class WorkloadsModel(Answer):
    """The workloads of a record."""

    schema: Literal["nearfar.placed-workloads/1"]
    """Name and version of this format."""
    host: str
    started: str
    """When measuring began, UTC."""
    executor: Executor
    """Whether a machine was measured or simulated."""
    sealing: Seals
    """Whether the record is as it was written."""
    is_disturbed: bool
    """Whether something disturbed at least half of the samples: figures can then be of disturbed ones alone."""
    may_contain_cache: bool
    """Whether working sets were not shown to be beyond the caches."""
    placed: list[PlacedWorkload]
    """By the threads of one initiator on one node after the other, those first that lose most on the node that is worst for them; then those without a ratio."""
    strategies: list[WorkloadStrategies]
    """By strategy over the machine."""
    alpha_kernel: Optional[str]
    """The bandwidth kernel whose alpha stands beside; null where the record has no `pairs`."""


@dataclass(frozen=True)
class AdviceBasis:
    """What the predictions rest on."""

    model: AdvisingModel
    """What most candidates are predicted by."""
    kernel: str
    """The kernel that predictions are of."""
    kernel_load_share: Optional[float]
    """Its share of loads; null where the catalog does not know it."""
    trust: Optional[FlowTrust]
    """How far the flow model is off; null where it is not what predicts."""
    without_flow: Optional[Inapplicable]
    """Why the record has no flow model, and the command that would change that; null where it has one."""
    is_default_seen: bool
    """Whether pages without advice are where the profile saw them, and not where the pattern says."""
    unmeasured_nodes: list[int]
    """Nodes that nothing can be said of, because the record lacks figures of them."""


@dataclass(frozen=True)
class AdviceProfile:
    """What a profile told of the program."""

    program: str
    """The program's name."""
    host: str
    """Host that it was watched on."""
    started: str
    """When watching it began, UTC, RFC 3339."""
    taken: list[TakenFigure]
    """What was taken from it."""
    accesses: list[NodeAccess]
    """Where its accesses went, shares by memory node, the lowest first; empty where that is not known."""
    uneven_local_share: Optional[float]
    """The share of its lines that came from near memory, where that differs from the share of its pages there; null where not counted, or alike."""
    unknown: list[str]
    """What it does not tell, in sentences."""


@dataclass(frozen=True)
class AdvisedCandidate:
    """A way to place threads and pages, and how to do it."""

    placement: CandidateKind
    """How pages are placed."""
    is_default: bool
    """Whether this is what happens without advice."""
    threads: list[Workers]
    """Threads of each initiator."""
    model: AdvisingModel
    """The model that predicts it."""
    predicted_gb_per_s: Estimate
    """Threads x the slowest thread's rate, useful bytes, within the model's error."""
    measured_gb_per_s: Optional[float]
    """What the record's own case of these threads and pages moved, threads x the slowest thread's rate, useful bytes; null where it has none."""
    gain: Optional[float]
    """Predicted / that of the default by the same model - 1; null where the default finds no room."""
    mean_gain: Optional[float]
    """The mean gain on the machines that the record leaves possible; null where none are known."""
    is_claimed: bool
    """Whether there is a gain that can be told: more than the model can be wrong, or on average where no machine that the record leaves possible loses 2.5 %."""
    room: Room
    """Whether the data finds room."""
    limit: Optional[AdviseMachinePart]
    """What slows the slowest threads most; null where they are latency-bound, or the model does not say."""
    needs_change: bool
    """Whether no policy gives it: the program itself would have to be changed."""
    ties: list[list[Binding]]
    """Placements of the same kind, on as many initiators and nodes, whose predictions cannot be told from this one's."""
    bindings: list[Binding]
    """Threads and pages of the whole program, or of each initiator by itself where they differ."""
    commands: list[str]
    """The command that applies each; empty where the program would have to be changed."""


@dataclass(frozen=True)
class AdvisedUse:
    """What is advised for one way to use the data."""

    pattern: Pattern
    """How threads use the data."""
    basis: AdviceBasis
    candidates: list[AdvisedCandidate]
    """The candidates, the largest gain first, but for that which is as good as the best as far as can be told and asks least of its user: that stands before all."""
    not_shown: int
    """How many candidates there are beyond those that are shown."""
    recommended: Optional[int]
    """The position in `candidates` of what is recommended, which can be the default; null where nothing finds room."""
    own_parts_gb_per_s: Optional[Estimate]
    """What the same threads get where each uses its own part of the data, on its own node; null where that is not known, or the parts find no room there."""
    is_below_own_parts: bool
    """Whether what is recommended gives less than that."""
    forms: list[LauncherForm]
    """What is recommended in the words of other launchers; empty where nothing is, or the program would have to be changed."""


@dataclass(frozen=True)
class Demand:
    """A program's demand."""

    threads: Optional[int]
    """Threads, one on a core; null for one on every core of its initiators."""
    initiators: Optional[list[int]]
    """The initiators that it runs on; null where that may be chosen."""
    working_set_bytes: Optional[int]
    """Bytes of all its data; null where not known, and then no placement is said to fit."""
    load_share: Optional[float]
    """Share of loads in all bytes, 0 to 1; null where not known."""


@dataclass(frozen=True)
class FlowTrust:
    """How far the model is believed."""

    model_error: float
    """The model's error, a fraction: of the mean errors of a stream, on cases that all others predicted and on those of each experiment, the largest."""
    judged_by: Experiment
    """The experiment of these cases."""
    interval_error: float
    """Predictions are within this, a fraction: 95 % of the streams that all others predicted are off by no more, and it is at least twice the model's error."""
    least_difference_share: float
    """A difference is told from this on, a fraction."""


@dataclass(frozen=True)
class Inapplicable:
    """Why a model says nothing of a record."""

    why: str
    """In a sentence without its full stop."""
    remedy: Optional[str]
    """The command that would add what is missing; null where nothing can on this machine."""


@dataclass(frozen=True)
class LauncherForm:
    """A placement as a launcher is told."""

    launcher: Launcher
    texts: list[str]
    """What to type or to write into its file: one for the whole program, or one for the processes of each initiator where their pages differ. CMD and IMAGE stand for the user's own."""
    lacks: list[str]
    """What it cannot express of the placement, in sentences; empty where it says all."""


@dataclass(frozen=True)
class AdviseMachinePartPath:
    """From the CPUs of an initiator to a node."""

    kind: Literal["path"]
    initiator: int
    memory_node: int


@dataclass(frozen=True)
class AdviseMachinePartController:
    kind: Literal["controller"]
    memory_node: int


@dataclass(frozen=True)
class AdviseMachinePartIssue:
    """What the CPUs of an initiator can have on the way."""

    kind: Literal["issue"]
    initiator: int


@dataclass(frozen=True)
class AdviseMachinePartLink:
    """From the CPUs of a package to the memory of another."""

    kind: Literal["link"]
    from_package: int
    to_package: int


@dataclass(frozen=True)
class AdviseMachinePartInitiatorLink:
    """From one of several initiators of a package to the memory of another."""

    kind: Literal["initiator_link"]
    initiator: int
    to_package: int


@dataclass(frozen=True)
class AdviseMachinePartChannels:
    """What all memory of a kind in a package carries together."""

    kind: Literal["channels"]
    package: int
    memory_kind: MemoryKind


@dataclass(frozen=True)
class NodeAccess:
    """The accesses to a memory node."""

    memory_node: int
    share: float
    """The share of all accesses."""


@dataclass(frozen=True)
class RoomTooSmall:
    """Not on this node."""

    too_small: RoomTooSmallTooSmall


@dataclass(frozen=True)
class RoomTooSmallTooSmall:
    node: int
    needed_bytes: float
    """Bytes of the program that would lie there."""
    usable_bytes: float
    """Bytes that a program can have there."""


@dataclass(frozen=True)
class Verification:
    """What comparing found."""

    rounds: int
    """Runs on each side."""
    placed_median_seconds: float
    """Median time under the placement, s."""
    default_median_seconds: float
    """Median time without it, s."""
    ratio: float
    """Median over rounds of time without it / time under it: above 1 it is faster. Of the two runs of a round, because what else the machine does changes more slowly than that."""
    interval: tuple[float, float]
    """Interval of the ratio, 95 % with all looks together."""
    verdict: AdviseVerdict
    """What that means."""


@dataclass(frozen=True)
class Workers:
    """Threads of an initiator that work on the program's data."""

    initiator: int
    threads: int
    """Its threads; at least one."""


@dataclass(frozen=True)
class AdvisedPlacement(Answer):
    """Where a program's threads and pages belong, by ranked placements; `advise RECORD --json` prints it."""

    schema: Literal["nearfar.advise/3"]
    """Name and version of this format."""
    host: str
    started: str
    """When measuring began, UTC."""
    executor: Executor
    """Whether a machine was measured or simulated."""
    sealing: Seals
    """Whether the record is as it was written."""
    is_disturbed: bool
    """Whether something disturbed at least half of the samples: figures can then be of disturbed ones alone."""
    may_contain_cache: bool
    """Whether working sets were not shown to be beyond the caches."""
    demand: Demand
    profile: Optional[AdviceProfile]
    """The profile that a part of it is from; null where none was given."""
    only_node: Optional[int]
    """The only memory node that pages can lie on, so that there is nothing to choose; else null."""
    only_node_room: Optional[Room]
    """Whether the data fits there; null where pages can lie on several nodes."""
    uses: list[AdvisedUse]
    """What is advised for each way in which threads may use the data: for the one that was asked for, else first where each keeps to its own part, then where any uses any part. Empty where there is nothing to choose."""
    verification: Optional[Verification]
    """Whether a program was faster for what is recommended for the last use; null where that was not asked, or there was nothing to compare."""
    not_verified: Optional[str]
    """Why nothing was compared that was to be; else null."""


@dataclass(frozen=True)
class DevicePlace:
    """A memory node, with the host's threads next to it."""

    memory_node: int
    """The node of the host's pages."""
    initiator: int
    """The initiator of the host's threads."""
    bytes: int
    """Bytes of a copy, or of a message."""
    to_device_gb_per_s: CaseSummary
    """To the device, or through it to the peer."""
    to_host_gb_per_s: CaseSummary
    """From it."""
    time_ratio: float
    """Time of a copy or message there and one back / that of the fastest place; 1 for it."""
    is_as_good: bool
    """Whether it is as good as the fastest, as far as was measured: its time is longer by less than 5 %, or within both intervals."""


@dataclass(frozen=True)
class AdvisedDevice(Answer):
    """Memory nodes by the copies between them and a device, or the messages through it; `advise RECORD --device DEVICE --json` prints it."""

    schema: Literal["nearfar.advise-device/3"]
    """Name and version of this format."""
    host: str
    started: str
    """When measuring began, UTC."""
    executor: Executor
    """Whether a machine was measured or simulated."""
    sealing: Seals
    """Whether the record is as it was written."""
    is_disturbed: bool
    """Whether something disturbed at least half of the samples: figures can then be of disturbed ones alone."""
    may_contain_cache: bool
    """Whether working sets were not shown to be beyond the caches."""
    device_name: Optional[str]
    """The device's name, or null."""
    is_loopback: bool
    """Whether messages went over loopback, which is no adapter."""
    device: str
    """The device, by interface and number; a network adapter by the system's name."""
    traffic: DeviceTraffic
    places: list[DevicePlace]
    """The fastest first."""
    not_ranked: list[int]
    """Nodes, by their number, that are not ranked, because a way was not measured there."""
    command: Optional[str]
    """The command that applies the first place; null where there is one place, or all are as good."""


@dataclass(frozen=True)
class CaseStandingRefused:
    """The machine said no; why."""

    refused: str


@dataclass(frozen=True)
class CaseStandingOmitted:
    """Not asked for, or not applicable; why."""

    omitted: str


@dataclass(frozen=True)
class CommonShift:
    """What all figures of a group have in common."""

    gain_ratio: float
    """Median over the cases of B / A for bandwidth and arithmetic, of A / B for times: above 1 where B is better."""
    interval: tuple[float, float]
    """Its 95 % interval."""
    verdict: CompareVerdict
    """What it means."""


@dataclass(frozen=True)
class ComparedCase0:
    """Useful bytes of all actors together."""

    case: str
    """Its id in the first record."""
    b_case: str
    """Its id in the second."""
    group: ComparedGroup
    """With which cases it is compared."""
    a_rounds: int
    """Rounds in the first."""
    b_rounds: int
    """Rounds in the second."""
    ratio: float
    """b / a."""
    interval: tuple[float, float]
    """Its 95 % interval, of this case by itself."""
    score: float
    """How far from what its group has in common, as standard deviations of a normal number; above 0 where the second is better."""
    verdict: CompareVerdict
    """What that means."""
    a_gb_per_s: float
    b_gb_per_s: float


@dataclass(frozen=True)
class ComparedCase1:
    """Floating-point operations of all actors together."""

    case: str
    """Its id in the first record."""
    b_case: str
    """Its id in the second."""
    group: ComparedGroup
    """With which cases it is compared."""
    a_rounds: int
    """Rounds in the first."""
    b_rounds: int
    """Rounds in the second."""
    ratio: float
    """b / a."""
    interval: tuple[float, float]
    """Its 95 % interval, of this case by itself."""
    score: float
    """How far from what its group has in common, as standard deviations of a normal number; above 0 where the second is better."""
    verdict: CompareVerdict
    """What that means."""
    a_gflop_per_s: float
    b_gflop_per_s: float


@dataclass(frozen=True)
class ComparedCase2:
    """Of an access of the case's chase: less is better."""

    case: str
    """Its id in the first record."""
    b_case: str
    """Its id in the second."""
    group: ComparedGroup
    """With which cases it is compared."""
    a_rounds: int
    """Rounds in the first."""
    b_rounds: int
    """Rounds in the second."""
    ratio: float
    """b / a."""
    interval: tuple[float, float]
    """Its 95 % interval, of this case by itself."""
    score: float
    """How far from what its group has in common, as standard deviations of a normal number; above 0 where the second is better."""
    verdict: CompareVerdict
    """What that means."""
    a_ns: float
    b_ns: float


@dataclass(frozen=True)
class ComparedPart:
    """A part of the machine that cases which differ have in common."""

    place: Place
    verdict: CompareVerdict
    """Whether they are worse or better."""
    cases: int
    """Cases with this verdict that use the part."""
    cases_of_part: int
    """Compared cases that use the part."""
    gain_ratio: float
    """Median over them of B / A, of times A / B: above 1 where B is better."""


@dataclass(frozen=True)
class ComparedRole0:
    """Useful bytes of all actors together."""

    memory: Relation
    """Where the memory lies."""
    kernel: Optional[str]
    """The kernel; null of the idle time of an access."""
    threads: RoleThreads
    a_pairs: int
    """Pairs of the first machine."""
    b_pairs: int
    """Of the second."""
    ratio: float
    """b / a."""
    a_gb_per_s: float
    b_gb_per_s: float


@dataclass(frozen=True)
class ComparedRole1:
    """Floating-point operations of all actors together."""

    memory: Relation
    """Where the memory lies."""
    kernel: Optional[str]
    """The kernel; null of the idle time of an access."""
    threads: RoleThreads
    a_pairs: int
    """Pairs of the first machine."""
    b_pairs: int
    """Of the second."""
    ratio: float
    """b / a."""
    a_gflop_per_s: float
    b_gflop_per_s: float


@dataclass(frozen=True)
class ComparedRole2:
    """Of an access of the case's chase: less is better."""

    memory: Relation
    """Where the memory lies."""
    kernel: Optional[str]
    """The kernel; null of the idle time of an access."""
    threads: RoleThreads
    a_pairs: int
    """Pairs of the first machine."""
    b_pairs: int
    """Of the second."""
    ratio: float
    """b / a."""
    a_ns: float
    b_ns: float


@dataclass(frozen=True)
class EnvironmentDifference:
    """Something that is not the same in both records."""

    name: str
    a: Optional[str]
    """In the first record; `None` where it does not know."""
    b: Optional[str]
    """In the second; `None` where it does not know."""


@dataclass(frozen=True)
class GroupComparison:
    """What the cases of a group show together."""

    group: ComparedGroup
    cases: int
    """Cases with figures in both records."""
    a_noise: float
    """Relative standard deviation of a round that the cases have in common, of the first record."""
    b_noise: float
    """Of the second."""
    excess: float
    """How much more the cases' ratios scatter than their rounds explain: 1 where they do not; as much of it as may be noise."""
    shift: Optional[CommonShift]
    """What all have in common; `None` where they are too few, or do not agree."""


@dataclass(frozen=True)
class Origin:
    """The record that figures are from."""

    host: str
    started: str
    """When measuring began, UTC."""
    executor: Executor
    """Whether a machine was measured or simulated."""
    sealing: Seals
    """Whether the record is as it was written."""
    is_disturbed: bool
    """Whether something disturbed at least half of the samples: figures can then be of disturbed ones alone."""
    may_contain_cache: bool
    """Whether working sets were not shown to be beyond the caches."""


@dataclass(frozen=True)
class PlaceMemory:
    """A memory node, whoever accesses it."""

    part: Literal["memory"]
    memory_node: int


@dataclass(frozen=True)
class PlaceInitiator:
    """The cores of an initiator, whatever they access."""

    part: Literal["initiator"]
    initiator: int


@dataclass(frozen=True)
class PlaceCpuGroup:
    """One group of CPUs of several in its initiator, whatever it accesses."""

    part: Literal["cpu_group"]
    cpu_group: int
    """Its number among its kind."""
    initiator: int


@dataclass(frozen=True)
class PlacePackageLink:
    """All pairs of two packages, both ways."""

    part: Literal["package_link"]
    from_package: int
    """The lower package."""
    to_package: int
    """The higher package."""


@dataclass(frozen=True)
class PlacePackageToPackage:
    """What one package asks of the memory of another."""

    part: Literal["package_to_package"]
    from_package: int
    """The package of the cores."""
    to_package: int
    """The package of the memory."""


@dataclass(frozen=True)
class PlaceInitiatorToPackage:
    """What one initiator asks of the memory of another package."""

    part: Literal["initiator_to_package"]
    initiator: int
    to_package: int
    """The package of the memory."""


@dataclass(frozen=True)
class PlacePath:
    """What one initiator asks of one memory node that is not its own."""

    part: Literal["path"]
    initiator: int
    memory_node: int


@dataclass(frozen=True)
class PlaceOwnPath:
    """What an initiator asks of its own memory, where others reach more of that memory and it reaches others'."""

    part: Literal["own_path"]
    initiator: int
    memory_node: int


@dataclass(frozen=True)
class UncomparedCase:
    """A case that is not compared."""

    case: str
    """Its id in the first record that knows it."""
    a: CaseStanding
    """How it stands in the first record."""
    b: CaseStanding
    """How it stands in the second."""


@dataclass(frozen=True)
class Comparison(Answer):
    """Two records beside each other, a the first and b the second (docs/comparing.md); `compare A B --json` prints it."""

    schema: Literal["nearfar.compare/2"]
    """Name and version of this format."""
    a: Origin
    """The first record."""
    b: Origin
    """The second."""
    environment: list[EnvironmentDifference]
    """What differs around the measurements."""
    findings: dict[str, int]
    """Findings by verdict: cases, and groups by what they have in common."""
    cases: list[ComparedCase]
    """The cases that have figures in both, in the order of the first."""
    not_compared: list[UncomparedCase]
    groups: list[GroupComparison]
    """What the cases of each group have in common, in the order of [`ComparedGroup`]."""
    parts: list[ComparedPart]
    """Parts of the machine that worse or better cases have in common, worse ones first."""
    roles: list[ComparedRole]
    """What both reach where memory lies alike, of machines with other nodes or groups of CPUs, or loops."""
    floor: float
    """A difference below this fraction does not matter."""
    resolution: Optional[float]
    """A loss that half of the compared cases would show; at least the floor. `None` where nothing was compared."""


@dataclass(frozen=True)
class MappedProcesses:
    """All mappings of processes to places."""

    places_are: PlaceKind
    """What the places are."""
    places: list[MappingPlace]
    """The places, by their number."""
    targets: list[Target]
    """What each process accesses."""
    outcomes: list[MappingOutcome]
    """The mappings by their shares, the best first."""


@dataclass(frozen=True)
class MappingOutcome:
    """The mappings that come to the same shares, and what their processes get."""

    shares: list[float]
    """Share of all accesses by class."""
    d: float
    """Sum of alpha x share (eq. 4.6): the mean of the processes' alphas."""
    slowest_alpha: float
    """Alpha of the process that gets least. With equal work it ends last, and so decides the time."""
    mappings: int
    """How many mappings there are of this kind, at most what 64 bits hold."""
    example: list[int]
    """One of them: the place of each process, by its position among the places."""
    slowest_lone_gb_per_s: Optional[float]
    """What the slowest process gets as if alone, or null."""
    sum_lone_gb_per_s: Optional[float]
    """Sum over processes of what each gets as if alone, or null."""


@dataclass(frozen=True)
class MappingPlace:
    """Where a process may run."""

    index: int
    """The number of the group of CPUs or memory node; of places that were only counted, the position."""
    cpu_node: Optional[int]
    """The lowest node with CPUs of its initiator; null where it has none, or where places were only counted."""


@dataclass(frozen=True)
class PredictOutcomeUnknown:
    unknown: str
    """Why, in words."""


@dataclass(frozen=True)
class PlaceKindCpuGroups:
    """Groups of CPUs of this kind, from which processes access memory."""

    cpu_groups: GroupBy


@dataclass(frozen=True)
class ProgramAccess:
    """Shares and what they give."""

    shares: list[float]
    """Share of the accesses by class; their sum is 1."""
    d: float
    """Sum of alpha x share (eq. 4.6): the paper's figure."""
    d_serial: float
    """1 / sum(share / alpha): accesses one after the other, no overlap."""
    d_overlap: float
    """1 / max(share / alpha): accesses to different classes overlap fully."""
    d_gb_per_s: Optional[float]
    """`d` x unit, or null."""
    d_serial_gb_per_s: Optional[float]
    """`d_serial` x unit, or null."""
    d_overlap_gb_per_s: Optional[float]
    """`d_overlap` x unit, or null."""


@dataclass(frozen=True)
class Target:
    """What one process accesses: a device, or a memory node."""

    class_from: list[Optional[int]]
    """Class in which it is reached, by place; null where that is not known, and then its process is not mapped to that place."""


@dataclass(frozen=True)
class PredictedProcesses(Answer):
    """What programs get whose accesses are shared out over classes; `predict --json` prints it."""

    schema: Literal["nearfar.predict/2"]
    """Name and version of this format."""
    alphas: list[float]
    """Alpha of each class: a record's, the fastest first, or as given."""
    alphas_are: AlphaKind
    """What they are relative to."""
    gamma: PredictOutcome
    """The theoretical maximum."""
    unit_gb_per_s: Optional[float]
    """What an alpha of 1 stands for, or null."""
    executor: Optional[Executor] = None
    """Whether a machine was measured or simulated."""
    host: Optional[str] = None
    is_disturbed: Optional[bool] = None
    """Whether something disturbed at least half of the samples: figures can then be of disturbed ones alone."""
    may_contain_cache: Optional[bool] = None
    """Whether working sets were not shown to be beyond the caches."""
    sealing: Optional[Seals] = None
    """Whether the record is as it was written."""
    started: Optional[str] = None
    """When measuring began, UTC."""
    programs: Optional[list[ProgramAccess]] = None
    processes: Optional[MappedProcesses] = None


@dataclass(frozen=True)
class AtRoofs:
    """The roofs of a sort that a program is at."""

    sort: RoofSort
    roofs: list[int]
    """The nearest first."""
    ratio: float
    """What the program reaches / what the nearest allows."""


@dataclass(frozen=True)
class HybridRoof:
    """The roof of one program over two memories."""

    fast_node: int
    """Node of the memory that should be faster."""
    slow_node: int
    fast_share: float
    """Share of the program's bytes in the fast memory."""
    gb_per_s: Optional[Estimate]
    """What the hybrid model gives; null where an overlap that it needs is not known. Without an interval where the record does not tell how sure the model is."""
    range_gb_per_s: Optional[tuple[float, float]]
    """The lowest and the highest by the kinds of transfer that may take longest, which the interval holds; null as above."""
    attainable_gflop_per_s: Optional[float]
    """What is attainable below it and the ceiling; null as above."""
    ratio: Optional[float]
    """What the program reaches / attainable; null where either is not known."""
    standing: Optional[HybridStanding]
    """What that says; null where what the program reaches, or the interval, is not known."""
    relative_rms: Optional[float]
    """The hybrid model's relative RMS on points that it was not fitted to; null without such."""


@dataclass(frozen=True)
class PlacedProgram:
    """A program on every initiator."""

    program: Optional[str]
    """The program's name; null where its point was given."""
    intensity: IntensityKind
    """Which bytes its intensity is of."""
    flops_per_byte: float
    """Its intensity, above 0."""
    gflop_per_s: Optional[float]
    """What the threads of one initiator reach, above 0; null where that is not known."""
    initiators: list[Placement]
    """On each initiator that has roofs."""


@dataclass(frozen=True)
class Placement:
    """A program below the roofs of an initiator."""

    initiator: int
    cpus: str
    """A list such as `0-3,8`."""
    ceiling_gflop_per_s: Optional[float]
    """The ceiling; null without one."""
    roofs: list[UnderRoof]
    """Each roof in the order of the chart."""
    hybrid_roofs: list[HybridRoof]
    """Roofs of the program over two memories; empty where its shares were not given."""
    lowest_above: Optional[int]
    """Position of the lowest roof above the program; null without one."""
    standing: Optional[Standing]
    """What its place says; null where what it reaches is not known."""
    is_like_first: bool
    """Whether it stands to the roofs as on the first initiator, whatever their nodes."""
    advice: list[PlacementAdvice]
    """What to do; something at least."""


@dataclass(frozen=True)
class PlacementAdviceMeasureRoofs:
    """Measure roofs: none of memory is known here."""

    do: Literal["measure_roofs"]


@dataclass(frozen=True)
class PlacementAdviceSayWhatItReaches:
    """Say what the program reaches: by its loads from memory it attains at most what the best of its roofs allows."""

    do: Literal["say_what_it_reaches"]
    best: int
    worst: Optional[int]
    """The lowest of several; null with one."""
    factor: Optional[float]
    """What the best allows / what the worst does; null with one."""


@dataclass(frozen=True)
class PlacementAdviceOnlyCompute:
    """Compute better, not place better: no memory limits what it attains at most."""

    do: Literal["only_compute"]
    best: int
    worst: Optional[int]
    factor: Optional[float]


@dataclass(frozen=True)
class PlacementAdviceReduceArithmetic:
    """Compute better: it is at the ceiling."""

    do: Literal["reduce_arithmetic"]


@dataclass(frozen=True)
class PlacementAdviceFindPages:
    """Find out where its pages are and what else runs: it is at roofs of several sorts."""

    do: Literal["find_pages"]


@dataclass(frozen=True)
class PlacementAdviceReuseCache:
    """Do more with what a cache gives it."""

    do: Literal["reuse_cache"]
    at: AtRoofs


@dataclass(frozen=True)
class PlacementAdviceLeavePages:
    """Leave its pages, which are as near as they can be."""

    do: Literal["leave_pages"]
    at: AtRoofs


@dataclass(frozen=True)
class PlacementAdviceInterleave:
    """Interleave its pages, which are as near as they can be: their node is the limit."""

    do: Literal["interleave"]
    at: AtRoofs
    over: list[int]


@dataclass(frozen=True)
class PlacementAdviceMovePages:
    """Move its pages to a node of the initiator."""

    do: Literal["move_pages"]
    at: AtRoofs
    to: int
    gain: float
    """What it would reach there / what it reaches - 1."""


@dataclass(frozen=True)
class PlacementAdviceKeepPagesApart:
    """Put each initiator's pages on its own memory."""

    do: Literal["keep_pages_apart"]
    at: AtRoofs
    to: int
    gain: float
    """What it would reach so / what it reaches - 1."""
    is_first_touch: bool
    """Whether that comes about where each thread first touches what it will use."""
    interleaved: list[int]
    """What interleaving would give instead."""


@dataclass(frozen=True)
class PlacementAdviceLeavePlacement:
    """Leave its pages: nothing that was measured promises more than the model can tell apart."""

    do: Literal["leave_placement"]
    at: AtRoofs


@dataclass(frozen=True)
class PlacementAdviceMeasureAgain:
    """Measure again: so wide a band counts as at these roofs."""

    do: Literal["measure_again"]
    within: float
    """How far from a roof, a fraction of it."""


@dataclass(frozen=True)
class PlacementAdviceCountRequestedBytes:
    """Count other bytes or threads: it is above every roof."""

    do: Literal["count_requested_bytes"]


@dataclass(frozen=True)
class PlacementAdviceCheckCounters:
    """Look into the profile: it is above every roof of memory."""

    do: Literal["check_counters"]


@dataclass(frozen=True)
class PlacementAdviceLookElsewhere:
    """Look elsewhere before moving pages: it is between two roofs."""

    do: Literal["look_elsewhere"]
    above: Optional[int]
    """Null for the ceiling."""
    below: int


@dataclass(frozen=True)
class PlacementAdviceLookBeyondBandwidth:
    """Look elsewhere: it is below every roof."""

    do: Literal["look_beyond_bandwidth"]


@dataclass(frozen=True)
class PlacementAdviceDistrustRoof:
    """Measure again: points refute the roof at or beside which it is."""

    do: Literal["distrust_roof"]
    roof: Optional[int]
    """Null for the ceiling."""
    by: Optional[RefutingPoints]
    """The points that do; null without any."""


@dataclass(frozen=True)
class RefutingPoints:
    """Points that refute a roof."""

    roof: Roof
    """The roof that they are below."""
    is_local: Optional[bool]
    relative_rms: float
    worst_kernel: str
    """The mix of the one that is farthest off."""
    worst_ratio: float
    """Measured / attainable of that one."""


@dataclass(frozen=True)
class StandingAtCeiling:
    """Arithmetic limits."""

    is_: Literal["at_ceiling"]


@dataclass(frozen=True)
class StandingAtRoofs:
    """One of these limits, the nearest first."""

    is_: Literal["at_roofs"]
    roofs: list[int]


@dataclass(frozen=True)
class StandingAboveAll:
    """Above all roofs that it is held against: they do not hold for it."""

    is_: Literal["above_all"]


@dataclass(frozen=True)
class StandingBetween:
    """Between two neighbouring roofs: below neither limits."""

    is_: Literal["between"]
    above: Optional[int]
    """The next roof above; null where the ceiling is."""
    below: int
    """The next one below."""


@dataclass(frozen=True)
class StandingBelowAll:
    """Below every roof: no bandwidth limits."""

    is_: Literal["below_all"]


@dataclass(frozen=True)
class StandingRefuted:
    """At or beside a roof that points refute: what limits cannot be told."""

    is_: Literal["refuted"]
    roof: Optional[int]
    """Null for the ceiling."""


@dataclass(frozen=True)
class UnderRoof:
    """One roof above or below a program."""

    roof: Roof
    is_local: Optional[bool]
    """Whether the node is the initiator's own; null for a roof that is not one node's."""
    kernel: str
    """How memory is accessed."""
    gb_per_s: Estimate
    """Useful bytes of all threads of the initiator."""
    attainable_gflop_per_s: float
    """What it and the ceiling allow at the intensity."""
    is_memory_bound: bool
    """Whether bandwidth limits there, not arithmetic."""
    ratio: Optional[float]
    """What the program reaches / attainable; null where that is not known."""
    is_near: bool
    """Whether the program reaches what this roof allows, as far as the model can tell apart, and the roof is one that a verdict goes by: of loads, and of nodes that several initiators use that of most initiators. Never one that is refuted."""
    is_refuted: bool
    """Whether points of known intensity are so far off the roof that it predicts nothing."""


@dataclass(frozen=True)
class PlacedPrograms(Answer):
    """Where programs lie below the roofs of a record's initiators (denoyelle2019); `predict RECORD --point .. --json` and `--profile FILE --json` print it."""

    schema: Literal["nearfar.predict-roofline/2"]
    """Name and version of this format."""
    host: str
    started: str
    """When measuring began, UTC."""
    executor: Executor
    """Whether a machine was measured or simulated."""
    sealing: Seals
    """Whether the record is as it was written."""
    is_disturbed: bool
    """Whether something disturbed at least half of the samples: figures can then be of disturbed ones alone."""
    may_contain_cache: bool
    """Whether working sets were not shown to be beyond the caches."""
    load_share: Optional[float]
    """Share of loads in the programs' bytes; null where it was not given."""
    points: list[PlacedProgram]
    commands: RoofCommands
    """What would tell more."""


@dataclass(frozen=True)
class BoundShares:
    """By how much a program's time would change, as parts of it: percent for a percent of each."""

    compute: float
    """Of core time."""
    bandwidth: float
    """Of the bandwidth."""
    latency: float
    """Of the time of an access without traffic."""


@dataclass(frozen=True)
class PredictProgramOutcomeUnknown:
    unknown: str
    """Why, in words."""


@dataclass(frozen=True)
class PartEstimates:
    """The parts of a program's time with their intervals."""

    core_s: Estimate
    """Time that does not depend on memory."""
    exposed_lines: Estimate2
    """Lines waited for one after the other."""
    bytes: Estimate2
    """Bytes that cross to the memory."""
    read_share: Estimate2
    """The share of reads in them."""
    overlap: Estimate2
    """How far core time and waiting overlap: 1 not at all."""
    lines_under_way: Estimate2
    """Lines fetched / those waited for one after the other: how many are under way at a time."""
    busy_ratio: Optional[Estimate2]
    """Its time beside cores that others keep busy / without, whatever they move; null where nothing ran beside it."""
    kept_lines: Optional[Estimate2]
    """Lines more that it waits for, one after the other, where others take a shared cache; null where nothing ran beside it."""
    half_lost_beside_gb_per_s: Optional[Estimate3]
    """Reads of others by which half of these are taken; null likewise."""


@dataclass(frozen=True)
class PlaceTime:
    """A program on the CPUs of an initiator with its memory on a node."""

    initiator: int
    memory_node: int
    is_local: bool
    """Whether the node is one of the initiator's own."""
    is_home: bool
    """Whether its runs were here."""
    time_s: PredictProgramOutcome
    """Its time; the interval is of what would be measured."""
    measured_s: Optional[Estimate]
    """What its runs took here: those of its profile, alone, or the record's own of a workload that only declares its traffic; null where there are none, or others run beside it."""
    slowdown: Optional[Estimate2]
    """`time_s` / its time alone where its runs were; null where either is not known."""
    slowdown_by_alpha: Optional[float]
    """The same by the rule that performance is relative alpha, the bandwidth of a pair / that of another (braithwaite2012, section 4.4); null where the record has no classes that hold both."""
    depends_on: Optional[BoundShares]
    """What its time depends on there; null without one."""
    bound_by: Optional[BoundBy]
    """The part that it depends on most."""
    traffic_gb_per_s: Optional[float]
    """What crosses for one copy; null without a time."""
    access_ns: Optional[float]
    """Time of an access meanwhile; null without a time."""
    is_within_measured: bool
    """Whether all that crosses is within what the record measured: beyond it the law stands alone."""


@dataclass(frozen=True)
class PredictedProgram(Answer):
    """A program's time at each pair of an initiator and a node."""

    schema: Literal["nearfar.predict-program/1"]
    """Name and version of this format."""
    host: str
    started: str
    """When measuring began, UTC."""
    executor: Executor
    """Whether a machine was measured or simulated."""
    sealing: Seals
    """Whether the record is as it was written."""
    is_disturbed: bool
    """Whether something disturbed at least half of the samples: figures can then be of disturbed ones alone."""
    may_contain_cache: bool
    """Whether working sets were not shown to be beyond the caches."""
    program: str
    """The program."""
    ran_on: str
    """The host of its runs."""
    is_same_machine: bool
    """Whether the record is of that machine."""
    copies: int
    """Copies of it that run at the same time."""
    beside_gb_per_s: float
    """What others move to the same memory."""
    beside_read_share: float
    """The share of reads in that."""
    parts: PartEstimates
    """What its time is made of."""
    measured_s: Optional[Estimate]
    """Its runs alone; null where it has not run."""
    places: list[PlaceTime]
    """By time, the shortest first; those without one last."""


@dataclass(frozen=True)
class FilledPart:
    """How full a part is."""

    part: PredictFlowMachinePart
    filled_share: float
    """What it carries / its capacity."""


@dataclass(frozen=True)
class InitiatorThreads:
    initiator: int
    threads: int


@dataclass(frozen=True)
class PredictFlowMachinePartPath:
    """From the CPUs of an initiator to a node."""

    kind: Literal["path"]
    initiator: int
    memory_node: int


@dataclass(frozen=True)
class PredictFlowMachinePartController:
    kind: Literal["controller"]
    memory_node: int


@dataclass(frozen=True)
class PredictFlowMachinePartIssue:
    """What the CPUs of an initiator can have on the way."""

    kind: Literal["issue"]
    initiator: int


@dataclass(frozen=True)
class PredictFlowMachinePartLink:
    """From the CPUs of a package to the memory of another."""

    kind: Literal["link"]
    from_package: int
    to_package: int


@dataclass(frozen=True)
class PredictFlowMachinePartInitiatorLink:
    """From one of several initiators of a package to the memory of another."""

    kind: Literal["initiator_link"]
    initiator: int
    to_package: int


@dataclass(frozen=True)
class PredictFlowMachinePartChannels:
    """What all memory of a kind in a package carries together."""

    kind: Literal["channels"]
    package: int
    memory_kind: MemoryKind


@dataclass(frozen=True)
class PredictedStream:
    """What one stream gets."""

    binding: Binding
    threads: list[InitiatorThreads]
    """Its threads, one on each core, by initiator."""
    alone_gb_per_s: Estimate
    """What it gets with the machine to itself, useful bytes."""
    together_gb_per_s: Estimate
    """What it gets beside the others, useful bytes."""
    kept_share: float
    """Together / alone."""
    limit: Optional[PredictFlowMachinePart]
    """What slows it most beside the others; null where its own threads are what it waits for."""


@dataclass(frozen=True)
class PredictedStreams(Answer):
    """What streams get that run at the same time."""

    schema: Literal["nearfar.predict-flow/2"]
    """Name and version of this format."""
    host: str
    started: str
    """When measuring began, UTC."""
    executor: Executor
    """Whether a machine was measured or simulated."""
    sealing: Seals
    """Whether the record is as it was written."""
    is_disturbed: bool
    """Whether something disturbed at least half of the samples: figures can then be of disturbed ones alone."""
    may_contain_cache: bool
    """Whether working sets were not shown to be beyond the caches."""
    kernel: str
    """Its name; that of the first is the one that capacities are of."""
    variant: str
    """Its instruction-set variant where it runs beside others."""
    model_error: float
    """The model's error, a fraction: of the mean errors of a stream, on cases that all others predicted and on those of each experiment, the largest."""
    judged_by: Experiment
    """The experiment of these cases."""
    interval_error: float
    """Predictions are within this, a fraction: 95 % of the streams that all others predicted are off by no more, and it is at least twice the model's error."""
    least_difference_share: float
    """A difference is told from this on, a fraction."""
    free_cores: int
    """Cores of the machine without a stream."""
    streams: list[PredictedStream]
    """Each stream, in the order in which they were asked."""
    sum_gb_per_s: Estimate
    """What all get together."""
    parts: list[FilledPart]
    """The parts that they use, the fullest first."""
    notes: list[str]
    """What to know of it, in sentences."""


@dataclass(frozen=True)
class PredictCurveOutcomeUnknown:
    unknown: str
    """Why, in words."""


@dataclass(frozen=True)
class PairLatency:
    """Time of an access of an initiator to a node."""

    initiator: int
    """The initiator of the thread and of the traffic."""
    memory_node: int
    """The node that all access."""
    is_local: bool
    """Whether the node is one of the initiator's own."""
    latency_ns: PredictCurveOutcome
    """Time of an access; the interval is of what would be measured there."""
    rise: Optional[float]
    """That / the idle one; null where it is not known."""
    is_within_measured: bool
    """Whether the traffic is within what was measured: beyond it the law stands alone."""


@dataclass(frozen=True)
class PredictedAccesses(Answer):
    """Time of an access of each pair beside the same traffic."""

    schema: Literal["nearfar.predict-curve/1"]
    """Name and version of this format."""
    host: str
    started: str
    """When measuring began, UTC."""
    executor: Executor
    """Whether a machine was measured or simulated."""
    sealing: Seals
    """Whether the record is as it was written."""
    is_disturbed: bool
    """Whether something disturbed at least half of the samples: figures can then be of disturbed ones alone."""
    may_contain_cache: bool
    """Whether working sets were not shown to be beyond the caches."""
    read_share: float
    """Reads / all bytes that cross to the memory."""
    traffic_gb_per_s: float
    """What crosses to the memory beside the accesses."""
    pairs: list[PairLatency]
    """By initiator and node."""


@dataclass(frozen=True)
class HybridPairAnswer:
    """What a program gets of two memories of one initiator."""

    initiator: int
    fast_node: int
    """Node of the memory that should be faster."""
    slow_node: int
    is_one_kind: bool
    """Whether both are of one kind: what is called fast is then the nearer one."""
    default_node: Optional[int]
    """On which of the two pages come to lie by themselves; null where it is neither."""
    errors: PredictHybridOutcome
    """How far the model is off."""
    remedy: str
    """The command that measures the cases of the model with enough rounds."""
    load_share: float
    """Share of loads in all bytes."""
    default_placement: PlacementName
    """Where pages come to lie that nobody places: the initiator's own node with CPUs, or the fast memory where that is neither of the two."""
    placements: list[HybridPlacement]
    """The placements that can be predicted."""
    recommended: Optional[PlacementName]
    """Of these the simplest whose gain over simpler ones is claimed; null where the default cannot be predicted."""
    is_complete: bool
    """Whether no overlap is missing: else a better share may not be seen."""
    advice: list[HybridAdvice]
    """What to do."""


@dataclass(frozen=True)
class PredictHybridOutcomeUnknown:
    unknown: str
    """Why, in words."""


@dataclass(frozen=True)
class PredictedPlacements(Answer):
    """What a program gets of a fast and a slow memory; `predict RECORD --load-share SHARE --json` prints it."""

    schema: Literal["nearfar.predict-hybrid/2"]
    """Name and version of this format."""
    host: str
    started: str
    """When measuring began, UTC."""
    executor: Executor
    """Whether a machine was measured or simulated."""
    sealing: Seals
    """Whether the record is as it was written."""
    is_disturbed: bool
    """Whether something disturbed at least half of the samples: figures can then be of disturbed ones alone."""
    may_contain_cache: bool
    """Whether working sets were not shown to be beyond the caches."""
    pairs: list[HybridPairAnswer]
    """For each initiator with two memories."""


@dataclass(frozen=True)
class ChangedBandwidth:
    """A bandwidth before and after."""

    of: BandwidthOf
    now_gb_per_s: Optional[Estimate]
    """Null where the record has none."""
    then_gb_per_s: PredictWhatIfOutcome


@dataclass(frozen=True)
class ChangedLatency:
    """A latency before and after."""

    of: LatencyOf
    now_ns: Optional[Estimate2]
    """Null where the record has none."""
    then_ns: PredictWhatIfOutcome2


@dataclass(frozen=True)
class PredictWhatIfOutcomeUnknown:
    unknown: str
    """Why, in words."""


@dataclass(frozen=True)
class PredictWhatIfOutcome2Unknown:
    unknown: str
    """Why, in words."""


@dataclass(frozen=True)
class Then:
    """What a figure would be."""

    value: float
    interval: Optional[tuple[float, float]]
    """From the lowest to the highest that it may be; null where that is not known."""
    confidence: Optional[float]
    """How often such an interval holds the true value, a fraction; null where that is not known."""
    cases: list[str]
    """The cases behind it, by their ids in the record."""
    because: Because


@dataclass(frozen=True)
class Then2:
    """What a figure would be."""

    value: float
    interval: Optional[tuple[float, float]]
    """From the lowest to the highest that it may be; null where that is not known."""
    confidence: Optional[float]
    """How often such an interval holds the true value, a fraction; null where that is not known."""
    cases: list[str]
    """The cases behind it, by their ids in the record."""
    because: Because


@dataclass(frozen=True)
class ChangedMachine(Answer):
    """What a change would do."""

    schema: Literal["nearfar.predict-what-if/1"]
    """Name and version of this format."""
    host: str
    started: str
    """When measuring began, UTC."""
    executor: Executor
    """Whether a machine was measured or simulated."""
    sealing: Seals
    """Whether the record is as it was written."""
    is_disturbed: bool
    """Whether something disturbed at least half of the samples: figures can then be of disturbed ones alone."""
    may_contain_cache: bool
    """Whether working sets were not shown to be beyond the caches."""
    change: str
    """As it was asked: `channels=6`."""
    from_: str
    """What it changes from, in a few words."""
    kernel: str
    """The kernel that all bandwidths are of."""
    bandwidth: list[ChangedBandwidth]
    latency: list[ChangedLatency]


@dataclass(frozen=True)
class FleetCell:
    """A cell over the machines of a group."""

    case: str
    series: str
    """Its id without places, which cells of other places share."""
    from_: Optional[int]
    """Number of the initiator that accesses; null: not one."""
    to: Optional[int]
    """The node that is accessed; null: not one."""
    unit: Unit
    """What its figures count."""
    median: float
    """Median over machines, GB/s, GFLOP/s or ns."""
    is_time: bool
    """Whether it is ns, of which less is better."""
    spread: float
    """Robust relative standard deviation over machines."""


@dataclass(frozen=True)
class FleetGroup:
    """Machines of a kind."""

    id: str
    """Name of the kind."""
    kind: MachineKind
    machines: int
    """Machines of it."""
    joined: Optional[JoinedGroup]
    """The larger group that they are compared with, being too few themselves; null: with each other."""
    not_compared: Optional[str]
    """Why they are not compared; null where they are."""
    configuration: dict[str, dict[str, int]]
    """What not all of them have alike and what may explain differences: values by name, with how many machines."""
    cells: list[FleetCell]
    """Median and spread of each cell over machines; empty where these are compared with another group."""


@dataclass(frozen=True)
class FleetMachine:
    """A machine of the run."""

    machine: str
    """Letters, digits, `.`, `-` and `_`, at most 200, the first of them a letter or a digit."""
    verdict: VerdictKind
    unknown: Optional[str]
    """Why nothing can be said; null where something is."""
    group: Optional[str]
    """Name of its group; null where its kind is not known."""
    measurements: int
    """Measurements that it was judged by."""
    measured: Optional[str]
    """When the last of them ended."""
    ratio: Optional[float]
    """How much of its peers' medians it has over all cells; null where it was not compared."""
    shortfalls: list[Shortfall]
    """What falls short, most first."""
    record: Optional[str]
    """Its last record, from the run's folder."""


@dataclass(frozen=True)
class JoinedGroup:
    """The group that a small one is compared with."""

    id: str
    differs_in: list[str]
    """In what the kinds differ."""


@dataclass(frozen=True)
class KindInitiator:
    """CPUs that share their nearest memory."""

    cpus: int
    package: Optional[int]
    """The package that it is on; null: on several, or not known."""


@dataclass(frozen=True)
class KindNode:
    """A memory node."""

    node: int
    """The operating system's number."""
    memory: MemoryKind
    package: Optional[int]
    """The package that it is at; null: at several, or not known."""
    gib: Optional[int]
    """Its size in GiB, rounded up to what modules add up to: the firmware of alike machines keeps more or less for itself. Null: not known."""


@dataclass(frozen=True)
class MachineKind:
    """What groups are made by."""

    executor: Executor
    architecture: str
    cpu: Optional[str]
    """Name of the CPU; null: not known."""
    stepping: Optional[int]
    """Null: not known."""
    initiators: list[KindInitiator]
    """Who accesses memory, in the order of their numbers."""
    nodes: list[KindNode]
    """Memory nodes, in the order of their numbers."""
    distances: Optional[list[list[int]]]
    """The firmware's distances between nodes; null: it gives none."""
    nearfar: str
    """Version of nearfar, whose loops are what is measured."""
    measured: str
    """What was measured, in words of the plan."""


@dataclass(frozen=True)
class FleetCompareMachinePartMemory:
    """The memory of the node of this number."""

    memory: int


@dataclass(frozen=True)
class FleetCompareMachinePartInitiator:
    """The CPUs of the initiator of this number."""

    initiator: int


@dataclass(frozen=True)
class FleetCompareMachinePartLink:
    """What lies between two packages, both ways."""

    link: tuple[int, int]


@dataclass(frozen=True)
class FleetCompareMachinePartCell:
    """One cell by itself, by its case."""

    cell: str


@dataclass(frozen=True)
class Problem:
    """Something that went wrong with a machine or a file of the run."""

    machine: Optional[str]
    """Null of a file that is of no machine."""
    kind: ProblemKind
    what: str
    """What it is, in words."""


@dataclass(frozen=True)
class Shortfall:
    """What falls short."""

    part: FleetCompareMachinePart
    series: str
    """The cells that show it most, by their id without places."""
    ratio: float
    """How much of what its peers have there it has, of the median over its measurements."""
    score: float
    """How far below its peers, as standard deviations of a normal number."""
    further_series: int
    """Further series of cells that show it."""


@dataclass(frozen=True)
class FleetComparison(Answer):
    """A run's machines beside each other; `fleet compare DIR --json` prints it."""

    schema: Literal["nearfar.fleet-compare/1"]
    """Name and version of this format."""
    folder: str
    """The run's folder."""
    compared: str
    """When it was compared: RFC 3339, UTC."""
    target: Optional[str]
    """The record that takes the place of the peers' medians; null: they are compared with each other."""
    engine: Optional[Engine]
    """What the run was to be started by; null: there is no manifest."""
    expected: Optional[int]
    """Machines that the manifest expects; null: there is none."""
    missing: list[str]
    """Expected machines of which nothing is there."""
    problems: list[Problem]
    """What went wrong, by machine; a machine may be judged all the same."""
    verdicts: dict[str, int]
    """Machines by verdict."""
    groups: list[FleetGroup]
    """Machines that share a kind and were judged together, the largest group first."""
    machines: list[FleetMachine]
    """Every machine that is there or expected, by name."""
    floor: float
    """A loss below this fraction does not matter."""


@dataclass(frozen=True)
class DriftRun:
    """A run."""

    folder: str
    started: str
    """When the first of its measurements began: RFC 3339, UTC."""
    machines: int
    """Machines of it that could be judged."""


@dataclass(frozen=True)
class FleetShift:
    """A shift of the medians of a kind."""

    group: str
    """Name of the kind."""
    run: int
    """Position of the run that shows it first, from 0."""
    ratio: float
    """How much of what it was the median is over all cells."""


@dataclass(frozen=True)
class MachineDrift:
    """A machine over the runs."""

    machine: str
    """Letters, digits, `.`, `-` and `_`, at most 200, the first of them a letter or a digit."""
    ratios: list[Optional[float]]
    """How much of its peers' medians it has over all cells, by run; null: not measured, or it had no peers."""
    breaks: list[SegmentBreak]
    """Runs at which a new segment begins, and why."""
    changes: list[PartChange]
    """What changed beyond chance, the most certain first."""


@dataclass(frozen=True)
class FleetDriftMachinePartMemory:
    """The memory of the node of this number."""

    memory: int


@dataclass(frozen=True)
class FleetDriftMachinePartInitiator:
    """The CPUs of the initiator of this number."""

    initiator: int


@dataclass(frozen=True)
class FleetDriftMachinePartLink:
    """What lies between two packages, both ways."""

    link: tuple[int, int]


@dataclass(frozen=True)
class FleetDriftMachinePartCell:
    """One cell by itself, by its case."""

    cell: str


@dataclass(frozen=True)
class PartChange:
    """A change of a part of a machine against its peers."""

    part: FleetDriftMachinePart
    shape: ChangeShape
    run: int
    """Position of the first run after it, from 0."""
    found_at: int
    """Position of the run by which it was certain."""
    ratio: float
    """How much of what it was the part has by now."""
    score: float
    """Standardised size."""


@dataclass(frozen=True)
class SegmentBreak:
    """Where a machine became another one."""

    run: int
    """Position of the run, from 0."""
    changed: list[str]
    """What changed, with its values before and after."""


@dataclass(frozen=True)
class FleetDrift(Answer):
    """Machines over several runs; `fleet drift DIR.. --json` prints it."""

    schema: Literal["nearfar.fleet-drift/1"]
    """Name and version of this format."""
    runs: list[DriftRun]
    """The runs, the oldest first."""
    fleet_shifts: list[FleetShift]
    """What changed for all machines of a kind at once."""
    machines: list[MachineDrift]
    """Machines that were measured in two runs at the least, by name."""


@dataclass(frozen=True)
class Cache:
    """A data or unified CPU cache."""

    level: int
    """1 is nearest to the core."""
    kind: CacheKind
    """What it holds."""
    bytes: Optional[int]
    """Null where hwloc does not know it."""
    line_bytes: Optional[int]
    """Null where hwloc does not know it."""
    cpus: str
    """CPUs that share it."""


@dataclass(frozen=True)
class Core:
    """A core and its processing units."""

    cpus: str
    """Its CPUs (hardware threads), allowed or not."""


@dataclass(frozen=True)
class Device:
    """A PCIe device."""

    bus_id: str
    """Domain, bus, device, function: `0000:3b:00.0`."""
    kind: DeviceKind
    """What it does."""
    class_: Optional[str]
    """Its PCI class in words (`Ethernet`, `NVMe`, `3D`); null: not known."""
    vendor_device: Optional[str]
    """PCI vendor and device numbers, hexadecimal: `10de:20b0`; null: not known."""
    name: Optional[str]
    """Null where the system knows none."""
    os_names: list[str]
    """The operating system's names for it: `eth0`, `nvme0n1`, `cuda0`."""
    nodes: str
    """All nearest memory nodes; empty when not known."""
    cpus: str
    """CPUs near it; empty when not known."""
    link: Link


@dataclass(frozen=True)
class Distances:
    """The firmware's relative distances (SLIT): `values[i][j]` from `nodes[i]` to `nodes[j]`."""

    nodes: list[int]
    """The nodes' numbers, in the order of rows and columns."""
    values: list[list[int]]
    """Row i, column j: from nodes[i] to nodes[j]; 10 is local by ACPI's convention."""


@dataclass(frozen=True)
class FirmwareFigure:
    """What the firmware (HMAT, CDAT) says about one initiator and one node. It is a claim, not a measurement."""

    initiator: Optional[str]
    """CPUs that access; null where only the node is named."""
    node: int
    """The node that is accessed."""
    read_bytes_per_s: Optional[float]
    write_bytes_per_s: Optional[float]
    read_latency_ns: Optional[float]
    write_latency_ns: Optional[float]


@dataclass(frozen=True)
class Link:
    """A PCIe link as it is now and at most; null is not known."""

    gt_per_s: Optional[float]
    """Transfers per second and lane now, 1e9/s (8.0 for generation 3)."""
    lanes: Optional[int]
    """Lanes in use."""
    max_gt_per_s: Optional[float]
    """Transfers per second and lane at most, 1e9/s."""
    max_lanes: Optional[int]
    """Lanes at most."""
    bytes_per_s: Optional[float]
    """Bandwidth now by hwloc, each way, after encoding."""


@dataclass(frozen=True)
class Machine:
    """A machine: what is in it, how far things are by its firmware's word, and what this process may use."""

    source: Source
    """Where the description came from."""
    packages: list[Package]
    """Processor packages ("sockets"), by `os_index`."""
    nodes: list[MemoryNode]
    """NUMA memory nodes, by `os_index`."""
    cores: list[Core]
    """Cores with their processing units, by their first CPU."""
    caches: list[Cache]
    """Data and unified CPU caches, by level, then by their first CPU."""
    distances: Optional[Distances]
    """The firmware's relative distances between nodes (SLIT); null: it gives none."""
    firmware_figures: list[FirmwareFigure]
    """What the firmware claims of bandwidth and latency (HMAT), null where it gives no figure; empty where it claims nothing."""
    devices: list[Device]
    """PCIe devices for network, storage and computing."""
    allowed_cpus: str
    """CPUs that the process may use."""
    allowed_nodes: str
    """Nodes on which the process may place pages."""
    interleave_weights: Optional[dict[str, int]]
    """The operating system's interleave weights, pages in turn (1 to 255) by node; null where it has no weighted interleave (before Linux 6.9) or does not say."""
    memory_modules: Optional[list[MemoryModule]]
    """Memory modules in their sockets, in the firmware's order; null where they are not known."""
    empty_memory_sockets: Optional[int]
    """Memory sockets without a module; null where the modules are not known."""
    memory_modules_unknown: Optional[str]
    """Why the memory modules are not known; null where they are."""
    notes: list[str]
    """What was odd, missing or inferred, in sentences for people."""


@dataclass(frozen=True)
class MemoryModule:
    """A populated memory socket, by the firmware's word."""

    locator: str
    """The socket's name as it is printed on the board: `DIMM_A1`."""
    bank: Optional[str]
    """The bank's name: `P0 CHANNEL A`; null where the firmware gives none."""
    kind: Optional[str]
    """What it is made of: `DDR4`, `HBM2`, `NVDIMM`, `CXL`; null where not said."""
    bytes: Optional[int]
    """Its size, 1 to 2^50; null where not said."""
    configured_mt_per_s: Optional[int]
    """The speed at which it runs, 1e6 transfers/s, 10 to 100000; null where not said."""
    max_mt_per_s: Optional[int]
    """The highest speed that it can run at, 1e6 transfers/s, 10 to 100000; null where not said."""
    data_bits: Optional[int]
    """Width of its data path without check bits, 1 to 4096; null where not said."""
    manufacturer: Optional[str]
    """Null where not said."""
    part_number: Optional[str]
    """Null where not said."""


@dataclass(frozen=True)
class MemoryNode:
    """A NUMA memory node."""

    os_index: int
    """The operating system's number."""
    kind: MemoryKind
    """What it is made of."""
    cpus: str
    """CPUs that belong to the node itself; empty for a memory-only node."""
    locality: str
    """The CPUs next to it: its own, or for a memory-only node those that the firmware names, else those of the nearest nodes. Whether it is local to them, initiators say."""
    memory_bytes: Optional[int]
    """Its size as the operating system or hwloc says, 0 for CPUs without memory; null: not said. In a virtual machine it can be wrong: see the machine's notes."""
    memory_side_cache_bytes: Optional[int]
    """Size of a memory-side cache in front of it; null: none is known."""


@dataclass(frozen=True)
class Package:
    """A processor package ("socket")."""

    os_index: int
    """The operating system's number."""
    cpus: str
    """All its CPUs, allowed or not."""
    model: Optional[str]
    """The CPU's name; null: not known."""


@dataclass(frozen=True)
class SourceXml:
    """The name of the file in hwloc's XML that described the machine."""

    xml: str


@dataclass(frozen=True)
class SourceSynthetic:
    """hwloc's synthetic text that described it, for example `node:4 core:4 pu:1`."""

    synthetic: str


@dataclass(frozen=True)
class SourceSimulated:
    """The name of the simulated machine."""

    simulated: str


ClassNote = Union[ClassNoteAllLocal, ClassNoteAllRemote, ClassNoteFewerThreads, ClassNoteFewRounds, ClassNoteDisturbed, ClassNoteUnknownNoise, ClassNoteMuchNoise, ClassNoteWidened, ClassNoteArbitraryBorders]
Executor = Literal["native", "simulated"]
GroupBy = Literal["memory", "l3", "core"]
MemoryKind = Literal["dram", "hbm", "cxl", "nvm", "gpu", "unknown"]
ClassesOutcome = Union[TheoreticalMaximum, ClassesOutcomeUnknown]
PairGroup = Union[PairGroupAlike, PairGroupBlock]
Relation = Literal["local", "same_package", "other_package"]
Scope = Literal["channel", "stack", "node", "link", "given"]
ThreadChoice = Union[int, str]
LatencyAdvice = Union[LatencyAdviceLeaveData, LatencyAdviceKeepTogether, LatencyAdviceDistrustFirmware, LatencyAdviceLimitTraffic, LatencyAdviceKnowKnee, LatencyAdviceLetTrafficRun, LatencyAdviceMeasureMore]
LatencyOutcome = Union[Estimate2, LatencyOutcomeUnknown]
LatencyOutcome2 = Union[FactorSpan, LatencyOutcome2Unknown]
LatencyOutcome3 = Union[LatencyKnee, LatencyOutcome3Unknown]
Outcome4 = Union[Estimate3, Outcome4Unknown]
Outcome5 = Union[FamilyLaw, Outcome5Unknown]
Absence = Literal["omitted", "refused"]
Affinity = Literal["unbound", "compact", "scatter"]
ChaseWalk = Literal["page_groups", "anywhere"]
Coordinates = Union[CoordinatesPairs, CoordinatesScaling, CoordinatesSharing, CoordinatesLinks, CoordinatesRoofs, CoordinatesHybrid, CoordinatesMixes, CoordinatesLatency, CoordinatesExchange, Union[CoordinatesDevicesTransfer, CoordinatesDevicesStreams], CoordinatesNetwork, CoordinatesCommands, CoordinatesWorkloads]
CpuRelation = Literal["same_core", "same_l3", "same_node", "same_package", "other_package"]
HandOver = Literal["store_load", "compare_swap"]
HostMemory = Literal["pinned", "pageable"]
HybridPoint = Union[HybridPointCorner, HybridPointPair, HybridPointSurface]
MessageDirection = Literal["send", "send_without_copy", "receive", "round_trip"]
ExchangeOutcome = Union[Estimate2, ExchangeOutcomeUnknown]
Pages = Literal["small", "transparent", "huge"]
PlacementStrategy = Literal["first-touch", "parallel-init", "round-robin", "memory-bind"]
ReasonCode = Literal["one_node", "one_initiator", "one_package", "one_core", "one_memory_kind", "no_window", "unknown_cache", "unmeasured_input", "no_ratio", "full_suite_only", "no_variant", "screened_out", "node_not_allowed", "cpus_not_allowed", "budget", "no_room", "denied", "misplaced", "unproven", "wrong_data", "threads", "not_simulated", "contradiction", "too_large", "no_device", "other_interface", "device_failed", "no_peer", "peer_failed", "not_pinned", "command_failed", "timed_out", "no_metric", "not_verified"]
Roof = Union[RoofCompute, RoofCache, RoofMemory, RoofInterleaved, RoofContended, RoofAllLocal, RoofCongested]
RoofPurpose = Literal["roof", "validation"]
Stage = Literal["screening", "matrix"]
TransferBeside = Union[TransferBesideStreams, TransferBesideDevice]
TransferDirection = Literal["to_device", "to_host", "both_ways", "to_peer"]
TransferKind = Literal["lf", "sf", "ls", "ss"]
Way = Literal["one_way", "both_ways"]
LawFit = Union[LawFitPressure, LawFitSaturation]
SplitVerdict = Literal["all_near", "gain", "within_error", "error_unknown", "not_all_fit_near"]
Support = Literal["measured", "interpolated", "extrapolated"]
WhoLosesMore = Literal["local", "remote", "neither"]
WorkSharing = Literal["dynamic", "static"]
PhaseLimit = Literal["arithmetic", "memory", "other"]
RooflineAdvice = Union[RooflineAdvicePutPages, RooflineAdviceLeavePages, RooflineAdviceExpectOnly, RooflineAdviceArrangePages, RooflineAdviceArrangeFreely, RooflineAdviceExpectOnlyTogether, RooflineAdviceComputeBetter, RooflineAdviceDistrustRoofs, RooflineAdviceTrustRoofs, RooflineAdviceMeasurePoints, RooflineAdviceMeasureExceeded]
HybridAdvice = Union[HybridAdviceLeave, HybridAdvicePut, HybridAdviceAvoidJump, HybridAdviceTrySeparately, HybridAdviceFillHalf, HybridAdviceMeasureOverlaps, HybridAdviceSuspectBetter]
MemoryPolicy = str
NoGain = Literal["within_error", "too_few_rounds", "error_unknown"]
HybridOutcome = Union[OverlapValue, HybridOutcomeUnknown]
HybridOutcome2 = Union[HeldOutErrors, HybridOutcome2Unknown]
OverlapBounds = Literal["not_negative", "none"]
PlacementName = Literal["all_fast", "all_slow", "even", "best_together", "best_separately", "half_fast", "asked"]
MeanVerdict = Literal["faster", "slower", "too_small", "not_shown"]
DistributionOutcome = Union[RunDistribution, DistributionOutcomeUnknown]
RunModes = Union[RunModesTooFewRuns, RunModesNoMoreThanOneShown, RunModesShown]
SpreadVerdict = Literal["steadier", "less_steady", "not_shown"]
Experiment = Literal["pairs", "scaling", "sharing", "links", "roofs", "hybrid", "mixes", "latency", "exchange", "devices", "network", "workloads", "commands"]
FlowPlacement = Union[FlowPlacementOwnNodes, FlowPlacementAllNodes, FlowPlacementOtherPackages, FlowPlacementOneNode]
JudgedCases = Literal["fitted", "held_out", "left_out"]
FlowMachinePart = Union[FlowMachinePartPath, FlowMachinePartController, FlowMachinePartIssue, FlowMachinePartLink, FlowMachinePartInitiatorLink, FlowMachinePartChannels]
Access = Literal["regular", "irregular"]
Basis = Literal["roofs", "pairs"]
Binding = str
StrategyAdvice = Union[StrategyAdvicePlaceRegular, StrategyAdviceTakeFastest, StrategyAdviceInterleaveAbove, StrategyAdviceSpareBinding, StrategyAdviceSpareInterleaving]
StrategyVerdict = Literal["decided", "too_near", "open"]
Backend = Literal["cuda", "hip", "opencl"]
DeviceClassNote = Union[DeviceClassNoteSeveralSizes, DeviceClassNoteFewRounds, DeviceClassNoteDisturbed, DeviceClassNoteSlowLinks]
DevicesOutcome = Union[TheoreticalMaximum, DevicesOutcomeUnknown]
DevicesOutcome2 = Union[TransferLaw, DevicesOutcome2Unknown]
NetworkOutcome = Union[float, NetworkOutcomeUnknown]
NetworkOutcome2 = Union[Estimate3, NetworkOutcome2Unknown]
NetworkOutcome3 = Union[WithoutCopyGain, NetworkOutcome3Unknown]
ArrayAccess = Literal["regular", "irregular"]
AdvisingModel = Literal["flow", "hybrid", "pairs"]
CandidateKind = Literal["one_node", "first_touch", "local", "interleave", "weighted", "by_initiator"]
Launcher = Literal["numactl", "openmp", "slurm", "systemd", "docker", "kubernetes", "libvirt"]
AdviseMachinePart = Union[AdviseMachinePartPath, AdviseMachinePartController, AdviseMachinePartIssue, AdviseMachinePartLink, AdviseMachinePartInitiatorLink, AdviseMachinePartChannels]
Pattern = Literal["shared", "private", "regular", "irregular"]
Room = Union[RoomTooSmall, Literal["fits", "unknown"]]
TakenFigure = Literal["threads", "working_set_bytes", "load_share", "accesses"]
AdviseVerdict = Literal["faster", "slower", "same", "undecided"]
DeviceTraffic = Literal["copies", "messages"]
CaseStanding = Union[CaseStandingRefused, CaseStandingOmitted, Literal["measured", "no_sample", "few_rounds", "only_disturbed", "no_work", "not_planned", "other_actors", "other_machine"]]
ComparedCase = Union[ComparedCase0, ComparedCase1, ComparedCase2]
ComparedGroup = Literal["memory", "unbound", "cores", "access_times"]
ComparedRole = Union[ComparedRole0, ComparedRole1, ComparedRole2]
Place = Union[PlaceMemory, PlaceInitiator, PlaceCpuGroup, PlacePackageLink, PlacePackageToPackage, PlaceInitiatorToPackage, PlacePath, PlaceOwnPath]
RoleThreads = Literal["one", "all"]
CompareVerdict = Literal["worse", "better", "unclear", "same"]
AlphaKind = Literal["given", "absolute", "relative"]
PredictOutcome = Union[TheoreticalMaximum, PredictOutcomeUnknown]
PlaceKind = Union[PlaceKindCpuGroups, Literal["positions", "memory_nodes"]]
HybridStanding = Literal["above", "at_memories", "at_ridge", "at_ceiling", "below"]
IntensityKind = Literal["arithmetic", "operational"]
PlacementAdvice = Union[PlacementAdviceMeasureRoofs, PlacementAdviceSayWhatItReaches, PlacementAdviceOnlyCompute, PlacementAdviceReduceArithmetic, PlacementAdviceFindPages, PlacementAdviceReuseCache, PlacementAdviceLeavePages, PlacementAdviceInterleave, PlacementAdviceMovePages, PlacementAdviceKeepPagesApart, PlacementAdviceLeavePlacement, PlacementAdviceMeasureAgain, PlacementAdviceCountRequestedBytes, PlacementAdviceCheckCounters, PlacementAdviceLookElsewhere, PlacementAdviceLookBeyondBandwidth, PlacementAdviceDistrustRoof]
RoofSort = Literal["cache", "interleaved", "contended", "congested", "own", "far"]
Standing = Union[StandingAtCeiling, StandingAtRoofs, StandingAboveAll, StandingBetween, StandingBelowAll, StandingRefuted]
BoundBy = Literal["compute", "bandwidth", "latency"]
PredictProgramOutcome = Union[Estimate, PredictProgramOutcomeUnknown]
PredictFlowMachinePart = Union[PredictFlowMachinePartPath, PredictFlowMachinePartController, PredictFlowMachinePartIssue, PredictFlowMachinePartLink, PredictFlowMachinePartInitiatorLink, PredictFlowMachinePartChannels]
PredictCurveOutcome = Union[Estimate, PredictCurveOutcomeUnknown]
PredictHybridOutcome = Union[HeldOutErrors, PredictHybridOutcomeUnknown]
BandwidthOf = Literal["own_node", "all_own", "other_package", "cxl"]
Because = Literal["memory_limits", "memory_then_limits", "cores_limit", "link_limits", "cores_unknown", "transfer_of_a_line", "mean_of_nodes", "flow_law", "measured_in_turn", "same_channels", "nearest_part", "cxl_link_limits", "link_or_device", "untouched"]
LatencyOf = Literal["own", "other_package", "cxl"]
PredictWhatIfOutcome = Union[Then, PredictWhatIfOutcomeUnknown]
PredictWhatIfOutcome2 = Union[Then2, PredictWhatIfOutcome2Unknown]
Engine = Literal["flux", "pdsh", "slurm", "slurm-array", "mpirun", "kubernetes"]
FleetCompareMachinePart = Union[Literal["machine"], FleetCompareMachinePartMemory, FleetCompareMachinePartInitiator, FleetCompareMachinePartLink, FleetCompareMachinePartCell]
ProblemKind = Literal["failed", "unended", "ended_early", "partial", "unreadable_summary", "wrong_clock", "several_measurements", "other_hardware", "not_expected", "foreign_file"]
Unit = Literal["GB/s", "GFLOP/s", "ns", "us", "s", "1/s", "1"]
VerdictKind = Literal["good", "unknown", "again", "bad"]
ChangeShape = Literal["step", "slope"]
FleetDriftMachinePart = Union[Literal["machine"], FleetDriftMachinePartMemory, FleetDriftMachinePartInitiator, FleetDriftMachinePartLink, FleetDriftMachinePartCell]
CacheKind = Literal["data", "unified"]
DeviceKind = Literal["network", "storage", "accelerator", "other"]
Source = Union[Literal["live"], SourceXml, SourceSynthetic, SourceSimulated]
