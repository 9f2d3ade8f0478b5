"""Bytes of a GGUF file's weights, and how many of them a token reads.

    python3 active_weights.py MODEL.gguf..

Of a model in several files name all. Of a mixture of experts a token reads expert_used_count of
expert_count; of an embedding that is no output as well, a row. Needs nothing but Python 3.
"""

import struct
import sys

SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
STRING, ARRAY = 8, 9


def read(file, form):
    return struct.unpack(form, file.read(struct.calcsize(form)))[0]


def text(file):
    return file.read(read(file, "<Q")).decode("utf-8", "replace")


def value(file, kind):
    if kind == STRING:
        return text(file)
    if kind == ARRAY:
        of, count = read(file, "<I"), read(file, "<Q")
        return [value(file, of) for _ in range(count)]
    return read(file, SCALARS[kind])


def header(path):
    """Metadata, and (name, bytes) of each tensor: from its offset to the next one, padding included."""
    with open(path, "rb") as file:
        if file.read(4) != b"GGUF" or read(file, "<I") not in (2, 3):
            sys.exit(f"{path}: not a GGUF file of version 2 or 3")
        tensors, count = read(file, "<Q"), read(file, "<Q")
        known = {text(file): value(file, read(file, "<I")) for _ in range(count)}
        starts = []
        for _ in range(tensors):
            name, dimensions = text(file), read(file, "<I")
            file.seek(8 * dimensions + 4, 1)
            starts.append((read(file, "<Q"), name))
        align = known.get("general.alignment", 32)
        data = -(-file.tell() // align) * align
        end = file.seek(0, 2) - data
    starts.sort()
    ends = [start for start, _ in starts[1:]] + [end]
    return known, [(name, stop - start) for (start, name), stop in zip(starts, ends)]


def main(paths):
    known, tensors = {}, []
    for path in paths:
        own, of_file = header(path)
        known = {**own, **known}
        tensors += of_file
    kind = known.get("general.architecture", "")
    experts = known.get(f"{kind}.expert_count", 0)
    share = known.get(f"{kind}.expert_used_count", 0) / experts if experts else 1
    has_output = any(name == "output.weight" for name, _ in tensors)
    active = 0
    for name, size in tensors:
        if "_exps." in name:
            active += size * share
        elif name != "token_embd.weight" or not has_output:
            active += size
    print(f"all weights: {sum(size for _, size in tensors)}")
    print(f"a token reads: {round(active)}")


main(sys.argv[1:])
