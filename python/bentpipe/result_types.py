"""The types of a run's result, which stand in the stub beside; a run is read from JSON, as dictionaries."""


def __getattr__(name: str) -> type[dict[str, object]]:
    if name.startswith("_"):
        raise AttributeError(name)
    return dict
