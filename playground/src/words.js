// What came out, in a table and a sentence.

import { shown } from "./quantity.js";

const NUMBERS = [
  ["bytes_delivered", "delivered", "B"],
  ["duration_s", "time", "s"],
  ["goodput_bps", "goodput", "bit/s"],
  ["retransmitted_segments", "resent segments", "count"],
  ["timeouts", "timeouts", "count"],
  ["rtt_mean_s", "RTT", "s"],
];

const MOST_ROWS = 20;

const cell = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });

function row(tag, texts) {
  const one = document.createElement("tr");
  one.append(...texts.map((text) => cell(tag, text)));
  return one;
}

/** A table of all flows of the runs. */
export function table(runs) {
  const made = document.createElement("table");
  made.append(row("th", ["flow", "variant", ...NUMBERS.map(([, heading]) => heading)]));
  for (const { result } of runs) {
    for (const flow of result.flows.slice(0, MOST_ROWS)) {
      made.append(row("td", [flow.name, flow.variant ?? "UDP", ...NUMBERS.map(([key, , unit]) => shown(unit, flow[key]))]));
    }
    if (result.flows.length > MOST_ROWS) made.append(row("td", [`and ${result.flows.length - MOST_ROWS} more flows`]));
  }
  return made;
}

/** What limits a flow for most of the time, in the words of `bentpipe compare --explain`. */
export function limits(name, result, flow, headings) {
  const measured = result.recording?.limits?.find((one) => one.flow === flow);
  if (!measured) return "";
  const parts = Object.entries(headings).map(([key, heading]) => ({ heading, seconds: measured[`${key}_s`] ?? 0 }));
  const whole = parts.reduce((sum, { seconds }) => sum + seconds, 0);
  if (!whole) return "";
  const said = parts
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, 3)
    .filter(({ seconds }, place) => place === 0 || seconds / whole >= 0.1)
    .map(({ heading, seconds }, place) => `${heading} (${Math.round((seconds / whole) * 100)} %${place ? "" : " of the time"})`);
  return `${name} is limited most by: ${said.join(", then ")}.`;
}
