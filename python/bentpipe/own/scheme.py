"""Schemes of one's own: classes whose methods the simulator calls."""

import copy
import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import count
from typing import Any, ClassVar, TypeAlias

from bentpipe import _core
from bentpipe.errors import InputError


class Scheme:
    """What every class of one's own has: a name for scenarios, and a line for people.

    Parameters of ``__init__`` are options.
    """

    name: ClassVar[str] = ""
    """How scenarios and results call it: small letters, digits, ``-`` and ``_``."""
    summary: ClassVar[str] = ""
    """One line for people."""
    _kind: ClassVar[str] = ""
    """How the simulator calls its kind."""
    _key: ClassVar[str] = ""
    """The key of the table that chooses it; none where it stands by its name alone."""
    _needs: ClassVar[tuple[str, ...]] = ()
    """The hooks without which it is none."""
    _switches: ClassVar[tuple[str, ...]] = ()
    """What it may set to true."""
    _base: ClassVar[type["Scheme"]]
    """The class of its kind."""

    def __init_subclass__(cls, **given: Any) -> None:
        """Refuse hooks that nobody would call."""
        super().__init_subclass__(**given)
        if Scheme in cls.__bases__:
            cls._base = cls
            return
        hooks = _hooks(cls._base)
        for name in vars(cls):
            if name.startswith("on_") and name not in hooks:
                raise TypeError(f"{cls.__name__}.{name}: expected one of the hooks {', '.join(hooks)}")


Own: TypeAlias = Iterable[type[Scheme] | Scheme]
"""Classes, or objects, of which each user gets a copy."""

_KINDS = "bentpipe.Control, LossModel, Queue or Application"


def _hooks(base: type[Scheme]) -> tuple[str, ...]:
    return tuple(name for name, value in vars(base).items() if callable(value) and not name.startswith("_"))


def is_scheme(value: object) -> bool:
    """Say whether it is a scheme: an object or its class."""
    return isinstance(value, Scheme) or (isinstance(value, type) and issubclass(value, Scheme))


def registered(own: Any) -> list[_core.OwnScheme]:
    """Give what the simulator needs of schemes that a scenario will name."""
    if isinstance(own, str | bytes) or not isinstance(own, Iterable):
        raise InputError(f"own: expected several classes of {_KINDS}, found {own!r}")
    return [_own(scheme, scheme.name if is_scheme(scheme) else "") for scheme in own]


def _own(scheme: Any, name: str) -> _core.OwnScheme:
    kind: type[Scheme] = scheme if isinstance(scheme, type) else type(scheme)
    if not is_scheme(scheme) or kind is Scheme:
        raise InputError(f"own: expected classes or objects of {_KINDS}, found {scheme!r}")
    if not isinstance(name, str) or not name:
        raise InputError(f'own: {kind.__name__}: expected a name, as in name = "mine", found none')
    base = kind._base
    own = [hook for hook in _hooks(base) if getattr(kind, hook) is not getattr(base, hook)]
    for hook in base._needs:
        if hook not in own:
            raise InputError(f"own: {kind.__name__}: expected a method {hook}, found none")
    own += [switch for switch in base._switches if getattr(kind, switch)]
    make, options = _maker(scheme)
    return _core.OwnScheme(base._kind, name, str(kind.summary), make, options, own)


def _maker(scheme: Any) -> tuple[Callable[..., object], list[str]]:
    if isinstance(scheme, type):
        return scheme, list(inspect.signature(scheme).parameters)
    return partial(copy.deepcopy, scheme), []


def class_and_object(scheme: _core.OwnScheme) -> tuple[type[Scheme], Scheme | None]:
    """Give the class of a scheme that was registered, and the object, if it was one."""
    given = _given(scheme)
    return (given, None) if isinstance(given, type) else (type(given), given)


def _given(scheme: _core.OwnScheme) -> Any:
    return scheme.make.args[0] if isinstance(scheme.make, partial) else scheme.make


def machinery(kind: type[Scheme]) -> tuple[type, ...]:
    """Give the classes that every class of its kind comes from."""
    return kind._base.__mro__


class NamedSchemes:
    """Puts names in the place of schemes in settings, and knows the schemes by their names."""

    def __init__(self, known: Iterable[_core.OwnScheme] = ()) -> None:
        self.known = list(known)

    def names(self, settings: Any) -> Any:
        """Give the settings with names; two of one name become ``mine`` and ``mine-2``."""
        if is_scheme(settings):
            name = self._name(settings)
            return {settings._key: name} if settings._key else name
        if isinstance(settings, Mapping):
            return {key: self.names(value) for key, value in settings.items()}
        if isinstance(settings, list | tuple):
            return [self.names(value) for value in settings]
        return settings

    def _name(self, scheme: Any) -> str:
        for number in count(1):
            name = scheme.name if number == 1 else f"{scheme.name}-{number}"
            of_name = [own for own in self.known if (own.kind, own.name) == (scheme._kind, name)]
            if not of_name:
                self.known.append(_own(scheme, name))
            if not of_name or _given(of_name[0]) is scheme:
                return name
        raise AssertionError
