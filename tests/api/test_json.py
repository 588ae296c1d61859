"""The JSON that this project writes is Python's own, line for line."""

import json

import pytest

from bentpipe.results import dump

VALUES: list[object] = [
    None,
    [],
    {},
    "",
    1.5,
    1e-7,
    [[], {}, [[]]],
    {"a": {}, "b": [], "": {"": [None, True, False]}},
    {'a "quoted" key, [and] {more}: \\': 'x\\", {"a": [1, 2]}\\\\', "{": "}", "[": "]", "end": "\\"},
    [{"name": "Übertragung – 卫", "at": [1, -2.25, 3e300], "none": None}, "[]", "{}", ["\n\t", "\\\\\\"]],
]


@pytest.mark.parametrize("escaped", [False, True])
@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_its_lines_are_those_of_python(value: object, escaped: bool) -> None:
    assert dump(value, escaped=escaped) == json.dumps(value, indent=2, ensure_ascii=escaped) + "\n"


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        dump([float("nan")])
