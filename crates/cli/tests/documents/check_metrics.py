# Reads a file of metrics as OpenMetrics and as the older text format 0.0.4, and holds it against
# docs/metrics.md and, where that is given, against what `show --json` printed of the same record.
import json
import math
import sys
import unicodedata

from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as older_text

path, docs, *shown_by = sys.argv[1:]
# With line ends as they are: the parser must see a carriage return.
with open(path, encoding="utf-8", newline="") as file:
    text = file.read()

# Unit and labels of each family of docs/metrics.md; a label in brackets may be missing.
declared = {}
with open(docs, encoding="utf-8") as file:
    for line in file:
        if line.startswith("| `nearfar_"):
            name, unit, labels, _ = [cell.strip() for cell in line.split("|")[1:-1]]
            declared[name.strip("`")] = unit, labels.replace("`", "").split()


def series(families):
    """Values by family and labels; each once."""
    values = {}
    for family in families:
        for sample in family.samples:
            key = (sample.name, frozenset(sample.labels.items()))
            assert key not in values, key
            assert sample.timestamp is None and math.isfinite(sample.value), sample
            values[key] = sample.value
    return values


strict, older = series(openmetrics(text)), series(older_text(text))
assert strict == older and len(strict) > 100, (len(strict), len(older))
for family in openmetrics(text):
    unit, labels = declared[family.name]
    assert (family.type, family.unit) == ("gauge", unit), family.name
    told = family.documentation
    assert told.endswith(".") and not set(told) & set('\\\n"'), told
    assert family.samples, family.name
    always = {label for label in labels if not label.startswith("[")} | {"host", "executor"}
    known = always | {label.strip("[]") for label in labels}
    for sample in family.samples:
        assert always <= set(sample.labels) <= known, sample
    print("family", family.name)

if not shown_by:
    sys.exit()
with open(shown_by[0], encoding="utf-8") as file:
    view = json.load(file)

SHOWN_BY_NUMBER = [0xAD, 0x61C, 0x200B, 0xFEFF, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)]


def shown(text):
    """A text as a label has it."""
    def letter(c):
        is_control = unicodedata.category(c) == "Cc" and c != "\n"
        return f"\\u{{{ord(c):x}}}" if is_control or ord(c) in SHOWN_BY_NUMBER else c

    return "".join(letter(c) for c in text)


def find(name, **labels):
    """The value of the sample with these labels, and those that all samples have."""
    labels |= {"host": shown(view["host"]), "executor": view["executor"]}
    return strict[name, frozenset(labels.items())]


for _, labels in strict:
    labels = dict(labels)
    assert labels["host"] == shown(view["host"]) and labels["executor"] == view["executor"], labels

compared = 0


def agree(ours, theirs):
    global compared
    assert math.isclose(ours, theirs, rel_tol=1e-12), (ours, theirs)
    compared += 1


for cell in view["pairs"]:
    for figure in cell["figures"]:
        labels = {
            "experiment": "pairs",
            "group_by": cell["group_by"],
            "index": str(cell["index"]),
            "initiator": str(cell["initiator"]),
            "memory_node": str(cell["memory_node"]),
            "kernel": shown(cell["kernel"]),
            "variant": shown(figure["variant"]),
            "threads": str(cell["threads"]),
        }
        for aggregate in ["sum", "paced"]:
            median = figure["bandwidth_gb_per_s"][aggregate]
            low, high = median["interval"]
            for statistic, value in [("median", median["value"]), ("low", low), ("high", high)]:
                name = "nearfar_bandwidth_bytes_per_second"
                agree(find(name, aggregate=aggregate, statistic=statistic, **labels), value * 1e9)
        agree(find("nearfar_bandwidth_confidence_ratio", **labels), figure["bandwidth_gb_per_s"]["sum"]["confidence"])

for chase in view["latency"]:
    if chase["in_matrix"] and chase["latency"]:
        labels = {"experiment": "latency", "initiator": str(chase["initiator"]), "memory_node": str(chase["memory_node"])}
        ours = find("nearfar_latency_seconds", statistic="median", **labels)
        agree(ours * 1e9, chase["latency"]["time_ns"]["value"])

roofs = [roof for roof in view["roofs"] if roof["purpose"] == "roof"]
for roof in roofs:
    labels = {name: str(roof[name]) for name in ["initiator", "threads"]}
    labels |= {name: shown(roof[name]) for name in ["kernel", "variant"]}
    labels["experiment"] = "roofs"
    for name, value in roof["roof"].items():
        labels[f"roof_{name}"] = str(value)
    if roof["bandwidth_gb_per_s"]:
        ours = find("nearfar_roof_bytes_per_second", statistic="median", **labels)
        agree(ours, roof["bandwidth_gb_per_s"]["sum"]["value"] * 1e9)
    elif roof["gflop_per_s"]:
        ours = find("nearfar_roof_flops_per_second", statistic="median", **labels)
        agree(ours, roof["gflop_per_s"]["sum"]["value"] * 1e9)

# Of each place the largest copies, and the smallest where there are several sizes.
places = {}
for copies in view["devices"]:
    if copies["bandwidth_gb_per_s"] and not copies["beside"]:
        labels = {name: str(copies[name]) for name in ["initiator", "direction"]}
        labels |= {"experiment": "devices", "device": shown(copies["device"])}
        for name in ["memory_node", "host_memory", "peer"]:
            if copies[name] is not None:
                labels[name] = shown(str(copies[name]))
        places.setdefault(frozenset(labels.items()), []).append(copies)
for labels, of_place in places.items():
    of_place.sort(key=lambda copies: copies["bytes"])
    smallest, largest = of_place[0], of_place[-1]
    labels = dict(labels, bytes=str(largest["bytes"]))
    median = largest["bandwidth_gb_per_s"]["sum"]
    low, high = median["interval"]
    for statistic, value in [("median", median["value"]), ("low", low), ("high", high)]:
        agree(find("nearfar_transfer_bytes_per_second", statistic=statistic, **labels), value * 1e9)
    agree(find("nearfar_transfer_confidence_ratio", **labels), median["confidence"])
    labels["bytes"] = str(smallest["bytes"])
    if smallest is not largest:
        ours = find("nearfar_small_transfer_seconds", statistic="median", **labels)
        agree(ours * 1e9, smallest["copy_ns"])
        ends = [find("nearfar_small_transfer_seconds", statistic=end, **labels) for end in ["low", "high"]]
        assert ends[0] <= ours <= ends[1], (ends, ours)

agree(find("nearfar_samples"), view["samples"])
agree(find("nearfar_disturbed_samples"), view["disturbed"])
assert compared > 200, compared
print("the figures of show:", compared)
