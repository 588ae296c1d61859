"""What a scheme of one's own does, as a text: a sweep goes on only with the same one."""

import dis
import inspect
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from types import CodeType, FunctionType, ModuleType
from typing import Any

from bentpipe._core import OwnScheme
from bentpipe.errors import InputError
from bentpipe.own.scheme import class_and_object, machinery

_PLAIN = (bool, int, float, str, bytes, type(None))


def sources(own: Iterable[OwnScheme]) -> dict[str, str]:
    """Give, by name, the source of each scheme: its methods, and what else of its module they use.

    Raises InputError: a scheme is made of something that has no source, or holds what is neither numbers nor
    texts.
    """
    return {scheme.name: "\n".join(_Source(scheme.name).of(scheme)) for scheme in own}


def modules(own: Iterable[OwnScheme]) -> set[str]:
    """Give the modules that the classes of schemes are in, this package's left out."""
    kinds = [class_and_object(scheme)[0] for scheme in own]
    return {one.__module__ for kind in kinds for one in kind.__mro__ if one not in machinery(kind)}


class _Source:
    def __init__(self, name: str) -> None:
        self._name = name
        self._told: set[int] = set()

    def of(self, scheme: OwnScheme) -> Iterator[str]:
        kind, given = class_and_object(scheme)
        for one in kind.__mro__:
            if one not in machinery(kind):
                yield from self._class(one)
        if given is not None:
            yield from self._values(f"{kind.__name__}()", vars(given))

    def _class(self, kind: type) -> Iterator[str]:
        yield f"class {kind.__qualname__}({', '.join(base.__qualname__ for base in kind.__bases__)}):"
        members = {name: value for name, value in vars(kind).items() if not _is_machinery(kind, name, value)}
        for value in members.values():
            yield from self._functions(value)
        plain = {name: value for name, value in members.items() if not _functions(value)}
        yield from self._values(kind.__name__, plain)

    def _functions(self, value: Any) -> Iterator[str]:
        for function in _functions(value):
            if id(function) in self._told:
                continue
            self._told.add(id(function))
            try:
                yield textwrap.dedent(inspect.getsource(function)).rstrip()
            except (OSError, TypeError) as error:
                raise InputError(
                    f"scenario: {self._name}: expected a class whose source can be read, in a file or a "
                    f"notebook, found no source of {function.__qualname__}"
                ) from error
            yield from self._used(function)

    def _used(self, function: FunctionType) -> Iterator[str]:
        """Give what a function uses of the names around it; libraries are not followed."""
        found = dict(inspect.getclosurevars(function).nonlocals)
        known = function.__globals__
        found |= {name: known[name] for name in _names(function.__code__) if name in known}
        for name, value in sorted(found.items()):
            if isinstance(value, ModuleType) or name == "__class__":
                continue
            if not callable(value):
                yield f"{name} = {self._written(name, value)}"
            elif getattr(value, "__module__", None) != function.__module__:
                yield f"{name} = {getattr(value, '__module__', '')}.{getattr(value, '__qualname__', name)}"
            elif not isinstance(value, type):
                yield from self._functions(value)
            elif id(value) not in self._told:
                self._told.add(id(value))
                yield from self._class(value)

    def _values(self, of: str, values: Mapping[str, Any]) -> Iterator[str]:
        for name, value in sorted(values.items()):
            yield f"{of}.{name} = {self._written(f'{of}.{name}', value)}"

    def _written(self, name: str, value: Any) -> str:
        if isinstance(value, _PLAIN):
            return repr(value)
        if isinstance(value, list | tuple):
            return f"[{', '.join(self._written(name, part) for part in value)}]"
        if isinstance(value, dict):
            parts = (f"{self._written(name, k)}: {self._written(name, v)}" for k, v in value.items())
            return f"{{{', '.join(parts)}}}"
        raise InputError(
            f"scenario: {self._name}: expected numbers and texts, as a sweep writes down what it is, "
            f"found {name} of {type(value).__name__}"
        )


def _functions(value: Any) -> list[FunctionType]:
    """Give the functions that a member of a class, or a name of a module, stands for."""
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    if isinstance(value, property):
        return [part for part in (value.fget, value.fset) if isinstance(part, FunctionType)]
    return [value] if isinstance(value, FunctionType) else []


def _names(code: CodeType) -> set[str]:
    """Give the names of its module that a function uses, those inside it too."""
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    found = {step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"}
    return found.union(*map(_names, inner))


def _is_machinery(kind: type, name: str, value: Any) -> bool:
    """Say whether Python has put it there, be it later, as ``copy`` does."""
    if is_dataclass(kind) and name in {"__init__", "__repr__", "__eq__", "__hash__", "__replace__"}:
        return True
    return name.startswith("__") and not _functions(value)
