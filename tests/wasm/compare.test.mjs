// The module in target/wasm gives the bytes that the native one gives.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const path = (name) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const compiled = new WebAssembly.Module(readFileSync(path("target/wasm/bentpipe.wasm")));

/** `told` takes whose curves there are, and how many points come at a time. */
function instance(told = []) {
  const { exports } = new WebAssembly.Instance(compiled, {
    bentpipe: {
      seconds: () => performance.now() / 1000,
      progress: (simulated) => assert.ok(simulated > 0),
      curves: (start, length) => told.push(JSON.parse(read(start, length)).flows),
      points: (count) => told.push(count),
    },
  });
  const read = (start, length) => new TextDecoder().decode(new Uint8Array(exports.memory.buffer, start, length));
  // The answer as it comes, not as JSON.parse would make it.
  return (request) => {
    const bytes = new TextEncoder().encode(typeof request === "string" ? request : JSON.stringify(request));
    const start = exports.request(bytes.length);
    new Uint8Array(exports.memory.buffer, start, bytes.length).set(bytes);
    const length = exports.answer();
    return read(exports.answer_start(), length);
  };
}

const WALL = /"wall_s":[0-9.e-]+/;
const withoutWall = (json) => {
  assert.match(json, WALL);
  return json.replace(WALL, '"wall_s":0');
};
const error = (answer) => JSON.parse(answer).error;

test("the results of scenarios, byte for byte", async (t) => {
  const native = execFileSync(path(".venv/bin/python"), [path("tests/wasm/native.py")], { maxBuffer: 1 << 30 });
  const run = instance();
  const seconds = [0, 0];
  for (const { name, text, json, seconds: spent } of JSON.parse(native)) {
    await t.test(name, () => {
      const began = performance.now();
      const answer = run({ scenario: text });
      seconds[0] += (performance.now() - began) / 1000;
      seconds[1] += spent;
      assert.equal(withoutWall(answer), `{"result":${withoutWall(json)}}`);
    });
  }
  t.diagnostic(`${seconds[0].toFixed(2)} s, native ${seconds[1].toFixed(2)} s`);
});

test("a preset is extended, settings and a seed go over it, and what a run costs is told", () => {
  const run = instance();
  const scenario = readFileSync(path("scenarios/geo-lossy.toml"), "utf8");
  const plain = JSON.parse(run({ scenario })).result;
  const other = JSON.parse(run({ scenario, seed: 9, settings: [["flows.download.bytes", "1 MB"]] })).result;
  assert.deepEqual([plain.seed, plain.flows[0].bytes_delivered], [1, 10_000_000]);
  assert.deepEqual([other.seed, other.flows[0].bytes_delivered], [9, 1_000_000]);
  assert.ok(plain.engine.wall_s > 0);
});

test("an instance that has answered answers the same again", () => {
  const run = instance();
  const request = { scenario: readFileSync(path("scenarios/demo.toml"), "utf8") };
  const first = withoutWall(run(request));
  run({ scenario: "" });
  assert.equal(withoutWall(run(request)), first);
});

test("points come while a run goes on, as many as the result says", () => {
  const told = [];
  const run = instance(told);
  const scenario = readFileSync(path("scenarios/geo-lossy.toml"), "utf8");
  const settings = [["flows.download.bytes", "40 MB"]];
  const { recording } = JSON.parse(run({ scenario, settings, points: 1_000_000 })).result;
  const [flows, ...counts] = told;
  assert.deepEqual(flows, ["download"]);
  assert.ok(counts.length > 1);
  assert.equal(counts.reduce((sum, count) => sum + count), recording.series.points);
});

test("a film has satellites, stations and the path of each flow, and nothing without satellites", () => {
  const run = instance();
  const scenario = readFileSync(path("scenarios/shell.toml"), "utf8");
  const { film } = JSON.parse(run({ scenario, film_s: 60 }));
  assert.deepEqual(film.stations.map(([name]) => name), ["london", "new-york", "cape-town", "sydney"]);
  assert.deepEqual([film.times_s[0], film.times_s.at(-1)], [0, 60]);
  assert.ok(film.places.every((places) => places.length === 2 * 1584));
  assert.deepEqual(film.paths.map(({ flow }) => flow), ["cubic", "bbr", "call"]);
  assert.ok(film.paths.every(({ stretches }) => stretches[0][0] === 0) && film.paths.some(({ stretches }) => stretches.length > 1));
  assert.match(error(run({ scenario: 'extends = "preset:geo"\n[flows.a]\nfrom = "server"\nto = "client"\nbytes = "1 MB"', film_s: 60 })), /^expected satellites/);
});

test("mistakes are one line", () => {
  const run = instance();
  const preset = 'extends = "preset:geo"\n';
  const cases = [
    [{ scenario: `${preset}seed = "one"` }, /^scenario.toml:2: seed: expected /],
    [{ scenario: `${preset}sed = 1`, name: "mine.toml" }, /^mine.toml:2: sed: /],
    [{ scenario: 'extends = "other.toml"' }, /^scenario.toml:1: extends: expected /],
    [{ scenario: `a = ${"[".repeat(1_000_000)}` }, /^scenario.toml:1: a: expected at most 16 tables within each other/],
    [{ scenario: `${"a.".repeat(1_000_000)}a = 1` }, /^scenario.toml:1: .*expected at most 16 tables within each other/],
    [{ scenario: preset, seeds: 1 }, /^expected a request as JSON: unknown field `seeds`/],
    ["{", /^expected a request as JSON: /],
  ];
  for (const [request, expected] of cases) {
    const message = error(run(request));
    assert.match(message, expected);
    assert.equal(message.includes("\n"), false);
  }
});
