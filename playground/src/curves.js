// The curves of a run, and what of them a picture of some pixels can show.

export class Curves {
  constructor(about, columns) {
    this.about = about;
    this.columns = columns;
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
    return this.columns.get(this.#number(subject, kind)) ?? { times: new Float64Array(), values: new Float64Array() };
  }

  /** The flow's name, or that of its first connection that has points. */
  subject(flow) {
    const { flows } = this.about;
    return flows.includes(flow) ? flow : flows.find((name) => name.startsWith(`${flow}/`)) ?? flows[0];
  }
}

/** The first place of `times`, which grow, that is not before `time`. */
function first(times, time) {
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
