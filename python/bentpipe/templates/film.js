// Draws satellites and paths at the time of a slider. Places are pairs of latitude and longitude, as shares of 90 and 180 degrees in 16 bits.
const film = JSON.parse(document.getElementById("film").textContent);
const box = document.querySelector(".film");
const world = box.querySelector(".world");
const slider = box.querySelector(".time");
const button = box.querySelector(".play");
const clock = box.querySelector(".clock");
const speed = box.querySelector(".speed");
const INK = "#222222", SOFT = "#767676", GRID = "#e4e4e4", GAP = "rgba(209, 53, 15, 0.2)";
const HEIGHT = 92, LEFT = 64, TOP = 6, BOTTOM = 20;

const bytes = Uint8Array.from(atob(film.places), (sign) => sign.charCodeAt(0));
const places = new DataView(bytes.buffer);
const count = film.satellites.length;
const share = (frame, satellite, which) => places.getInt16(4 * (frame * count + satellite) + 2 * which, true) / 32767;
const placeOf = (frame, satellite) => [90 * share(frame, satellite, 0), 180 * share(frame, satellite, 1)];

let frame = 0;
let playing = null;

function last(starts, at) {
  let found = -1;
  for (let low = 0, high = starts.length - 1; low <= high;) {
    const middle = (low + high) >> 1;
    if (starts[middle] <= at + 1e-6) { found = middle; low = middle + 1; } else high = middle - 1;
  }
  return found;
}
const starts = film.paths.map((path) => path.stretches.map(([start]) => start));
function nodesOf(number, at) {
  const found = last(starts[number], at);
  return found < 0 ? [] : film.paths[number].stretches[found][1];
}
const nameOf = (node) => node < film.stations.length ? film.stations[node][0] : film.satellites[node - film.stations.length];

const ends = new Set(film.paths.flatMap((path) => [path.stretches[0]?.[1][0], path.stretches[0]?.[1].at(-1)]));

function drawFrame() {
  const satellites = film.satellites.map((_, satellite) => placeOf(frame, satellite));
  const paths = film.paths.map((path, number) => [path.colour, nodesOf(number, film.times[frame])]);
  drawWorld(world, { ...film, satellites, paths, ends, colours: { ...film.colours, ink: INK, soft: SOFT, grid: GRID, halo: "white" } });
}

const rows = film.paths.map((path) => {
  const item = document.createElement("li");
  item.style.borderColor = path.colour;
  const [now, nodes, canvas] = ["div", "div", "canvas"].map((kind) => document.createElement(kind));
  now.className = "now";
  nodes.className = "nodes";
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `Round trip of ${path.name} over time`);
  canvas.addEventListener("pointerdown", (event) => {
    const at = (event.offsetX - LEFT) / (canvas.clientWidth - LEFT) * path.until;
    go(Math.max(0, last(film.times, at)));
  });
  item.append(now, nodes, canvas);
  box.querySelector(".paths").append(item);
  return { path, now, nodes, canvas };
});

function drawCurve({ path, canvas }) {
  const [pen, width] = sized(canvas, HEIGHT);
  const known = path.rtts.filter((value) => value !== null);
  const low = Math.min(...known), high = Math.max(...known), room = Math.max((high - low) * 0.08, 0.01);
  const x = (at) => LEFT + at / path.until * (width - LEFT);
  const y = (value) => TOP + (high + room - value) / (high - low + 2 * room) * (HEIGHT - TOP - BOTTOM);
  pen.clearRect(0, 0, width, HEIGHT);
  pen.fillStyle = GAP;
  for (const [start, end] of path.gaps) pen.fillRect(x(start), TOP, x(end) - x(start), HEIGHT - TOP - BOTTOM);
  pen.font = "11px system-ui, sans-serif";
  pen.fillStyle = SOFT;
  if (known.length) {
    pen.textAlign = "right";
    for (const value of high > low ? [low, high] : [low]) pen.fillText(`${value.toFixed(1)} ms`, LEFT - 5, y(value) + 4);
  }
  pen.textAlign = "left";
  pen.fillText("0 s", LEFT, HEIGHT - 5);
  pen.textAlign = "right";
  pen.fillText(`${path.until} s`, width, HEIGHT - 5);
  pen.strokeStyle = GRID;
  pen.lineWidth = 1;
  pen.strokeRect(LEFT, TOP, width - LEFT, HEIGHT - TOP - BOTTOM);
  pen.strokeStyle = SOFT;
  pen.lineWidth = 0.8;
  pen.setLineDash([4, 3]);
  pen.beginPath();
  for (const at of path.changes) { pen.moveTo(x(at), TOP); pen.lineTo(x(at), HEIGHT - BOTTOM); }
  pen.stroke();
  pen.setLineDash([]);
  pen.strokeStyle = path.colour;
  pen.lineWidth = 1.6;
  pen.beginPath();
  let before = null;
  path.times.forEach((at, index) => {
    const value = path.rtts[index];
    if (before !== null) pen.lineTo(x(at), y(before));
    if (value !== null) pen[before === null ? "moveTo" : "lineTo"](x(at), y(value));
    before = value;
  });
  pen.stroke();
  pen.strokeStyle = INK;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(x(film.times[frame]), 0);
  pen.lineTo(x(film.times[frame]), HEIGHT - BOTTOM);
  pen.stroke();
}

function show() {
  const at = film.times[frame];
  drawFrame();
  rows.forEach((row, number) => {
    const nodes = nodesOf(number, at), rtt = row.path.rtts[last(row.path.times, at)];
    const told = nodes.length ? `${nodes.length - 1} links, ${rtt.toFixed(1)} ms` : "no path";
    row.now.textContent = `${row.path.name}: ${told}`;
    row.nodes.textContent = nodes.map(nameOf).join(" · ");
    drawCurve(row);
  });
  clock.textContent = `${at} s`;
  slider.value = frame;
  slider.setAttribute("aria-valuetext", `${at} s`);
}

function go(to) {
  frame = Math.max(0, Math.min(film.times.length - 1, to));
  show();
}

function stop() {
  cancelAnimationFrame(playing);
  playing = null;
  button.textContent = "Play";
}

function play() {
  if (frame === film.times.length - 1) go(0);
  button.textContent = "Stop";
  let due = performance.now();
  const tick = (now) => {
    const every = film.frame_ms / Number(speed.value);
    if (now - due >= every) {
      const ahead = Math.floor((now - due) / every);
      due += ahead * every;
      go(frame + ahead);
    }
    if (frame === film.times.length - 1) stop();
    else playing = requestAnimationFrame(tick);
  };
  playing = requestAnimationFrame(tick);
}

const toggle = () => playing === null ? play() : stop();
button.addEventListener("click", toggle);
slider.addEventListener("input", () => { stop(); go(Number(slider.value)); });
addEventListener("keydown", (event) => {
  if (event.key === " " && !["BUTTON", "SELECT", "SUMMARY"].includes(event.target.tagName)) { event.preventDefault(); toggle(); }
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (step && event.target === document.body) { event.preventDefault(); stop(); go(frame + step); }
});
addEventListener("resize", show);
slider.max = film.times.length - 1;
box.hidden = false;
show();
