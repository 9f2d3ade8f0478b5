"""Writes nearfar/results.py: the types of what the module answers, from docs/schema.

Usage: write_results.py [--check]
"""

from __future__ import annotations

import json
import keyword
import re
import sys
from pathlib import Path
from typing import Any, Optional

HERE = Path(__file__).parent
SCHEMA = HERE / "../docs/schema"
RESULTS = HERE / "nearfar/results.py"

Node = dict[str, Any]

#: Formats of answers and the names of their types.
FORMATS = {
    "classes-2": "ClassesModel",
    "latency-2": "LatencyModel",
    "exchange-1": "ExchangeModel",
    "sharing-2": "SharingModel",
    "roofline-2": "RooflineModel",
    "hybrid-2": "HybridModel",
    "distribution-2": "DistributionModel",
    "flow-2": "FlowModel",
    "strategy-2": "StrategyModel",
    "devices-2": "DevicesModel",
    "network-1": "NetworkModel",
    "placed-workloads-1": "WorkloadsModel",
    "advise-3": "AdvisedPlacement",
    "advise-device-3": "AdvisedDevice",
    "compare-2": "Comparison",
    "predict-2": "PredictedProcesses",
    "predict-roofline-2": "PlacedPrograms",
    "predict-program-1": "PredictedProgram",
    "predict-flow-2": "PredictedStreams",
    "predict-curve-1": "PredictedAccesses",
    "predict-hybrid-2": "PredictedPlacements",
    "predict-what-if-1": "ChangedMachine",
    "fleet-compare-1": "FleetComparison",
    "fleet-drift-1": "FleetDrift",
}

HEAD = '''"""Types of what the module answers: written by python/write_results.py from docs/schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional, Union

from ._answer import Answer
'''


def camel(words: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", words))


def expanded(node: Any, defs: Node, within: tuple[str, ...] = ()) -> Any:
    """A schema without references, so that equal ones are equal."""
    if isinstance(node, list):
        return [expanded(one, defs, within) for one in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        return name if name in within else expanded(defs[name], defs, (*within, name))
    return {key: expanded(value, defs, within) for key, value in node.items() if key != "$defs"}


class Writer:
    def __init__(self) -> None:
        self.classes: dict[str, str] = {}
        self.aliases: dict[str, str] = {}
        self.defs: Node = {}
        #: Names of a format's own definitions.
        self.names: dict[str, str] = {}

    def add_format(self, root: Node, name: str, names: dict[str, str]) -> None:
        self.defs, self.names = root.get("$defs", {}), names
        for of_def, own in names.items():
            if own not in self.classes and own not in self.aliases:
                self.define(self.defs[of_def], own)
        if name:
            assert name not in self.classes and name not in self.aliases, name
            # What an answer has instead of another is None in it.
            variants = [variant["properties"] for variant in root.get("oneOf", [])]
            fields = {key: one for each in [root["properties"], *variants] for key, one in each.items()}
            self.add_class({**root, "properties": fields}, name, base="(Answer)")

    def define(self, node: Node, name: str) -> None:
        if is_closed(node):
            self.add_class(node, name)
        else:
            self.aliases[name] = ""  # Known before what it holds, which may hold it.
            self.aliases[name] = self.kind(node, name)

    def add_class(self, node: Node, name: str, base: str = "") -> None:
        assert name not in self.classes and name not in self.aliases, name
        self.classes[name] = ""
        required = node.get("required", [])
        fields: list[tuple[bool, str]] = []
        for key, of_field in node["properties"].items():
            assert re.fullmatch(r"[A-Za-z]\w*[A-Za-z0-9]", key) or len(key) == 1, key
            kind = self.kind(of_field, name + camel(key))
            field = key + "_" if keyword.iskeyword(key) else key
            if key in required:
                line = f"    {field}: {kind}\n"
            else:
                kind = kind if kind.startswith("Optional[") else f"Optional[{kind}]"
                line = f"    {field}: {kind} = None\n"
            fields.append((key not in required, line + doc(of_field.get("description"), "    ")))
        fields.sort(key=lambda field: field[0])
        text = f"@dataclass(frozen=True)\nclass {name}{base}:\n"
        text += doc(node.get("description"), "    ")
        text += "\n" * bool(node.get("description")) + "".join(line for _, line in fields)
        self.classes[name] = text

    def kind(self, node: Node, name: str) -> str:
        """The type of a schema; what it holds without a name of its own is named after where it stands."""
        if "$ref" in node:
            return self.names[node["$ref"].rpartition("/")[2]]
        if "const" in node:
            return f"Literal[{node['const']!r}]".replace("'", '"')
        if "enum" in node:
            return ("Literal[" + ", ".join(map(repr, node["enum"])) + "]").replace("'", '"')
        for either in ("oneOf", "anyOf"):
            if either in node:
                return self.union(node, either, name)
        of_type = node.get("type")
        if isinstance(of_type, list):
            rest = [one for one in of_type if one != "null"]
            kinds = [self.kind({**node, "type": one}, name) for one in rest]
            kind = kinds[0] if len(kinds) == 1 else f"Union[{', '.join(kinds)}]"
            return f"Optional[{kind}]" if "null" in of_type else kind
        if of_type == "array":
            if "prefixItems" in node:
                kinds = [self.kind(one, f"{name}{at}") for at, one in enumerate(node["prefixItems"])]
                return f"tuple[{', '.join(kinds)}]"
            kind = self.kind(node["items"], name)
            if "minItems" in node and node["minItems"] == node.get("maxItems"):
                return f"tuple[{', '.join([kind] * node['minItems'])}]"
            return f"list[{kind}]"
        if of_type == "object":
            if "properties" in node:
                self.add_class(node, name)
                return name
            within = [*node.get("patternProperties", {}).values(), node.get("additionalProperties")]
            return f"dict[str, {self.kind(within[0], name) if within[0] else 'Any'}]"
        return {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}.get(str(of_type), "Any")

    def union(self, node: Node, either: str, name: str) -> str:
        shared = node.get("properties", {})
        kinds: list[str] = []
        for at, variant in enumerate(node[either]):
            if variant.get("type") == "null":
                continue
            own = name + (tag(variant) or str(at))
            if shared:
                # A variant has the fields beside it as well.
                variant = {
                    **variant,
                    "properties": {**shared, **variant.get("properties", {})},
                    "required": node.get("required", []) + variant.get("required", []),
                }
            kind = self.kind(variant, own)
            if kind not in kinds:
                kinds.append(kind)
        words = [kind[len("Literal[") : -1] for kind in kinds if kind.startswith("Literal[")]
        if len(words) > 1:
            kinds = [kind for kind in kinds if not kind.startswith("Literal[")]
            kinds.append(f"Literal[{', '.join(words)}]")
        one = kinds[0] if len(kinds) == 1 else f"Union[{', '.join(kinds)}]"
        is_optional = any(variant.get("type") == "null" for variant in node[either])
        return f"Optional[{one}]" if is_optional else one

    def text(self) -> str:
        """Classes, then what stands for several, each behind what it names."""
        ordered: list[str] = []

        def put(name: str) -> None:
            if name not in ordered:
                for used in re.findall(r"\w+", self.aliases[name]):
                    if used in self.aliases and used != name:
                        put(used)
                ordered.append(name)

        for name in self.aliases:
            put(name)
        classes = "".join(f"\n\n{text}" for text in self.classes.values())
        return HEAD + classes + "\n\n" + "".join(f"{it} = {self.aliases[it]}\n" for it in ordered)


def is_closed(node: Node) -> bool:
    """Whether it is an object of one kind."""
    return "properties" in node and "oneOf" not in node and "anyOf" not in node


def tag(variant: Node) -> str:
    """What tells a variant: its tag, or its one field."""
    fields = variant.get("properties", {})
    for value in fields.values():
        if isinstance(value.get("const"), str):
            return camel(value["const"])
    return camel(next(iter(fields))) if len(fields) == 1 else ""


def doc(description: Optional[str], indent: str) -> str:
    if not description:
        return ""
    text = description.replace("\\", "\\\\").replace('"""', "'''")
    text = text[:-1] + '\\"' if text.endswith('"') else text
    return f'{indent}"""{text}"""\n'


def written() -> str:
    formats = {name: json.loads((SCHEMA / f"nearfar.{name}.json").read_text()) for name in FORMATS}
    # A machine is a part of a record.
    record = json.loads((SCHEMA / "nearfar.record-2.json").read_text())
    defs = record["$defs"]
    wanted: set[str] = set()

    def want(node: Any) -> None:
        for one in node if isinstance(node, list) else []:
            want(one)
        for key, value in node.items() if isinstance(node, dict) else []:
            if key == "$ref" and value.rpartition("/")[2] not in wanted:
                wanted.add(value.rpartition("/")[2])
                want(defs[value.rpartition("/")[2]])
            want(value)

    want({"$ref": "#/$defs/Machine"})
    formats["record-2"] = {"$defs": {name: defs[name] for name in sorted(wanted)}}
    contents: dict[str, set[str]] = {}
    for root in formats.values():
        for name, node in root.get("$defs", {}).items():
            text = json.dumps(expanded(node, root["$defs"]), sort_keys=True)
            contents.setdefault(name, set()).add(text)
    writer = Writer()
    for of_format, root in formats.items():
        # A name of several contents gets that of its format before it.
        prefix = camel(of_format.rpartition("-")[0])
        names = {name: name if len(contents[name]) == 1 else prefix + name for name in root.get("$defs", {})}
        writer.add_format(root, FORMATS.get(of_format, ""), names)
    return writer.text()


if __name__ == "__main__":
    if "--check" in sys.argv:
        if RESULTS.read_text() != written():
            sys.exit(f"{RESULTS} is stale: `make docs` writes it anew")
    else:
        RESULTS.write_text(written())
