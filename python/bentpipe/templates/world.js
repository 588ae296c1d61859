// Draws satellites, stations and paths on a map. Places are pairs of latitude and longitude in degrees.
const RADIANS = Math.PI / 180;

export function sized(canvas, height) {
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

/**
 * Draws on a canvas: `stations` (name and place), `satellites` (places), `paths` (a colour and the nodes, of which the stations have the
 * first numbers), `land` (rings of longitude and latitude in turn), the `colours`; up to the `latitude`. Stations whose numbers are in
 * `ends` have a name where there are many. `covers`, if given, is the radius that each satellite serves, in degrees.
 */
export function drawWorld(world, { stations, satellites, paths, land, latitude: most, colours, ends, covers }) {
  const height = world.clientWidth * most / 180;
  const [pen, width] = sized(world, height);
  world.style.height = `${height}px`;
  const x = (longitude) => (longitude + 180) / 360 * width;
  const y = (latitude) => (1 - latitude / most) / 2 * height;
  const trace = (line, shift) => line.forEach(([latitude, longitude], index) => pen[index ? "lineTo" : "moveTo"](x(longitude + shift), y(latitude)));
  pen.fillStyle = colours.sea;
  pen.fillRect(0, 0, width, height);
  pen.strokeStyle = colours.grid;
  pen.lineWidth = 0.7;
  pen.beginPath();
  for (let longitude = -120; longitude < 180; longitude += 60) { pen.moveTo(x(longitude), 0); pen.lineTo(x(longitude), height); }
  for (let latitude = -60; latitude < 90; latitude += 30) { pen.moveTo(0, y(latitude)); pen.lineTo(width, y(latitude)); }
  pen.stroke();
  pen.fillStyle = colours.land;
  pen.strokeStyle = colours.shore;
  for (const ring of land) {
    pen.beginPath();
    for (let index = 0; index < ring.length; index += 2) pen[index ? "lineTo" : "moveTo"](x(ring[index]), y(ring[index + 1]));
    pen.fill();
    pen.stroke();
  }
  const first = stations.length, count = satellites.length;
  const placeOf = (node) => node < first ? stations[node].slice(1) : satellites[node - first];
  pen.globalAlpha = 0.18;
  for (const [colour, nodes] of paths) {
    pen.fillStyle = colour;
    for (const node of new Set([nodes[1], nodes[nodes.length - 2]])) {
      if (!covers || !(node >= first)) continue;
      const ring = unrolled(circle(placeOf(node), covers[node - first]));
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
  pen.fillStyle = colours.soft;
  pen.beginPath();
  for (const [latitude, longitude] of satellites) {
    // One that has come down is nowhere.
    if (latitude < -90) continue;
    pen.rect(x(longitude) - size, y(latitude) - size, 2 * size, 2 * size);
  }
  pen.fill();
  for (const [colour, nodes] of paths) {
    pen.strokeStyle = pen.fillStyle = colour;
    pen.lineWidth = 2.2;
    pen.beginPath();
    for (let index = 1; index < nodes.length; index += 1) {
      const line = unrolled(greatCircle(placeOf(nodes[index - 1]), placeOf(nodes[index])));
      for (const shift of [-360, 0, 360]) trace(line, shift);
    }
    pen.stroke();
    for (const node of nodes.filter((each) => each >= first)) {
      const [latitude, longitude] = placeOf(node);
      pen.beginPath();
      pen.arc(x(longitude), y(latitude), size + 2, 0, 2 * Math.PI);
      pen.fill();
    }
  }
  const letters = Math.max(8, Math.min(12, width / 60));
  pen.font = `600 ${letters}px system-ui, sans-serif`;
  pen.textAlign = "left";
  pen.lineJoin = "round";
  const taken = stations.map(([, latitude, longitude]) => [x(longitude) - 5, y(latitude) - 5, x(longitude) + 5, y(latitude) + 5]);
  const meet = (one, other) => one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
  const within = (box) => box[0] >= 0 && box[1] >= 0 && box[2] <= width && box[3] <= height;
  stations.forEach(([name, latitude, longitude], number) => {
    const [left, line] = [x(longitude), y(latitude)];
    pen.fillStyle = colours.ink;
    pen.strokeStyle = colours.halo;
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
