// A film of satellites over the stations, with the paths that the flows take and how far each has come.

import { drawWorld } from "../../python/bentpipe/templates/world.js";
import { first } from "./curves.js";
import { shown } from "./quantity.js";

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const MOST_PATHS = 8;
/** Where the map ends, where no satellite goes further. */
const LATITUDE = 75;
const LENGTH_MS = 12_000;

const before = ({ times, values }, at) => values[first(times, at + 1e-9) - 1];

export class Film {
  #place;
  #land;
  #onTime;
  #film;
  #run;
  #playing;

  /** Draws in `place`; `onTime` is told the time of each picture, in seconds. */
  constructor(place, land, onTime) {
    [this.#place, this.#land, this.#onTime] = [place, land, onTime];
    this.#get("time").addEventListener("input", () => {
      this.#stop();
      this.#draw();
    });
    this.#get("play").addEventListener("click", () => (this.#playing ? this.#stop() : this.#play()));
    new ResizeObserver(() => this.#draw()).observe(place);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#draw());
  }

  #get(name) {
    return this.#place.querySelector(`.${name}`);
  }

  /** Shows a film of a run; none without one. */
  show(film, run) {
    this.#stop();
    [this.#film, this.#run] = [film, run];
    this.#place.hidden = !film;
    if (!film) return;
    this.#get("time").max = film.times_s.length - 1;
    this.#draw();
  }

  get #frame() {
    return Number(this.#get("time").value);
  }

  #play() {
    const time = this.#get("time");
    const last = Number(time.max);
    const from = this.#frame < last ? this.#frame : 0;
    const began = performance.now();
    this.#get("play").textContent = "stop";
    const next = (now) => {
      time.value = Math.min(from + Math.floor(((now - began) / LENGTH_MS) * last), last);
      this.#draw();
      if (this.#frame < last) this.#playing = requestAnimationFrame(next);
      else this.#stop();
    };
    this.#playing = requestAnimationFrame(next);
  }

  #stop() {
    cancelAnimationFrame(this.#playing);
    this.#playing = undefined;
    this.#get("play").textContent = "play";
  }

  #draw() {
    if (!this.#film) return;
    const { stations, times_s: times, places, paths } = this.#film;
    const at = times[this.#frame];
    const flat = places[this.#frame];
    const satellites = [];
    for (let i = 0; i < flat.length; i += 2) satellites.push([flat[i] / 100, flat[i + 1] / 100]);
    const drawn = paths.slice(0, MOST_PATHS).map(({ flow, stretches }, number) => ({
      flow,
      color: css(`--path-${number + 1}`),
      nodes: stretches.findLast(([from]) => from <= at + 1e-6)?.[1] ?? [],
    }));
    drawWorld(this.#get("world"), {
      stations,
      satellites,
      paths: drawn.map(({ color, nodes }) => [color, nodes]),
      land: this.#land,
      latitude: satellites.some(([latitude]) => Math.abs(latitude) > LATITUDE) ? 90 : LATITUDE,
      colours: Object.fromEntries(["land", "shore", "sea", "grid", "ink", "soft", "halo"].map((name) => [name, css(`--map-${name}`)])),
      ends: new Set(drawn.flatMap(({ nodes }) => [nodes[0], nodes.at(-1)])),
    });
    this.#get("paths").replaceChildren(...drawn.map((path) => this.#told(path, at)));
    this.#get("clock").textContent = `${at.toFixed(1)} s`;
    this.#get("time").setAttribute("aria-valuetext", `${at.toFixed(1)} s`);
    this.#onTime(at);
  }

  /** A line of a flow: its path, and how far it has come by then. */
  #told({ flow, color, nodes }, at) {
    const { stations } = this.#film;
    const name = (node) => (node < stations.length ? stations[node][0] : `sat${node - stations.length}`);
    const { curves } = this.#run;
    const parts = [nodes.length ? `${nodes.length - 1} links: ${nodes.map(name).join(" · ")}` : "no path"];
    const subject = curves.about.flows.includes(flow) ? flow : curves.subject(flow);
    for (const [kind, label, unit] of [["rtt", "RTT", "s"], ["cwnd", "cwnd", "B"], ["acked", "acknowledged", "B"]]) {
      const value = before(curves.get(subject, kind), at);
      if (value !== undefined) parts.push(`${label} ${shown(unit, value)}`);
    }
    const line = Object.assign(document.createElement("li"), { textContent: `${flow}: ${parts.join("; ")}` });
    line.style.borderColor = color;
    return line;
  }
}
