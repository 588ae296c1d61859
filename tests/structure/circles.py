"""Circles of imports between the files of a crate, by the `use` lines and the paths of its Rust files."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

ROOT = Path(__file__).parents[2]

_COMMENT = re.compile(r"//[^\n]*")
_USE = re.compile(r"^\s*(?P<shown>pub(?:\([a-z]+\))?\s+)?use\s+(?P<tree>[^;]+);", re.MULTILINE)
_ITEM = re.compile(
    r"\b(?:fn|struct|enum|trait|type|const|static|union|macro_rules!)\s+(?:mut\s+)?([A-Za-z_][A-Za-z0-9_]*)"
)
_INLINE = re.compile(r"\b(?:crate|super)(?:::[A-Za-z_][A-Za-z0-9_]*)+")
_TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod\s+\w+\s*\{")


ELSEWHERE = ("",)
"""The path of what another crate has."""


@dataclass
class Module:
    """A file of Rust, as a module of its crate."""

    path: tuple[str, ...]
    file: Path
    name: str
    children: dict[str, "Module"] = field(default_factory=dict)
    items: set[str] = field(default_factory=set)
    shown: list[tuple[str, ...]] = field(default_factory=list)
    used: list[tuple[str, ...]] = field(default_factory=list)


def circles(source: Path) -> list[list[str]]:
    """Give the circles among the files of a crate, the longest first; `source` is its folder `src`."""
    root = _module(source, source / "lib.rs", ())
    arrows = set()
    for module in _all(root):
        for used in module.used:
            path = _absolute(module, used)
            target = _defines(root, path, set()) if path != ELSEWHERE else None
            if target is not None and target is not module:
                arrows.add((module.name, target.name))
    return strong(arrows)


def strong(arrows: set[tuple[str, str]]) -> list[list[str]]:
    """Give the sets of names that reach each other along arrows, the largest first."""
    names = sorted({name for arrow in arrows for name in arrow})
    number = {name: at for at, name in enumerate(names)}
    rows, columns = [number[a] for a, _ in arrows], [number[b] for _, b in arrows]
    graph = coo_array((np.ones(len(rows)), (rows, columns)), shape=(len(names), len(names)))
    _, part = connected_components(graph, connection="strong")
    parts = [[name for name, its in zip(names, part, strict=True) if its == one] for one in set(part)]
    return sorted((one for one in parts if len(one) > 1), key=len, reverse=True)


def _all(module: Module) -> Iterator[Module]:
    yield module
    for child in module.children.values():
        yield from _all(child)


def _module(source: Path, file: Path, path: tuple[str, ...]) -> Module:
    text = _COMMENT.sub("", file.read_text())
    inside = _TESTS.search(text)
    text = text[: inside.start()] if inside else text
    module = Module(path, file, str(file.relative_to(source)), items=set(_ITEM.findall(text)))
    for use in _USE.finditer(text):
        paths = list(_paths(use["tree"].replace("\n", " ")))
        (module.shown if use["shown"] else module.used).extend(paths)
    module.used += [tuple(found.split("::")) for found in _INLINE.findall(_USE.sub("", text))]
    folder = file.parent if file.name in ("lib.rs", "mod.rs") else file.with_suffix("")
    for child in sorted(folder.glob("*.rs")) + sorted(folder.glob("*/mod.rs")):
        name = child.parent.name if child.name == "mod.rs" else child.stem
        inside_folder = child.name != "mod.rs" or child.parent != folder
        if child != file and inside_folder and not name.startswith("test") and name != "lib":
            module.children[name] = _module(source, child, (*path, name))
    return module


def _paths(tree: str) -> Iterator[tuple[str, ...]]:
    """Give each path of a `use` with braces."""
    tree = tree.strip()
    head, brace, rest = tree.partition("{")
    if not brace:
        yield tuple(part.strip() for part in tree.split(" as ")[0].split("::"))
        return
    before = tuple(part.strip() for part in head.strip().removesuffix("::").split("::") if part.strip())
    depth, start = 0, 0
    inner = rest[: rest.rindex("}")]
    for at, letter in enumerate(inner + ","):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            if inner[start:at].strip():
                for path in _paths(inner[start:at]):
                    yield (*before, *path)
            start = at + 1


def _absolute(module: Module, path: tuple[str, ...]) -> tuple[str, ...]:
    """Give a path from the root of the crate; of another crate's it is ELSEWHERE."""
    base = module.path
    if path[0] not in ("crate", "self", "super", *module.children):
        return ELSEWHERE
    if path[0] == "crate":
        return path[1:]
    if path[0] == "self":
        return (*base, *path[1:])
    while path and path[0] == "super":
        base, path = base[:-1], path[1:]
    return (*base, *path)


def _defines(root: Module, path: tuple[str, ...], seen: set[tuple[str, ...]]) -> Module | None:
    """Give the module that has the item at a path, through what others show of it."""
    if path in seen:
        return None
    seen.add(path)
    module = root
    for at, part in enumerate(path):
        if part in module.children:
            module = module.children[part]
            continue
        if part in module.items or part in ("*", "self"):
            return module
        for shown in module.shown:
            whole = _absolute(module, shown)
            if whole == ELSEWHERE:
                continue
            if shown[-1] == part:
                return _defines(root, (*whole, *path[at + 1 :]), seen)
            if shown[-1] == "*":
                found = _defines(root, (*whole[:-1], *path[at:]), seen)
                if found is not None:
                    return found
        return None if at == 0 else module
    return module
