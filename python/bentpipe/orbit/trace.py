"""The path between two stations as a trace that any link can follow."""

from bentpipe.orbit.station_path import StationPath


def trace_of(path: StationPath, command: str = "") -> str:
    """Give `time_s` and `delay_s` at each step, and `loss`, 1 without a path, if there is such a time.

    A delay is that of propagation one way. Without a path it stays as it was.
    """
    gaps = bool(path.gaps())
    lines = [f"# {command}"] if command else []
    lines.append("time_s,delay_s,loss" if gaps else "time_s,delay_s")
    last = next((float(stretch.delays_s[0]) for stretch in path.stretches if stretch.nodes), 0.0)
    for stretch in path.stretches:
        if not stretch.nodes:
            lines.append(f"{_number(stretch.start_s)},{_number(last)},1")
        for step, delay in enumerate(stretch.delays_s):
            last = float(delay)
            row = f"{_number(stretch.start_s + step * path.step_s)},{_number(last)}"
            lines.append(f"{row},0" if gaps else row)
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    return f"{value:.9f}".rstrip("0").rstrip(".")
