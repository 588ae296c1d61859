// A scenario's text: its values, and a value written into it with all else left as it stands.

import { parse as parseToml, stringify } from "smol-toml";

const isTable = (value) => typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);

function over(below, above) {
  if (!isTable(below) || !isTable(above)) return above;
  const merged = { ...below };
  for (const [key, value] of Object.entries(above)) merged[key] = key in below ? over(below[key], value) : value;
  // A table whose model or scheme is another one keeps nothing of the old.
  for (const tag of ["model", "scheme"]) {
    if (above[tag] !== undefined && below[tag] !== undefined && above[tag] !== below[tag]) return above;
  }
  return merged;
}

/** What the text says over what it extends; undefined where it is no TOML. */
export function read(text, presets) {
  let own;
  try {
    own = parseToml(text);
  } catch {
    return undefined;
  }
  const below = [own.extends ?? []].flat().map((name) => read(presets[String(name).replace(/^preset:/, "")] ?? "", presets) ?? {});
  const merged = [...below, own].reduce(over, {});
  return merged;
}

export const get = (values, path) => path.reduce((value, key) => (isTable(value) ? value[key] : undefined), values);

/** The keys of "links.satellite" or "links.'my link'". */
function keys(dotted) {
  return [...dotted.matchAll(/"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+)/g)].map(([, a, b, c]) => a ?? b ?? c);
}

const quoted = (key) => (/^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key));
const same = (a, b) => a.length === b.length && a.every((key, i) => key === b[i]);

/** Where the value ends that begins at `start`: at the end of its line outside of brackets and strings, before a comment. */
function end(text, start) {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const quote = /^("""|'''|"|')/.exec(text.slice(at, at + 3))?.[1];
    if (quote) {
      at += quote.length;
      while (at < text.length && !text.startsWith(quote, at)) at += text[at] === "\\" && quote[0] === '"' ? 2 : 1;
      at += quote.length;
      continue;
    }
    if ("[{".includes(text[at])) depth += 1;
    if ("]}".includes(text[at])) depth -= 1;
    if (depth === 0 && (text[at] === "\n" || text[at] === "#")) break;
    at += 1;
  }
  return start + text.slice(start, at).trimEnd().length;
}

/** All tables' headers and all keys' values of a text, with their places. */
function places(text) {
  const found = { tables: [{ path: [], end: 0 }], values: [] };
  let table = found.tables[0];
  let at = 0;
  while (at < text.length) {
    const line = text.slice(at, (text.indexOf("\n", at) + 1 || text.length + 1) - 1);
    const header = /^\s*\[([^[\]]+)\]\s*(#.*)?$/.exec(line);
    const key = /^\s*((?:"[^"]*"|'[^']*'|[A-Za-z0-9_.-]|\s*\.\s*)+?)\s*=\s*/.exec(line);
    let next = at + line.length;
    if (header) {
      table.next = at;
      table = { path: keys(header[1]), start: at, end: next, next: text.length };
      found.tables.push(table);
    } else if (key) {
      const start = at + key[0].length;
      next = end(text, start);
      found.values.push({ path: [...table.path, ...keys(key[1])], start, end: next });
      table.end = next;
      next = (text.indexOf("\n", next) + 1 || text.length + 1) - 1;
    }
    at = next + 1;
  }
  return found;
}

const toml = (value) =>
  isTable(value)
    ? `{ ${Object.entries(value).map(([key, one]) => `${quoted(key)} = ${toml(one)}`).join(", ")} }`
    : stringify({ value }).trim().replace(/^value\s*=\s*/, "");

function set(values, path, value) {
  const [key, ...rest] = path;
  return { ...values, [key]: rest.length ? set(isTable(values?.[key]) ? values[key] : {}, rest, value) : value };
}

/** The text with `value` at `path`; where it stands in an inline table, in that; else in the table of its key, or in a new one. */
export function write(text, path, value) {
  const { tables, values } = places(text);
  const there = values.find((one) => same(one.path, path));
  if (there) return text.slice(0, there.start) + toml(value) + text.slice(there.end);
  const around = values.find((one) => one.path.length < path.length && same(one.path, path.slice(0, one.path.length)));
  if (around) {
    const old = parseToml(`value = ${text.slice(around.start, around.end)}`).value;
    const inner = set(isTable(old) ? old : {}, path.slice(around.path.length), value);
    return text.slice(0, around.start) + toml(inner) + text.slice(around.end);
  }
  const own = tables.findLast((one) => one.path.length && same(one.path.slice(0, path.length), path));
  // A table of this path, and one below it, gives way to the value as a whole.
  if (own) return write(`${text.slice(0, own.start).trimEnd()}\n\n${text.slice(own.next)}`.trimEnd() + "\n", path, value);
  const parent = path.slice(0, -1);
  const table = tables.find((one) => same(one.path, parent));
  const line = `${quoted(path.at(-1))} = ${toml(value)}`;
  if (table && (parent.length || table.end)) return `${text.slice(0, table.end)}\n${line}${text.slice(table.end)}`;
  if (!parent.length) return `${line}\n${text}`;
  return `${text.trimEnd()}\n\n[${parent.map(quoted).join(".")}]\n${line}\n`;
}
