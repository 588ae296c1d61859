"use strict";
// Curves of a sweep: a line for the points that differ in nothing but what they are drawn over.
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#8a5a9e", "#56b4e9", "#d1350f", "#b8a400", "#767676"];
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 2]];
const MOST_LINES = 24;

for (const box of document.querySelectorAll(".curves")) {
  const { keys, over: axes, numbers, x, y } = JSON.parse(box.querySelector("script").textContent);
  const [over, drawn] = [box.querySelector("select.x"), box.querySelector("select.y")];
  const [log, told] = [box.querySelector(".log"), box.querySelector(".told")];
  const [place, legend] = [box.querySelector(".plot"), box.querySelector(".legend")];
  const fill = (select, names, first) => {
    for (const name of names) select.append(new Option(name, name, name === first, name === first));
  };
  fill(over, Object.keys(axes), x);
  fill(drawn, Object.keys(numbers), y);
  let plot = null;

  // uPlot rounds what is small to 0.
  const written = (_, values) => values.map((value) => (value === null ? "" : String(Number(value.toPrecision(6)))));

  function lines() {
    const [drawnOver, values] = axes[over.value];
    const others = Object.keys(keys).filter((name) => name !== drawnOver && new Set(keys[name]).size > 1);
    const found = new Map();
    numbers[drawn.value].forEach((number, point) => {
      if (number === null) return;
      const name = others.map((key) => keys[key][point]).join(", ") || drawn.value;
      if (!found.has(name)) found.set(name, new Map());
      found.get(name).set(values[point], number);
    });
    return found;
  }

  function draw() {
    if (plot !== null) plot.destroy();
    legend.replaceChildren();
    const all = lines();
    const found = new Map([...all].slice(0, MOST_LINES));
    told.textContent = all.size > MOST_LINES ? `The first ${MOST_LINES} of ${all.size} lines.` : "";
    const xs = [...new Set([...found.values()].flatMap((line) => [...line.keys()]))].sort((a, b) => a - b);
    log.disabled = !(xs[0] > 0);
    const columns = [...found.values()].map((line) => xs.map((at) => line.get(at) ?? null));
    const style = (number) => [COLOURS[number % COLOURS.length], DASHES[Math.floor(number / COLOURS.length + number) % DASHES.length]];
    const series = [...found.keys()].map((label, number) => {
      const [stroke, dash] = style(number);
      return { label, stroke, dash, width: 2, points: { show: true, size: 6 }, spanGaps: false };
    });
    const intervals = (u) => {
      columns.forEach((column, number) => {
        u.ctx.strokeStyle = style(number)[0];
        u.ctx.lineWidth = devicePixelRatio;
        u.ctx.beginPath();
        column.forEach((value, index) => {
          if (value === null || !(value[1] > 0)) return;
          const at = u.valToPos(xs[index], "x", true);
          u.ctx.moveTo(at, u.valToPos(value[0] - value[1], "y", true));
          u.ctx.lineTo(at, u.valToPos(value[0] + value[1], "y", true));
        });
        u.ctx.stroke();
      });
    };
    const plain = columns.map((column) => column.map((value) => value && value[0]));
    const bounds = columns.flat().filter((value) => value !== null);
    const top = Math.max(...bounds.map(([mean, half]) => mean + half));
    const bottom = Math.min(0, ...bounds.map(([mean, half]) => mean - half));
    const width = Math.min(box.clientWidth, 900);
    plot = new uPlot({
      width,
      height: Math.max(260, Math.min(420, width * 0.55)),
      legend: { show: false },
      scales: { x: { time: false, distr: log.checked && !log.disabled ? 3 : 1 }, y: { range: [bottom, top > bottom ? top * 1.05 : bottom + 1] } },
      axes: [{ label: over.value, values: written }, { label: drawn.value, size: 70, values: written }],
      series: [{ label: over.value }, ...series],
      hooks: { draw: [intervals] },
    }, [xs, ...plain], place);
    series.forEach(({ label }, number) => {
      const [stroke, dash] = style(number);
      const item = document.createElement("li");
      item.innerHTML = `<svg width="34" height="10" aria-hidden="true"><line x1="1" x2="33" y1="5" y2="5" stroke="${stroke}" stroke-width="2" stroke-dasharray="${dash.join(" ")}"/></svg>`;
      item.append(label);
      legend.append(item);
    });
  }

  const spread = (name) => {
    const [least, most] = [Math.min(...axes[name][1]), Math.max(...axes[name][1])];
    return least > 0 && most > 20 * least;
  };
  over.addEventListener("change", () => { log.checked = spread(over.value); draw(); });
  drawn.addEventListener("change", draw);
  log.addEventListener("change", draw);
  log.checked = spread(over.value);
  box.hidden = false;
  box.parentElement.classList.add("drawn");
  draw();
  let width = box.clientWidth;
  addEventListener("resize", () => { if (box.clientWidth !== width) { width = box.clientWidth; draw(); } });
}
