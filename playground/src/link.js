// A run's address: what the page holds, compressed, behind the #.

const through = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

export async function fragment(state) {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(state)), new CompressionStream("deflate-raw"));
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return `#s=${base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** What the fragment holds; undefined where it holds nothing of ours. */
export async function state(fragment) {
  const found = /^#s=([A-Za-z0-9_-]+)$/.exec(fragment);
  if (!found) return undefined;
  try {
    const base64 = found[1].replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const text = new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw")));
    const held = JSON.parse(text);
    return typeof held.text === "string" ? held : undefined;
  } catch {
    return undefined;
  }
}
