"""Shares as people write them."""


def share(text: str) -> float:
    """Read a share of one: ``0.01`` or ``1%``.

    Raises
    ------
    ValueError
        It is none, or not between 0 and 1.
    """
    value = float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)
    if not 0.0 <= value <= 1.0:
        raise ValueError(text)
    return value
