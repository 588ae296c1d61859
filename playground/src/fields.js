// The sliders: which key of the scenario each stands for, and between which values it moves.

import { parse, write as quantity } from "./quantity.js";
import { get, write } from "./scenario.js";

const LOSSES = {
  none: { label: "none" },
  packet: { label: "random packets", key: "probability", range: [1e-5, 0.3], first: 1e-3 },
  ber: { label: "random bits", key: "ber", range: [1e-9, 1e-4], first: 1e-6 },
};

/** Logarithmic sliders have 200 steps; a zero stands left of the first where the field has one. */
const STEPS = 200;

/** The path of each field's key, for the link and the flow that are chosen. */
export const FIELDS = [
  { id: "rate", label: "rate", kind: "rate", range: [64e3, 1e9], path: ({ link }) => ["links", link, "rate"] },
  { id: "delay", label: "delay, one way", kind: "time", range: [1e-3, 1], path: ({ link }) => ["links", link, "delay"] },
  { id: "loss", label: "loss", kind: "number", path: ({ link, loss }) => ["links", link, "loss", LOSSES[loss]?.key] },
  { id: "queue", label: "buffer", kind: "packets", range: [1, 20_000], path: ({ link }) => ["links", link, "queue"] },
  { id: "back", label: "way back", kind: "rate", range: [16e3, 1e9], path: ({ link }) => ["links", link, "reverse", "rate"] },
  { id: "window", label: "receive window", kind: "size", written: "window", range: [2 ** 12, 2 ** 28], steps: 16, path: () => ["tcp", "receive_window"] },
  { id: "bytes", label: "size of the transfer", kind: "size", range: [1e4, 1e9], path: ({ flow }) => ["flows", flow, "bytes"] },
];

const INHERITED = { back: "rate" };
const DEFAULTS = { window: 65_535, queue: 100 };

function range(field, chosen) {
  return field.id === "loss" ? LOSSES[chosen.loss]?.range : field.range;
}

/** The kind of loss that a link has; undefined for one that no slider moves. */
export function lossOf(values, link) {
  const loss = get(values, ["links", link, "loss"]);
  if (loss === undefined || loss?.model === "none" || loss === "none") return "none";
  return Object.hasOwn(LOSSES, loss?.model) ? loss.model : undefined;
}

/** The text with another kind of loss on the link. */
export function withLoss(text, { link }, kind) {
  const value = kind === "none" ? { model: "none" } : { model: kind, [LOSSES[kind].key]: LOSSES[kind].first };
  return write(text, ["links", link, "loss"], value);
}

export const lossKinds = Object.entries(LOSSES).map(([value, { label }]) => ({ value, label }));

/** What the field shows: its value, and the place of its slider; none where the scenario says something else there. */
export function place(field, values, chosen) {
  const bounds = range(field, chosen);
  if (!bounds) return undefined;
  const written = get(values, field.path(chosen))
    ?? (INHERITED[field.id] && get(values, ["links", chosen.link, INHERITED[field.id]]));
  const value = written === undefined ? DEFAULTS[field.id] : parse(field.kind, written);
  if (value === undefined) return undefined;
  const [low, high] = bounds.map(Math.log);
  const steps = field.steps ?? STEPS;
  const at = Math.round(((Math.log(Math.max(value, bounds[0])) - low) / (high - low)) * steps);
  return { value, at: Math.min(Math.max(at, 0), steps), steps, text: typeof written === "string" ? written : quantity(field.written ?? field.kind, value) };
}

/** The text with the field's slider at a place. */
export function moved(text, field, chosen, at) {
  const [low, high] = range(field, chosen).map(Math.log);
  const value = Math.exp(low + ((high - low) * at) / (field.steps ?? STEPS));
  const rounded = field.kind === "number" ? Number(value.toPrecision(2)) : quantity(field.written ?? field.kind, value);
  return write(text, field.path(chosen), rounded);
}

/** The text with what somebody wrote into the field. */
export function typed(text, field, chosen, written) {
  const value = field.kind === "number" && written.trim() !== "" && Number.isFinite(Number(written)) ? Number(written) : written;
  return write(text, field.path(chosen), value);
}
