import assert from "node:assert/strict";
import { test } from "node:test";

import { fragment, state } from "../src/link.js";
import { parse, write as quantity } from "../src/quantity.js";
import { get, read, write } from "../src/scenario.js";
import { goodput, visible } from "../src/curves.js";

// The parser's tables have no prototype.
const plain = (value) => JSON.parse(JSON.stringify(value));

const PRESETS = { geo: '[links.satellite]\nrate = "2 Mbit/s"\ndelay = "250 ms"\nqueue = "100 packets"\n[alone.download]\nbytes = "1 MB"\n' };
const TEXT = `# A link
extends = "preset:geo"

[links.satellite]   # the long one
loss = { model = "ber", ber = 1e-6 } # bits
rate = "10 Mbit/s"

[flows.download]
from = "server"
`;

test("a value is written where its key stands, in its table, in an inline table or in a new table; all else stays", () => {
  const cases = [
    [["links", "satellite", "rate"], "1 Gbit/s", 'rate = "1 Gbit/s"'],
    [["links", "satellite", "loss", "ber"], 1e-7, 'loss = { model = "ber", ber = 1e-7 } # bits'],
    [["links", "satellite", "loss"], { model: "none" }, 'loss = { model = "none" } # bits'],
    [["links", "satellite", "delay"], "20 ms", 'rate = "10 Mbit/s"\ndelay = "20 ms"\n\n[flows'],
    [["links", "satellite", "reverse", "rate"], "1 Mbit/s", '\n\n[links.satellite.reverse]\nrate = "1 Mbit/s"\n'],
    [["tcp", "receive_window"], "1 MiB", '\n\n[tcp]\nreceive_window = "1 MiB"\n'],
    [["seed"], 3, '\nseed = 3\n'],
  ];
  for (const [path, value, expected] of cases) {
    const text = write(TEXT, path, value);
    assert.ok(text.includes(expected), text);
    assert.deepEqual(plain(get(read(text, PRESETS), path)), value, text);
    assert.equal(write(text, path, value), text, "a second time changes nothing");
    const lines = TEXT.split("\n").filter((line) => !text.includes(line));
    assert.ok(lines.length <= 1, `lost: ${lines}`);
  }
});

test("a table gives way to a value that takes its place", () => {
  const tables = `${TEXT.replace(/loss = .*\n/, "")}to = "client"\n\n[links.satellite.loss]\nmodel = "schedule"\n\n[links.satellite.loss.first]\nber = 1\n\n[tcp]\nsack = true\n`;
  const text = write(tables, ["links", "satellite", "loss"], { model: "none" });
  assert.deepEqual(plain(get(read(text, PRESETS), ["links", "satellite", "loss"])), { model: "none" });
  assert.ok(text.includes('to = "client"\n\n[tcp]\nsack = true\n') && !text.includes("ber = 1"), text);
});

test("a text's values stand over its preset's; another model keeps nothing of the preset's", () => {
  assert.equal(get(read(TEXT, PRESETS), ["links", "satellite", "delay"]), "250 ms");
  const lossy = { geo: '[links.satellite]\nloss = { model = "packet", probability = 0.1 }\n' };
  assert.deepEqual(plain(get(read(TEXT, lossy), ["links", "satellite", "loss"])), { model: "ber", ber: 1e-6 });
  assert.equal(read("[links", PRESETS), undefined);
  assert.deepEqual(Object.keys(read(TEXT, PRESETS).flows), ["download"]);
});

test("quantities are read and written", () => {
  assert.equal(parse("rate", "2.048 Mbit/s"), 2_048_000);
  assert.equal(parse("size", "64 KiB"), 65_536);
  assert.equal(parse("rate", "10 ms"), undefined);
  assert.deepEqual([["rate", 2.048e6], ["window", 65_536], ["packets", 99.6], ["time", 0.25], ["number", 1e-6]].map(([k, v]) => quantity(k, v)), ["2.05 Mbit/s", "64 KiB", "100 packets", "250 ms", "1e-6"]);
});

test("an address holds the page's state; what is no state of ours is none", async () => {
  const held = { text: TEXT, other: "cubic", link: "satellite", flow: "download" };
  const address = await fragment(held);
  assert.ok(address.length < 500);
  assert.deepEqual(await state(address), held);
  for (const other of ["", "#s=", "#s=AAAA", "#results", address.slice(0, 40)]) assert.equal(await state(other), undefined);
});

test("a picture shows the least and the most of each pixel, and all points where there is room", () => {
  const times = Float64Array.from({ length: 10_000 }, (_, i) => i / 100);
  const values = times.map((time) => (time === 50 ? 1e6 : Math.sin(time)));
  const few = visible({ times, values }, 0, 100, 100);
  assert.ok(few.times.length <= 220 && Math.max(...few.values) === 1e6);
  assert.deepEqual(Array.from(visible({ times, values }, 10, 10.03, 100).times), [9.99, 10, 10.01, 10.02, 10.03]);
  const rates = goodput({ times: Float64Array.of(1, 2, 3, 4), values: Float64Array.of(100, 200, 300, 1000) }, 2);
  assert.deepEqual([rates.times, rates.values], [[2, 4], [800, 3200]]);
});
