// Runs scenarios beside the page, which stays alive and may end this worker at any time.

let engine;

async function load(module) {
  const instance = await WebAssembly.instantiate(module, { bentpipe: { seconds: () => performance.now() / 1000 } });
  engine = instance.exports;
}

/** One answer: its JSON, and the points of each curve by its number, as two columns. */
function answer(request) {
  const text = new TextEncoder().encode(JSON.stringify(request));
  const start = engine.request(text.length);
  new Uint8Array(engine.memory.buffer, start, text.length).set(text);
  const length = engine.answer();
  const json = new TextDecoder().decode(new Uint8Array(engine.memory.buffer, engine.answer_start(), length));
  return { json, columns: columns() };
}

/** The points come in the order of events; each curve's are put together. */
function columns() {
  const count = engine.points();
  const numbers = new Uint32Array(engine.memory.buffer, engine.curves_start(), count);
  const times = new Float64Array(engine.memory.buffer, engine.times_start(), count);
  const values = new Float64Array(engine.memory.buffer, engine.values_start(), count);
  const lengths = new Map();
  for (const number of numbers) lengths.set(number, (lengths.get(number) ?? 0) + 1);
  const curves = new Map();
  for (const [number, points] of lengths) {
    curves.set(number, { times: new Float64Array(points), values: new Float64Array(points), next: 0 });
  }
  for (let i = 0; i < count; i += 1) {
    const curve = curves.get(numbers[i]);
    curve.times[curve.next] = times[i];
    curve.values[curve.next] = values[i];
    curve.next += 1;
  }
  return new Map([...curves].map(([number, { times, values }]) => [number, { times, values }]));
}

onmessage = async ({ data: { module, id, requests } }) => {
  try {
    if (module) await load(module);
    if (requests) postMessage({ id, answers: requests.map(answer) });
  } catch (error) {
    postMessage({ id, failure: String(error) });
  }
};
