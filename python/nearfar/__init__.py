"""Records of nearfar: figures as frames, models, advice and rankings. README.md has examples."""

from __future__ import annotations

from . import fleet, results
from ._nearfar import (
    Error,
    Frame,
    Place,
    RankedNode,
    RankedNodes,
    RankedPlace,
    RankedPlaces,
    Ranking,
    __version__,
)
from .record import Record, open, rank, simulate

__all__ = [
    "Error",
    "Frame",
    "Place",
    "RankedNode",
    "RankedNodes",
    "RankedPlace",
    "RankedPlaces",
    "Ranking",
    "Record",
    "__version__",
    "fleet",
    "open",
    "rank",
    "results",
    "simulate",
]
