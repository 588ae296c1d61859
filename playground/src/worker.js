// Runs scenarios beside the page, which stays alive and may end this worker at any time.

let engine;
/** Which run of which question is going on. */
let now;

const imports = {
  seconds: () => performance.now() / 1000,
  progress: (at_s) => postMessage({ ...now, at_s }),
  curves: (start, length) => postMessage({ ...now, about: JSON.parse(text(start, length)) }),
  points: (count, curves, times, values) => {
    const columns = split(
      new Uint32Array(engine.memory.buffer, curves, count),
      new Float64Array(engine.memory.buffer, times, count),
      new Float64Array(engine.memory.buffer, values, count),
    );
    postMessage({ ...now, columns }, [...columns.values()].flatMap((curve) => [curve.times.buffer, curve.values.buffer]));
  },
};

async function load(module) {
  const instance = await WebAssembly.instantiate(module, { bentpipe: imports });
  engine = instance.exports;
}

const text = (start, length) => new TextDecoder().decode(new Uint8Array(engine.memory.buffer, start, length));

function answer(request) {
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  const start = engine.request(bytes.length);
  new Uint8Array(engine.memory.buffer, start, bytes.length).set(bytes);
  const length = engine.answer();
  return text(engine.answer_start(), length);
}

/** The points come in the order of events; each curve's are put together, by its number. */
function split(numbers, times, values) {
  const lengths = new Map();
  for (const number of numbers) lengths.set(number, (lengths.get(number) ?? 0) + 1);
  const curves = new Map();
  for (const [number, points] of lengths) curves.set(number, { times: new Float64Array(points), values: new Float64Array(points) });
  const next = new Map();
  numbers.forEach((number, i) => {
    const curve = curves.get(number);
    const at = next.get(number) ?? 0;
    curve.times[at] = times[i];
    curve.values[at] = values[i];
    next.set(number, at + 1);
  });
  return curves;
}

onmessage = async ({ data: { module, id, requests } }) => {
  try {
    if (module) await load(module);
    if (!requests) return;
    const answers = requests.map((request, run) => {
      now = { id, run };
      return answer(request);
    });
    postMessage({ id, answers });
  } catch (error) {
    postMessage({ id, failure: String(error) });
  }
};
