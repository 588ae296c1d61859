// The scenario's text: keys and values are completed from the schema, and the engine's error stands at its line.

import { autocompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const style = HighlightStyle.define([
  { tag: tags.comment, color: "var(--faint)" },
  { tag: [tags.string, tags.number, tags.atom, tags.bool], color: "var(--run-2)" },
  { tag: [tags.propertyName, tags.definition(tags.variableName)], color: "var(--run-1)" },
]);

/** The part of the schema that a path leads to, all its shapes. */
function shapes(schema, path) {
  const resolve = (one) => {
    if (!one) return [];
    if (one.$ref) return resolve(schema.$defs[one.$ref.split("/").at(-1)]);
    const several = one.oneOf ?? one.anyOf ?? one.allOf;
    return [one, ...(several ?? []).flatMap(resolve)];
  };
  return path.reduce(
    (found, key) => found.flatMap((one) => resolve(one.properties?.[key] ?? (typeof one.additionalProperties === "object" ? one.additionalProperties : undefined))),
    resolve(schema),
  );
}

function complete(schema, context) {
  const line = context.state.doc.lineAt(context.pos);
  const before = line.text.slice(0, context.pos - line.from);
  const value = /^\s*([\w.-]+)\s*=\s*"?([\w.:-]*)$/.exec(before);
  const key = /^\s*([\w-]*)$/.exec(before);
  if (!value && !key) return null;
  let table = [];
  for (let number = line.number; number >= 1; number -= 1) {
    const header = /^\s*\[([^[\]]+)\]/.exec(context.state.doc.line(number).text);
    if (header) {
      table = header[1].split(".").map((one) => one.trim());
      break;
    }
  }
  if (key) {
    if (!context.explicit && key[1] === "") return null;
    const found = shapes(schema, table).flatMap((one) => Object.entries(one.properties ?? {}));
    const options = [...new Map(found)].map(([label, { description }]) => ({ label, apply: `${label} = `, info: description, type: "property" }));
    return { from: context.pos - key[1].length, options };
  }
  const found = shapes(schema, [...table, ...value[1].split(".")]);
  const words = found.flatMap((one) => [...(one.enum ?? []), ...(one.const === undefined ? [] : [one.const])]);
  const options = [...new Set(words)].map((word) => ({ label: String(word), type: "enum" }));
  return options.length ? { from: context.pos - value[2].length, options } : null;
}

export class Editor {
  #view;
  #own = false;

  constructor(parent, schema, changed) {
    this.#view = new EditorView({
      parent,
      state: EditorState.create({
        extensions: [
          lineNumbers(),
          history(),
          keymap.of([...completionKeymap, ...historyKeymap, ...defaultKeymap]),
          StreamLanguage.define(toml),
          syntaxHighlighting(style),
          autocompletion({ override: [(context) => complete(schema, context)] }),
          EditorView.contentAttributes.of({ "aria-label": "scenario, in TOML" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged && !this.#own) changed();
          }),
        ],
      }),
    });
  }

  get text() {
    return this.#view.state.doc.toString();
  }

  /** Another text, which is not told of as a change of somebody's. */
  set text(text) {
    if (text === this.text) return;
    this.#own = true;
    this.#view.dispatch({ changes: { from: 0, to: this.#view.state.doc.length, insert: text } });
    this.#own = false;
  }

  /** Marks the line of an error, or none. */
  mark(fault) {
    const { doc } = this.#view.state;
    const there = fault?.line && fault.line <= doc.lines ? doc.line(fault.line) : undefined;
    const marks = there ? [{ from: there.from, to: there.to, severity: "error", message: fault.message }] : [];
    this.#view.dispatch(setDiagnostics(this.#view.state, marks));
  }
}
