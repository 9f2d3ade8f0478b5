# Executes what docs/csv-columns.md tells readers of a CSV to, and holds the frame against the
# document's tables, the record and what `show --json` printed of it.
import csv
import json
import math
import os
import shutil
import sys
import tempfile
import unicodedata

source, record, show, docs = sys.argv[1:]
with open(docs, encoding="utf-8") as file:
    text = file.read()
rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| `")]
rows = [[cell.strip() for cell in row] for row in rows]
assert all(what for _, _, _, what, _ in rows)
declared = {name.strip("`"): dtype for name, dtype, *_ in rows}
may_be_empty = {name.strip("`") for name, *_, empty in rows if empty}
load, medians = [block.split("```")[0] for block in text.split("```python\n")[1:3]]

folder = tempfile.TemporaryDirectory()
shutil.copy(source, folder.name + "/samples.csv")
os.chdir(folder.name)
exec(load)
exec(medians)


def fits(cell, name):
    """Whether a cell is of its column's type. Strings are no formulas of spreadsheets."""
    if not cell:
        return name in may_be_empty
    match declared[name]:
        case "string":
            is_control = any(unicodedata.category(c) == "Cc" for c in cell)
            return not is_control and cell[0] not in "=+-@"
        case "UInt64":
            return cell.isascii() and cell.isdigit()
        case "Float64":
            return math.isfinite(float(cell))
        case "boolean":
            return cell in ["true", "false"]


with open("samples.csv", encoding="utf-8", newline="") as file:
    cells = list(csv.reader(file))
assert cells[0] == list(declared)
filled = set()
for row in cells[1:]:
    for name, cell in zip(declared, row, strict=True):
        assert fits(cell, name), (name, declared[name], cell)
        if cell:
            filled.add(name)
with open("samples.csv", encoding="utf-8", newline="") as file:
    assert len(file.read().splitlines()) == len(cells), "a cell goes over several lines"

types = {name: str(dtype) for name, dtype in samples.dtypes.items()}
assert types == declared, sorted(set(types.items()) ^ set(declared.items()))
assert len(samples) > 100 and (samples.schema == "nearfar.samples/2").all()

# Read without any of it, the frame has as many rows and columns.
plain = pandas.read_csv("samples.csv", low_memory=False)
assert plain.shape == samples.shape, (plain.shape, samples.shape)

# What the program says of pairs follows from the cells.
medians = rounds.groupby("case").median()
with open(show, encoding="utf-8") as file:
    view = json.load(file)


SHOWN_BY_NUMBER = [0xAD, 0x61C, 0x200B, 0xFEFF, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)]


def cell(text):
    """A text as a cell has it."""
    def letter(c):
        is_shown = unicodedata.category(c) == "Cc" or ord(c) in SHOWN_BY_NUMBER
        return f"\\u{{{ord(c):x}}}" if is_shown else c

    escaped = "".join(letter(c) for c in text)
    return "'" + escaped if escaped.lstrip()[:1] in list("=+-@'") else escaped


compared = 0
for pair in view["pairs"]:
    for figure in pair["figures"]:
        bandwidth = figure["bandwidth_gb_per_s"]
        if bandwidth["only_disturbed"]:
            continue
        ours, theirs = medians[cell(figure["case"])], bandwidth["sum"]["value"]
        assert math.isclose(ours, theirs, rel_tol=1e-12), (figure["case"], ours, theirs)
        compared += 1
assert compared > 100, compared

# The time of an access of idle chases, likewise.
calm = samples[(samples.actor_kind == "chase") & ~samples.disturbed]
times = calm.groupby(["case", "round"]).access_ns.median().groupby("case").median()
for chase in view["latency"]:
    if chase["latency"] and not chase["latency"]["only_disturbed"]:
        ours, theirs = times[cell(chase["case"])], chase["latency"]["time_ns"]["value"]
        assert math.isclose(ours, theirs, rel_tol=1e-9), (chase["case"], ours, theirs)
        compared += 1

# A window's bytes are there once.
once = samples[samples.coordinates_index == 0]
assert not once.duplicated(["sequence", "actor"]).any()
with open(record, encoding="utf-8") as file:
    lines = [json.loads(line) for line in file]
seen = [line["sample"] for line in lines if "sample" in line]
runs = [sample for sample in seen if sample["workload"] or sample["run"]]
assert len(once) == sum(len(sample["actors"]) for sample in seen) + len(runs)

# A workload's work is the record's.
workloads = {sample["sequence"]: sample["workload"] for sample in runs if sample["workload"]}
for row in once[once.actor_kind == "workload"].itertuples():
    run = workloads.pop(row.sequence)
    assert (row.work, row.work_unit) == (run["work"], run["unit"]) and pandas.isna(row.useful_bytes)
assert not workloads

# Texts are the record's.
header = lines[0]["header"]
assert set(samples.host) == {cell(header["host"])} and set(samples.executor) == {header["executor"]}
streams = [actor for line in lines if "case" in line for actor in line["case"]["actors"]]
kernels = {cell(actor["kernel"]) for actor in streams if "kernel" in actor}
assert set(samples[samples.actor_kind == "stream"].kernel) <= kernels, kernels
print("empty:", *declared.keys() - filled)
print("the medians of show:", compared)
