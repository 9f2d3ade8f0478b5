"""Answers: what the program prints with --json as typed objects, and what people read."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from html import escape
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")


class Answer:
    """What the program answers: `print` shows what it says to people, `json` what it prints with `--json`, of advice with `--full`."""

    _json = ""
    _text = ""

    @property
    def json(self) -> str:
        return self._json

    def __str__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return preformatted(self._text)


def preformatted(text: str) -> str:
    return f"<pre>{escape(text)}</pre>"


A = TypeVar("A", bound=Answer)


def answer(kind: type[A], told: tuple[str, str]) -> A:
    """The typed form of JSON and its text."""
    of_json, text = told
    made = typed(kind, json.loads(of_json))
    object.__setattr__(made, "_json", of_json)
    object.__setattr__(made, "_text", text)
    return made


def typed(kind: type[T], value: Any) -> T:
    """A value of JSON as a type of `results`."""
    return cast(T, reader(cast(Hashable, kind))(value))


class NotOfThisKind(TypeError):
    """The program printed what its schema does not know."""


Read = Callable[[Any], Any]


@cache
def reader(kind: Any) -> Read:
    """What makes values of JSON into that type."""
    origin, arguments = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        return object_reader(cast(type, kind))
    if origin is Union:
        return either(kind, arguments)
    if origin is list:
        # Looked up when it is used: types may hold themselves.
        return checked(kind, list, lambda value: [reader(arguments[0])(one) for one in value])
    if origin is tuple:
        return checked(kind, list, lambda value: tuple(reader(of)(one) for of, one in zip(arguments, value)))
    if origin is dict:
        of = arguments[1]
        return checked(kind, dict, lambda value: {key: reader(of)(one) for key, one in value.items()})
    if origin is Literal:
        return word_reader(kind, arguments)
    if kind is float:
        return checked(kind, (int, float), float)
    if kind is Any:
        return lambda value: value
    return checked(kind, kind, lambda value: value)


def checked(kind: Any, known: Any, read: Read) -> Read:
    def made(value: Any) -> Any:
        # True and false are numbers to Python.
        if not isinstance(value, known) or (isinstance(value, bool) and kind is not bool):
            raise NotOfThisKind(f"{value!r} is no {kind}")
        return read(value)

    return made


def word_reader(kind: Any, words: tuple[Any, ...]) -> Read:
    def made(value: Any) -> Any:
        if value not in words:
            raise NotOfThisKind(f"{value!r} is no {kind}")
        return value

    return made


def object_reader(kind: type) -> Read:
    hints = get_type_hints(kind)
    keys = {field.name: field.name.rstrip("_") for field in fields(kind)}
    required = {keys[field.name] for field in fields(kind) if field.default is MISSING}
    known = set(keys.values())

    def made(value: Any) -> Any:
        if not isinstance(value, Mapping) or not required <= value.keys() <= known:
            raise NotOfThisKind(f"{value!r} is no {kind.__name__}")
        there = {name: key for name, key in keys.items() if key in value}
        return kind(**{name: reader(hints[name])(value[key]) for name, key in there.items()})

    return made


def either(kind: Any, arguments: tuple[Any, ...]) -> Read:
    def made(value: Any) -> Any:
        if value is None and type(None) in arguments:
            return None
        for one in arguments:
            try:
                return reader(one)(value)
            except NotOfThisKind:
                continue
        raise NotOfThisKind(f"{value!r} is no {kind}")

    return made
