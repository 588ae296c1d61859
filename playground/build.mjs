// Makes the page: one file that needs no server and no network. usage: node build.mjs OUT.html
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { build } from "esbuild";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const out = process.argv[2] ?? here("../target/playground/index.html");

const about = execFileSync(here("../.venv/bin/python"), [here("about.py")], { encoding: "utf8", maxBuffer: 1 << 26 });

/** xz takes two thirds of the room that gzip takes for the engine. */
function packed(bytes) {
  const filters = "[{'id': lzma.FILTER_LZMA2, 'preset': 9 | lzma.PRESET_EXTREME, 'lc': 4, 'lp': 0, 'pb': 0}]";
  const program = `import lzma, sys; sys.stdout.buffer.write(lzma.compress(sys.stdin.buffer.read(), check=lzma.CHECK_CRC32, filters=${filters}))`;
  return execFileSync(here("../.venv/bin/python"), ["-c", program], { input: bytes, maxBuffer: 1 << 26 });
}

const bundle = async (name, format) => {
  const made = await build({ entryPoints: [here(`src/${name}`)], bundle: true, minify: true, format, target: "es2022", legalComments: "inline", write: false });
  return made.outputFiles[0].text;
};

const style = readFileSync(here("node_modules/uplot/dist/uPlot.min.css"), "utf8") + readFileSync(here("src/style.css"), "utf8");
const parts = {
  STYLE: style,
  // In a script element nothing but its end is special.
  ABOUT: about.replaceAll("</", "<\\/"),
  ENGINE: packed(readFileSync(here("../target/wasm/bentpipe.wasm"))).toString("base64"),
  WORKER: (await bundle("worker.js", "iife")).replaceAll("</script", "<\\/script"),
  MAIN: (await bundle("main.js", "esm")).replaceAll("</script", "<\\/script"),
};
const page = readFileSync(here("src/index.html"), "utf8").replace(/\/\*([A-Z]+)\*\//g, (_, name) => parts[name]);
mkdirSync(dirname(out), { recursive: true });
writeFileSync(`${out}.part`, page);
renameSync(`${out}.part`, out);
for (const [name, text] of [...Object.entries(parts), ["page", page]]) {
  console.log(`${name.toLowerCase().padEnd(7)} ${Math.ceil(gzipSync(text, { level: 9 }).length / 1000)} kB compressed`);
}
