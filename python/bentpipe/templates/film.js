"use strict";
// Draws satellites and paths at the time of a slider. Places are pairs of latitude and longitude, as shares of 90 and 180 degrees in 16 bits.
const film = JSON.parse(document.getElementById("film").textContent);
const box = document.querySelector(".film");
const world = box.querySelector(".world");
const slider = box.querySelector(".time");
const button = box.querySelector(".play");
const clock = box.querySelector(".clock");
const speed = box.querySelector(".speed");
const RADIANS = Math.PI / 180;
const INK = "#222222", SOFT = "#767676", GRID = "#e4e4e4", GAP = "rgba(209, 53, 15, 0.2)";
const HEIGHT = 92, LEFT = 56, TOP = 6, BOTTOM = 20;

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
const nodeAt = (node) => node < film.stations.length ? film.stations[node].slice(1) : placeOf(frame, node - film.stations.length);

function sized(canvas, height) {
  const width = canvas.clientWidth, ratio = devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return [pen, width];
}

const direction = ([latitude, longitude]) => {
  const [a, b] = [latitude * RADIANS, longitude * RADIANS];
  return [Math.cos(a) * Math.cos(b), Math.cos(a) * Math.sin(b), Math.sin(a)];
};
const place = ([x, y, z]) => [Math.asin(Math.max(-1, Math.min(1, z))) / RADIANS, Math.atan2(y, x) / RADIANS];
const sum = (a, u, b, v) => u.map((value, axis) => a * value + b * v[axis]);

function greatCircle(one, other) {
  const [u, v] = [direction(one), direction(other)];
  const angle = Math.acos(Math.max(-1, Math.min(1, u[0] * v[0] + u[1] * v[1] + u[2] * v[2])));
  const steps = 1 + Math.floor(angle / RADIANS / 2);
  const line = [];
  for (let step = 0; step <= steps; step += 1) {
    const part = step / steps;
    line.push(angle < 1e-9 ? one : place(sum(Math.sin((1 - part) * angle) / Math.sin(angle), u, Math.sin(part * angle) / Math.sin(angle), v)));
  }
  return line;
}

function circle(centre, degrees) {
  const up = direction(centre), [, longitude] = centre;
  const east = [-Math.sin(longitude * RADIANS), Math.cos(longitude * RADIANS), 0];
  const north = [up[1] * east[2] - up[2] * east[1], up[2] * east[0] - up[0] * east[2], up[0] * east[1] - up[1] * east[0]];
  const ring = [];
  for (let step = 0; step <= 72; step += 1) {
    const turn = step * 5 * RADIANS;
    const aside = sum(Math.cos(turn), east, Math.sin(turn), north);
    ring.push(place(sum(Math.cos(degrees * RADIANS), up, Math.sin(degrees * RADIANS), aside)));
  }
  return ring;
}

// Longitudes go on beyond 180 degrees; the line is drawn once for each side of the map that it reaches.
function unrolled(line) {
  let turns = 0;
  return line.map(([latitude, longitude], index) => {
    if (index > 0) {
      const step = longitude - line[index - 1][1];
      turns += step > 180 ? -360 : step < -180 ? 360 : 0;
    }
    return [latitude, longitude + turns];
  });
}

function drawWorld() {
  const height = world.clientWidth * film.latitude / 180;
  const [pen, width] = sized(world, height);
  world.style.height = `${height}px`;
  const x = (longitude) => (longitude + 180) / 360 * width;
  const y = (latitude) => (1 - latitude / film.latitude) / 2 * height;
  const trace = (line, shift) => line.forEach(([latitude, longitude], index) => pen[index ? "lineTo" : "moveTo"](x(longitude + shift), y(latitude)));
  pen.fillStyle = film.colours.sea;
  pen.fillRect(0, 0, width, height);
  pen.strokeStyle = GRID;
  pen.lineWidth = 0.7;
  pen.beginPath();
  for (let longitude = -120; longitude < 180; longitude += 60) { pen.moveTo(x(longitude), 0); pen.lineTo(x(longitude), height); }
  for (let latitude = -60; latitude < 90; latitude += 30) { pen.moveTo(0, y(latitude)); pen.lineTo(width, y(latitude)); }
  pen.stroke();
  pen.fillStyle = film.colours.land;
  pen.strokeStyle = film.colours.shore;
  for (const ring of film.land) {
    pen.beginPath();
    for (let index = 0; index < ring.length; index += 2) pen[index ? "lineTo" : "moveTo"](x(ring[index]), y(ring[index + 1]));
    pen.fill();
    pen.stroke();
  }
  const first = film.stations.length, at = film.times[frame];
  const shown = film.paths.map((path, number) => [path.colour, nodesOf(number, at)]);
  pen.globalAlpha = 0.18;
  for (const [colour, nodes] of shown) {
    pen.fillStyle = colour;
    for (const node of new Set([nodes[1], nodes[nodes.length - 2]])) {
      if (!(node >= first)) continue;
      const ring = unrolled(circle(placeOf(frame, node - first), film.covers[node - first]));
      const [start, end] = [ring[0][1], ring[ring.length - 1][1]];
      if (Math.abs(end - start) > 180) {
        // The pole is inside.
        const pole = Math.sign(ring[0][0]) * 90;
        ring.push([pole, end], [pole, start]);
      }
      for (const shift of [-360, 0, 360]) { pen.beginPath(); trace(ring, shift); pen.fill(); }
    }
  }
  pen.globalAlpha = 1;
  const size = (count <= 100 ? 2.6 : count <= 800 ? 1.6 : 1.1) * Math.max(0.6, Math.min(1.2, width / 1000));
  pen.fillStyle = SOFT;
  pen.beginPath();
  for (let satellite = 0; satellite < count; satellite += 1) {
    const [latitude, longitude] = placeOf(frame, satellite);
    // One that has come down is nowhere.
    if (latitude < -90) continue;
    pen.rect(x(longitude) - size, y(latitude) - size, 2 * size, 2 * size);
  }
  pen.fill();
  for (const [colour, nodes] of shown) {
    pen.strokeStyle = pen.fillStyle = colour;
    pen.lineWidth = 2.2;
    pen.beginPath();
    for (let index = 1; index < nodes.length; index += 1) {
      const line = unrolled(greatCircle(nodeAt(nodes[index - 1]), nodeAt(nodes[index])));
      for (const shift of [-360, 0, 360]) trace(line, shift);
    }
    pen.stroke();
    for (const node of nodes.filter((each) => each >= first)) {
      const [latitude, longitude] = nodeAt(node);
      pen.beginPath();
      pen.arc(x(longitude), y(latitude), size + 2, 0, 2 * Math.PI);
      pen.fill();
    }
  }
  const ends = new Set(film.paths.flatMap((path) => [path.stretches[0]?.[1][0], path.stretches[0]?.[1].at(-1)]));
  const letters = Math.max(8, Math.min(12, width / 60));
  pen.font = `600 ${letters}px system-ui, sans-serif`;
  pen.textAlign = "left";
  pen.lineJoin = "round";
  const taken = film.stations.map(([, latitude, longitude]) => [x(longitude) - 5, y(latitude) - 5, x(longitude) + 5, y(latitude) + 5]);
  const meet = (one, other) => one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
  const within = (box) => box[0] >= 0 && box[1] >= 0 && box[2] <= width && box[3] <= height;
  film.stations.forEach(([name, latitude, longitude], number) => {
    const [left, line] = [x(longitude), y(latitude)];
    pen.fillStyle = INK;
    pen.strokeStyle = "white";
    pen.lineWidth = 1;
    pen.fillRect(left - 3.5, line - 3.5, 7, 7);
    pen.strokeRect(left - 3.5, line - 3.5, 7, 7);
    if (first > 24 && !ends.has(number)) return;
    // The first side on which the name covers no mark and no name before it.
    const long = pen.measureText(name).width;
    const [right, middle, back] = [8, -long / 2, -8 - long];
    const [up, down, far] = [-6, letters + 4, letters + 2];
    const sides = [[right, up], [back, up], [right, down], [back, down], [middle, up - 3], [middle, down + 5],
      [right, up - far], [back, up - far], [right, down + far], [back, down + far]];
    const boxes = sides.map(([aside, below]) => [left + aside, line + below - letters, left + aside + long, line + below + 2]);
    const box = boxes.find((each) => within(each) && !taken.some((other) => meet(each, other))) ?? boxes[0];
    taken.push(box);
    pen.lineWidth = 3;
    pen.strokeText(name, box[0], box[3] - 2);
    pen.fillText(name, box[0], box[3] - 2);
  });
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
  drawWorld();
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
