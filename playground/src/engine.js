// The engine: a module in this file, run by a worker that is replaced where it is stopped.

import { XzReadableStream } from "xz-decompress";

const element = (id) => document.getElementById(id).textContent.trim();

async function unpacked(base64) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  return new Response(new XzReadableStream(new Blob([bytes]).stream())).arrayBuffer();
}

export class Engine {
  #module;
  #worker;
  #waiting;
  #number = 0;

  static async load() {
    const engine = new Engine();
    engine.#module = await WebAssembly.compile(await unpacked(element("engine")));
    engine.#begin();
    return engine;
  }

  #begin() {
    const source = new Blob([element("worker")], { type: "text/javascript" });
    const address = URL.createObjectURL(source);
    this.#worker = new Worker(address);
    URL.revokeObjectURL(address);
    this.#worker.onmessage = ({ data }) => {
      if (data.id !== this.#waiting?.id) return;
      const { resolve, reject, more } = this.#waiting;
      if (!data.answers && !data.failure) return more(data);
      this.#waiting = undefined;
      if (data.failure) {
        // A worker whose engine failed is not asked again.
        this.stop();
        reject(new Error(data.failure));
      } else resolve(data.answers);
    };
    this.#worker.postMessage({ module: this.#module });
  }

  get busy() {
    return this.#waiting !== undefined;
  }

  /** Ends what runs; its promise is rejected with "stopped". */
  stop() {
    this.#worker.terminate();
    this.#waiting?.reject(new Error("stopped"));
    this.#waiting = undefined;
    this.#begin();
  }

  /** Answers all `requests`, one after the other, each by a text; stops what runs. `more` is told of what goes on. */
  run(requests, more) {
    if (this.busy) this.stop();
    this.#number += 1;
    const id = this.#number;
    return new Promise((resolve, reject) => {
      this.#waiting = { id, resolve, reject, more };
      this.#worker.postMessage({ id, requests });
    });
  }
}
