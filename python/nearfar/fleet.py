"""Many machines: what `nearfar characterize --run DIR` left of each in a folder. Nothing is written there, so that verdicts
stay those of the last `nearfar fleet compare`."""

from __future__ import annotations

from os import PathLike
from typing import Optional, Union

from . import results
from ._answer import answer
from ._nearfar import Frame, compare_fleet, fleet_cells, fleet_drift

Path = Union[str, "PathLike[str]"]

__all__ = ["cells", "compare", "drift"]


def compare(folder: Path, *, floor: Optional[float] = None, target: Optional[Path] = None) -> results.FleetComparison:
    """Who is missing or failed, and who falls short of its peers, or of a record that is the standard (docs/fleet.md).
    A loss below the fraction `floor` does not matter; without it that of `nearfar fleet compare`."""
    return answer(results.FleetComparison, compare_fleet(folder, floor, target))


def cells(folder: Path, *, floor: Optional[float] = None, target: Optional[Path] = None) -> Frame:
    """A row for each machine and cell: its figure in `unit`, and how much of its peers' median that is."""
    return fleet_cells(folder, floor, target)


def drift(*folders: Path) -> results.FleetDrift:
    """What changed from run to run, of each machine against its peers and of all of a kind; the runs in any order."""
    return answer(results.FleetDrift, fleet_drift(folders))
