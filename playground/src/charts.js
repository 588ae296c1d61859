// The panels: one time axis and one cursor over all of them.

import uPlot from "uplot";

import { goodput, visible } from "./curves.js";
import { shown } from "./quantity.js";

const HEIGHT = 170;
const STRETCHES = 80;

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** What a panel shows of each run: kinds of curves with how they are drawn. */
const PANELS = [
  {
    title: "sequence numbers",
    unit: "B",
    curves: [
      { kind: "acked", label: "acknowledged", steps: true },
      { kind: "sent", label: "sent", dots: 2 },
      { kind: "sack_end", label: "reported by SACK", dots: 2, color: "--sack" },
      { kind: "resent", label: "resent", dots: 4, color: "--resent" },
      { kind: "dropped", label: "dropped by a queue", dots: 5, color: "--lost" },
      { kind: "damaged", label: "lost on a link", dots: 5, color: "--damaged" },
    ],
  },
  {
    title: "windows",
    unit: "B",
    curves: [
      { kind: "cwnd", label: "cwnd", steps: true },
      { kind: "ssthresh", label: "ssthresh", steps: true, dash: [6, 4] },
      { kind: "flight", label: "flight size", steps: true, dash: [1, 3] },
    ],
  },
  { title: "round-trip time", unit: "s", curves: [{ kind: "rtt", label: "RTT" }] },
  { title: "queue", unit: "packets", ofLink: true, curves: [{ kind: "queue", label: "queue", steps: true }] },
  { title: "goodput", unit: "bit/s", curves: [{ kind: "goodput", label: "goodput", steps: true }] },
];

/** A square in the legend has the curve's colour; a dashed curve has an empty one. */
const MARKERS = {
  fill: ({ series }, at) => (at && !series[at].dash ? series[at].stroke() : null),
  width: ({ series }, at) => (series[at].dash ? 2 : 0),
  stroke: ({ series }, at) => series[at].stroke(),
  dash: ({ series }, at) => (series[at].dash?.[0] === 1 ? "dotted" : "dashed"),
};

const missing = (value) => value === null || value === undefined;
const told = (unit, value) => (unit === "packets" && !missing(value) ? `${Math.round(value)}` : shown(unit, value));

export class Charts {
  #place;
  #plots = [];
  #runs = [];
  #view = [0, 1];
  #bound;

  constructor(place) {
    this.#place = place;
    new ResizeObserver(() => this.#resize()).observe(place);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#make());
  }

  /** Draws runs: `name`, `curves`, `subject` (a flow), `link` (a direction) and `end_s` of each, and the bound of goodput in bit/s. */
  show(runs, bound) {
    const names = (all) => all.map(({ name, link }) => `${name} ${Boolean(link)}`).join();
    const asBefore = names(runs) === names(this.#runs) && Boolean(bound) === Boolean(this.#bound) && this.#plots.length > 0;
    this.#runs = runs;
    this.#bound = bound;
    this.#view = [0, this.#end];
    if (asBefore) this.#fill();
    else this.#make();
  }

  /** Puts the cursor of all panels at a time. */
  point(time) {
    const [first] = this.#plots;
    first?.plot.setCursor({ left: first.plot.valToPos(time, "x"), top: HEIGHT / 4 }, true, true);
  }

  get #end() {
    return Math.max(...this.#runs.map((run) => run.end_s), 1e-3);
  }

  get canvases() {
    return this.#plots.map(({ plot, panel }) => ({ title: panel.title, canvas: plot.ctx.canvas }));
  }

  zoomOut() {
    this.#view = [0, this.#end];
    this.#fill();
  }

  #curve(run, panel, kind) {
    if (kind === "goodput") return goodput(run.curves.get(run.subject, "acked"), run.end_s / STRETCHES);
    return run.curves.get(panel.ofLink ? run.link : run.subject, kind);
  }

  #data(panel) {
    const [from, to] = this.#view;
    const tables = this.#runs.flatMap((run) =>
      panel.curves.map(({ kind }) => {
        const { times, values } = visible(this.#curve(run, panel, kind), from, to, this.#place.clientWidth);
        return [Array.from(times), Array.from(values)];
      }),
    );
    const filled = tables.map(([times, values]) => (times.length ? [times, values] : [[from], [null]]));
    if (this.#bound && panel.unit === "bit/s") filled.push([[from, to], [this.#bound, this.#bound]]);
    return uPlot.join(distinct(filled), filled.map(() => [1]));
  }

  #series(panel) {
    const all = this.#runs.flatMap((run, place) =>
      panel.curves.map((curve) => {
        const color = css(curve.color && place === 0 ? curve.color : `--run-${place + 1}`);
        const several = this.#runs.length > 1 ? `${run.name}: ` : "";
        return {
          label: several + curve.label,
          stroke: color,
          width: curve.dots ? 0 : 1.5,
          dash: curve.dash,
          spanGaps: true,
          paths: curve.dots ? () => null : curve.steps ? uPlot.paths.stepped({ align: 1 }) : undefined,
          points: { show: Boolean(curve.dots), size: curve.dots, fill: color, width: 0, stroke: color },
          value: (_, value) => told(panel.unit, value),
        };
      }),
    );
    if (this.#bound && panel.unit === "bit/s") {
      all.push({ label: "rate of the link", stroke: css("--faint"), width: 1, dash: [4, 4], value: (_, value) => told("bit/s", value) });
    }
    return all;
  }

  #make() {
    for (const { plot } of this.#plots) plot.destroy();
    const shownHere = PANELS.filter((panel) => !panel.ofLink || this.#runs.some(({ link }) => link));
    this.#plots = shownHere.map((panel) => {
      const axis = { stroke: css("--text"), grid: { stroke: css("--grid"), width: 1 }, ticks: { stroke: css("--grid") } };
      const plot = new uPlot(
        {
          width: this.#place.clientWidth,
          height: HEIGHT,
          title: panel.title,
          cursor: { sync: { key: "bentpipe", setSeries: false }, drag: { x: true, y: false, setScale: false } },
          scales: { x: { time: false, range: () => this.#view }, y: { range: (_, low, high) => [0, Math.max(high ?? 0, low ?? 0, 1e-9) * 1.05] } },
          legend: { markers: MARKERS },
          axes: [
            { ...axis, values: (_, marks) => marks.map((mark) => `${mark} s`), size: 34 },
            { ...axis, values: (_, marks) => marks.map((mark) => told(panel.unit, mark)), size: 84 },
          ],
          series: [{ label: "time", value: (_, value) => (missing(value) ? "–" : `${value.toFixed(3)} s`) }, ...this.#series(panel)],
          hooks: {
            setSelect: [
              (self) => {
                const { left, width } = self.select;
                if (width < 4) return;
                this.#view = [self.posToVal(left, "x"), self.posToVal(left + width, "x")];
                self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
                this.#fill();
              },
            ],
            ready: [
              (self) => {
                self.over.addEventListener("dblclick", () => this.zoomOut());
                self.ctx.canvas.setAttribute("role", "img");
                self.ctx.canvas.setAttribute("aria-label", `${panel.title} over time`);
              },
            ],
          },
        },
        this.#data(panel),
        this.#place,
      );
      return { panel, plot };
    });
  }

  #fill() {
    for (const { panel, plot } of this.#plots) plot.setData(this.#data(panel));
  }

  #resize() {
    for (const { plot } of this.#plots) plot.setSize({ width: this.#place.clientWidth, height: HEIGHT });
  }
}

/** uPlot joins columns by their times, of which each may stand once; what comes at one time goes a nanosecond on. */
function distinct(tables) {
  for (const [times] of tables) {
    for (let i = 1; i < times.length; i += 1) if (times[i] <= times[i - 1]) times[i] = times[i - 1] + 1e-9;
  }
  return tables;
}
