# After the code of docs/csv-columns.md: `samples` and `rounds` are its frames, `declared` its
# table, `show` what `show --json` printed of the same record.
import json
import math
import unicodedata

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


SHOWN_BY_NUMBER = [0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)]


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
print("the medians of show:", compared)
