// The curves of a run, and what of them a picture of some pixels can show.

/** Points of one curve, to which others come. */
class Column {
  #times = new Float64Array(256);
  #values = new Float64Array(256);
  #length = 0;

  add({ times, values }) {
    const length = this.#length + times.length;
    if (length > this.#times.length) {
      const larger = (old) => {
        const made = new Float64Array(2 * length);
        made.set(old);
        return made;
      };
      this.#times = larger(this.#times);
      this.#values = larger(this.#values);
    }
    this.#times.set(times, this.#length);
    this.#values.set(values, this.#length);
    this.#length = length;
  }

  get points() {
    return { times: this.#times.subarray(0, this.#length), values: this.#values.subarray(0, this.#length) };
  }
}

export class Curves {
  #columns = new Map();
  /** Time of the last point. */
  end_s = 0;

  constructor(about) {
    this.about = about;
  }

  /** Adds what a run has recorded since. */
  add(columns) {
    for (const [number, more] of columns) {
      if (!this.#columns.has(number)) this.#columns.set(number, new Column());
      this.#columns.get(number).add(more);
      this.end_s = Math.max(this.end_s, more.times.at(-1));
    }
  }

  #number(subject, kind) {
    const { flows, flow_kinds: ofFlows, links, link_kinds: ofLinks } = this.about;
    const flow = flows.indexOf(subject);
    const at = ofFlows.findIndex(([name]) => name === kind);
    if (flow >= 0 && at >= 0) return flow * ofFlows.length + at;
    return flows.length * ofFlows.length + links.indexOf(subject) * ofLinks.length + ofLinks.findIndex(([name]) => name === kind);
  }

  /** Times in s and values of one curve; both empty where nothing of the kind happened. */
  get(subject, kind) {
    return this.#columns.get(this.#number(subject, kind))?.points ?? { times: new Float64Array(), values: new Float64Array() };
  }

  /** The flow's name, or that of its first connection that has points. */
  subject(flow) {
    const { flows } = this.about;
    return flows.includes(flow) ? flow : flows.find((name) => name.startsWith(`${flow}/`)) ?? flows[0];
  }
}

/** The first place of `times`, which grow, that is not before `time`. */
export function first(times, time) {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The points from `from` to `to`, with one on either side; where there are too many, the least and the most of each pixel. */
export function visible({ times, values }, from, to, pixels) {
  const begin = Math.max(first(times, from) - 1, 0);
  const end = Math.min(first(times, to) + 1, times.length);
  if (end - begin <= 2 * pixels) return { times: times.slice(begin, end), values: values.slice(begin, end) };
  const kept = { times: [], values: [] };
  const keep = (at) => {
    kept.times.push(times[at]);
    kept.values.push(values[at]);
  };
  const width = (to - from) / pixels;
  for (let at = begin; at < end; ) {
    let [least, most] = [at, at];
    const until = times[at] + width;
    for (; at < end && times[at] < until; at += 1) {
      if (values[at] < values[least]) least = at;
      if (values[at] > values[most]) most = at;
    }
    keep(Math.min(least, most));
    if (least !== most) keep(Math.max(least, most));
  }
  return kept;
}

/** Goodput in bit/s over stretches of `width` seconds, from what was acknowledged; it stands at the end of each stretch. */
export function goodput({ times, values }, width) {
  const rates = { times: [], values: [] };
  let [at, before] = [0, 0];
  const last = times.at(-1) ?? 0;
  for (let end = width; end < last + width && times.length; end += width) {
    while (at < times.length && times[at] <= end) at += 1;
    const acked = at ? values[at - 1] : 0;
    rates.times.push(end);
    rates.values.push(((acked - before) * 8) / width);
    before = acked;
  }
  return rates;
}
