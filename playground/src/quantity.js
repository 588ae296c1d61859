// Quantities as scenarios write them: "10 Mbit/s", "250 ms", "64 KiB", "100 packets".

const UNITS = {
  rate: { "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9 },
  time: { us: 1e-6, ms: 1e-3, s: 1, min: 60 },
  size: { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 },
  packets: { packets: 1 },
  number: { "": 1 },
};

/** The value of `text` in the kind's own unit (bit/s, s, B); undefined where it is none of that kind. */
export function parse(kind, text) {
  if (typeof text === "number" || typeof text === "bigint") return kind === "number" ? Number(text) : undefined;
  if (typeof text !== "string") return undefined;
  const found = /^\s*([0-9.eE+-]+)\s*([A-Za-z/]*)\s*$/.exec(text);
  const unit = found && UNITS[kind][found[2]];
  return unit === undefined || found[1] === "" ? undefined : Number(found[1]) * unit;
}

const digits = (value) => {
  const rounded = Number(value.toPrecision(3));
  return rounded !== 0 && Math.abs(rounded) < 1e-3 ? rounded.toExponential() : String(rounded);
};

const WRITTEN = {
  rate: ["bit/s", "kbit/s", "Mbit/s", "Gbit/s"],
  time: ["us", "ms", "s"],
  size: ["B", "kB", "MB", "GB"],
  window: ["B", "KiB", "MiB", "GiB"],
};

/** `value` with three digits and the largest unit that leaves it at least 1. */
export function write(kind, value) {
  if (kind === "packets") return `${Math.round(value)} packets`;
  if (kind === "number") return digits(value);
  const units = UNITS[kind === "window" ? "size" : kind];
  const fitting = WRITTEN[kind].filter((unit) => units[unit] <= value * (1 + 1e-9));
  const unit = fitting.at(-1) ?? WRITTEN[kind][0];
  return `${digits(value / units[unit])} ${unit}`;
}

/** A measured value for people. */
export function shown(unit, value) {
  if (value === null || value === undefined) return "–";
  if (unit === "s" && (value >= 1 || value === 0)) return `${digits(value)} s`;
  if (unit === "share") return `${digits(value * 100)} %`;
  if (unit === "count") return value.toLocaleString("en");
  return write({ "bit/s": "rate", s: "time", B: "size" }[unit], value);
}
