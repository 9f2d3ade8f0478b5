"""The tutorial's notebook, run from its first cell to its last."""

from __future__ import annotations

import base64
from pathlib import Path

import nbclient
import nbformat
import pytest

NOTEBOOK = Path(__file__).parents[1] / "tutorial.ipynb"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_tutorial_draws_a_matrix_a_roofline_and_a_family_of_curves() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    assert all(not cell.get("outputs") for cell in notebook.cells), "it is kept without outputs"
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    shown = [output["data"] for output in outputs if "data" in output]
    pictures = [base64.b64decode(data["image/png"]) for data in shown if "image/png" in data]
    assert [picture[:8] for picture in pictures] == [b"\x89PNG\r\n\x1a\n"] * 3
    # A drawing takes thousands of bytes, an empty one hundreds.
    assert all(len(picture) > 8000 for picture in pictures)
    texts = [data["text/html"] for data in shown if "text/html" in data]
    assert any("SIMULATED" in text for text in texts), "the record shows itself"
    assert not [output for output in outputs if output.output_type == "error"]
