// The page: a change of a slider, a field or the text runs the scenario again.

import { Charts } from "./charts.js";
import { Curves } from "./curves.js";
import { Editor } from "./editor.js";
import { Engine } from "./engine.js";
import { FIELDS, lossKinds, lossOf, moved, place, typed, withLoss } from "./fields.js";
import { Film } from "./film.js";
import { fragment, state } from "./link.js";
import { shown } from "./quantity.js";
import { get, read, write } from "./scenario.js";
import { limits, table } from "./words.js";

const POINTS = 2_000_000;
/** Times in ms: a run that takes longer is drawn while it goes on, so often. */
const PATIENCE = 250;
const AGAIN = 200;
const about = JSON.parse(document.getElementById("about").textContent);
const $ = (id) => document.getElementById(id);

const option = (value, label = value) => Object.assign(document.createElement("option"), { value, textContent: label });
const fill = (select, options, chosen) => {
  select.replaceChildren(...options);
  if (chosen !== undefined) select.value = chosen;
};

const charts = new Charts($("charts"));
const editor = new Editor($("text"), about.schema, () => changed({ text: true }));
const film = new Film($("film"), about.land, (time) => charts.point(time));
let chosen = {};
let runs = [];
let engine;

function values() {
  return read(editor.text, about.presets);
}

function fields() {
  for (const field of FIELDS) {
    const label = Object.assign(document.createElement("label"), { textContent: field.label, htmlFor: `${field.id}-at` });
    const slider = Object.assign(document.createElement("input"), { type: "range", id: `${field.id}-at`, min: 0, step: 1 });
    const written = Object.assign(document.createElement("input"), { type: "text", id: `${field.id}-value` });
    written.setAttribute("aria-label", `${field.label}, as text`);
    slider.addEventListener("input", () => change(moved(editor.text, field, chosen, Number(slider.value))));
    written.addEventListener("change", () => change(typed(editor.text, field, chosen, written.value)));
    const line = document.createElement("div");
    line.className = "field";
    line.append(label, slider, written);
    if (field.id === "loss") line.append(...lossKind());
    $("fields").append(line);
  }
}

function lossKind() {
  const kind = Object.assign(document.createElement("select"), { id: "loss-kind" });
  kind.setAttribute("aria-label", "kind of loss");
  fill(kind, lossKinds.map(({ value, label }) => option(value, label)));
  kind.addEventListener("change", () => change(withLoss(editor.text, chosen, kind.value)));
  return [kind];
}

/** Sliders and fields as the text has them. */
function show(held) {
  const links = Object.keys(held.links ?? {});
  const flows = Object.keys(held.flows ?? {});
  if (!links.includes(chosen.link)) chosen.link = links.includes("satellite") ? "satellite" : links.at(-1);
  if (!flows.includes(chosen.flow)) [chosen.flow] = flows;
  chosen.loss = lossOf(held, chosen.link);
  fill($("link"), links.map((name) => option(name)), chosen.link);
  fill($("flow"), flows.map((name) => option(name)), chosen.flow);
  $("loss-kind").value = chosen.loss ?? "";
  $("loss-kind").disabled = !chosen.link;
  for (const field of FIELDS) {
    const there = chosen.link && chosen.flow ? place(field, held, chosen) : undefined;
    const [slider, written] = [$(`${field.id}-at`), $(`${field.id}-value`)];
    slider.disabled = !there;
    written.disabled = !there && !(field.id !== "loss" && chosen.link);
    slider.max = there?.steps ?? 1;
    slider.value = there?.at ?? 0;
    slider.setAttribute("aria-valuetext", there?.text ?? "not a single number here");
    written.value = there?.text ?? "";
  }
  const variant = get(held, ["flows", chosen.flow, "variant"]) ?? "sack";
  $("variant").value = typeof variant === "string" ? variant : "";
}

function change(text) {
  editor.text = text;
  changed({});
}

/** Runs the text as it stands; a text that no scenario is made of keeps the last pictures. */
async function changed() {
  const held = values();
  if (held) show(held);
  remember();
  const scenario = { scenario: editor.text, name: "playground.toml", points: POINTS, limits: true };
  const other = $("other").value;
  const requests = [scenario];
  if (other && chosen.flow) requests.push({ ...scenario, settings: [[`flows.${chosen.flow}.variant`, other]] });
  said("running …");
  $("stop").disabled = false;
  const began = performance.now();
  let drawn = began + PATIENCE - AGAIN;
  const recorded = [];
  try {
    const answers = await engine.run(requests, ({ run, about: whose, columns, at_s }) => {
      if (whose) recorded[run] = new Curves(whose);
      if (columns) recorded[run].add(columns);
      if (!at_s || performance.now() - drawn < AGAIN) return;
      draw(recorded.map((curves, number) => ({ ...subjects(curves), name: requests[number].settings ? other : $("variant").value, end_s: inSight(curves.end_s) })));
      said(`running: ${shown("s", at_s)} simulated so far …`);
      drawn = performance.now();
    });
    took(answers, recorded, performance.now() - began);
    film.show(held?.constellation && runs[0] ? await filmOf(scenario) : undefined, runs[0]);
  } catch (error) {
    if (error.message === "stopped") {
      if (!engine.busy) said("stopped");
      return;
    }
    said(`The engine failed: ${error.message}`, true);
  }
  $("stop").disabled = true;
}

async function filmOf({ scenario, name }) {
  const [answer] = await engine.run([{ scenario, name, film_s: runs[0].result.duration_s }]);
  return JSON.parse(answer).film;
}

/** Where the time axis of a run ends that goes on: it doubles, so that it seldom moves. */
const inSight = (end_s) => 2 ** Math.ceil(Math.log2(Math.max(end_s, 1e-3)));

const subjects = (curves) => ({ curves, subject: curves.subject(chosen.flow ?? curves.about.flows[0]), link: chosen.link ?? curves.about.links[0] });

function draw(drawn) {
  charts.show(drawn, place(FIELDS[0], values() ?? {}, chosen)?.value);
}

function took(answers, recorded, spent) {
  const told = answers.map((json) => JSON.parse(json));
  const refused = told.find(({ error }) => error);
  editor.mark(refused?.fault);
  if (refused) return said(refused.error, true);
  runs = told.map(({ result }, number) => {
    const held = subjects(recorded[number]);
    const name = result.flows.find((flow) => flow.name === chosen.flow)?.variant ?? held.subject;
    return { ...held, name, result, json: JSON.stringify({ ...result, recording: undefined }), end_s: result.duration_s };
  });
  draw(runs);
  $("results").replaceChildren(table(runs));
  $("limits").textContent = runs.map((run) => limits(run.name, run.result, chosen.flow, about.limits)).filter(Boolean).join(" ");
  const cut = runs.some(({ result }) => result.recording.series.reason) ? " The pictures end before the run: it has more points than a page can hold." : "";
  said(`${shown("s", runs[0].result.duration_s)} simulated in ${Math.round(spent)} ms.${cut}`);
  const other = $("other").value;
  $("command").textContent = other
    ? `bentpipe compare playground.toml --variants ${runs[0].name},${other} --explain`
    : "bentpipe run playground.toml";
}

function said(text, wrong = false) {
  $("status").textContent = text;
  $("status").classList.toggle("wrong", wrong);
}

async function remember() {
  history.replaceState(null, "", await fragment({ text: editor.text, other: $("other").value, link: chosen.link, flow: chosen.flow }));
}

function download(name, blob) {
  const anchor = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 1000);
}

/** All panels under one another, on the page's ground. */
function picture() {
  const parts = charts.canvases;
  const gap = 40;
  const whole = document.createElement("canvas");
  whole.width = Math.max(...parts.map(({ canvas }) => canvas.width));
  whole.height = parts.reduce((sum, { canvas }) => sum + canvas.height + gap, 0);
  const context = whole.getContext("2d");
  const colors = getComputedStyle(document.body);
  context.fillStyle = colors.backgroundColor;
  context.fillRect(0, 0, whole.width, whole.height);
  context.fillStyle = colors.color;
  context.font = "20px sans-serif";
  let top = 0;
  for (const { title, canvas } of parts) {
    context.fillText(title, 12, top + 28);
    context.drawImage(canvas, 0, top + gap);
    top += canvas.height + gap;
  }
  return new Promise((resolve) => whole.toBlob(resolve));
}

/** All scenarios by name: the examples, and those of each paper. */
function scenarios() {
  const groups = Map.groupBy(about.scenarios, ({ name }) => (name.includes("/") ? name.split("/")[0] : "examples"));
  return [...groups].map(([label, held]) => {
    const group = Object.assign(document.createElement("optgroup"), { label });
    group.append(...held.map(({ name, title }) => option(name, title ? `${name}: ${title}` : name)));
    return group;
  });
}

function controls() {
  fill($("preset"), [option("", "a scenario …"), ...scenarios()]);
  fill($("variant"), about.variants.map((name) => option(name)));
  fill($("other"), [option("", "none"), ...about.variants.map((name) => option(name))]);
  $("preset").addEventListener("change", ({ target }) => {
    const found = about.scenarios.find(({ name }) => name === target.value);
    chosen = {};
    if (found) change(found.text);
  });
  $("variant").addEventListener("change", ({ target }) => change(write(editor.text, ["flows", chosen.flow, "variant"], target.value)));
  $("other").addEventListener("change", () => changed());
  for (const id of ["link", "flow"]) {
    $(id).addEventListener("change", ({ target }) => {
      chosen[id] = target.value;
      changed();
    });
  }
  $("stop").addEventListener("click", () => engine.stop());
  $("whole").addEventListener("click", () => charts.zoomOut());
  $("toml").addEventListener("click", () => download("playground.toml", new Blob([editor.text], { type: "application/toml" })));
  $("json").addEventListener("click", () => download("playground.json", new Blob([runs[0]?.json ?? ""], { type: "application/json" })));
  $("png").addEventListener("click", async () => download("playground.png", await picture()));
  $("copy").addEventListener("click", () => navigator.clipboard?.writeText(location.href));
}

async function begin() {
  fields();
  controls();
  engine = await Engine.load();
  const held = await state(location.hash);
  if (held) {
    chosen = { link: held.link, flow: held.flow };
    $("other").value = held.other ?? "";
  }
  change(held?.text ?? about.scenarios[0].text);
  addEventListener("hashchange", async () => {
    const other = await state(location.hash);
    if (other && other.text !== editor.text) change(other.text);
  });
}

begin().catch((error) => said(`This browser cannot run the page: ${error.message}`, true));
