/** A value with the values of its labels, in the order of the label names. */
export interface Sample {
  /** The suffix of the metric name: `_bucket`, `_sum`, `_count`. */
  readonly suffix?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Measurements of one kind. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** True if each process counts only its own events. */
  readonly perProcess: boolean;
  readonly samples: readonly Sample[];
}

/** Further combinations of labels are counted together. */
const mostSeries = 1000;
const overflow = 'other';

interface Series {
  /** Of the labels. */
  readonly values: readonly string[];
  count: number;
}

/** The durations with the same labels. */
interface Observed {
  readonly values: readonly string[];
  readonly buckets: Float64Array;
  sum: number;
}

/** Counts by labels. Labels come from a small fixed set, never from untrusted input. */
export class Counter {
  readonly #name: string;
  readonly #help: string;
  readonly #labels: readonly string[];
  readonly #series = new Map<string, Series>();
  /** The next event usually has the same labels. */
  #latest: Series | undefined;

  constructor(name: string, help: string, labels: readonly string[]) {
    this.#name = name;
    this.#help = help;
    this.#labels = labels;
  }

  add(...values: readonly string[]): void {
    if (!this.#latest || !sameList(this.#latest.values, values)) this.#latest = this.#seriesOf(values);
    this.#latest.count++;
  }

  #seriesOf(values: readonly string[]): Series {
    const key = values.join('\n');
    const known = this.#series.get(key);
    if (known) return known;
    const others = values.map(() => overflow);
    if (this.#series.size >= mostSeries && !sameList(values, others)) return this.#seriesOf(others);
    const series = { values, count: 0 };
    this.#series.set(key, series);
    return series;
  }

  family(): MetricFamily {
    const samples = [...this.#series.values()].map(({ values, count }) => ({
      labels: labelled(this.#labels, values),
      value: count,
    }));
    return { name: this.#name, help: this.#help, type: 'counter', perProcess: true, samples };
  }
}

/** Measures durations in seconds, by labels. Labels come from a small fixed set, never from untrusted input. */
export class Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #labels: readonly string[];
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Observed>();
  /** The next duration usually has the same labels. */
  #latest: Observed | undefined;

  constructor(name: string, help: string, labels: readonly string[], bounds: readonly number[]) {
    this.#name = name;
    this.#help = help;
    this.#labels = labels;
    this.#bounds = bounds;
  }

  observe(seconds: number, ...values: readonly string[]): void {
    if (!this.#latest || !sameList(this.#latest.values, values)) this.#latest = this.#seriesOf(values);
    const series = this.#latest;
    let n = 0;
    while (n < this.#bounds.length && seconds > this.#bounds[n]!) n++;
    series.buckets[n]!++;
    series.sum += seconds;
  }

  #seriesOf(values: readonly string[]): Observed {
    const key = values.join('\n');
    const known = this.#series.get(key);
    if (known) return known;
    const series = { values, buckets: new Float64Array(this.#bounds.length + 1), sum: 0 };
    this.#series.set(key, series);
    return series;
  }

  family(): MetricFamily {
    const samples = [...this.#series.values()].flatMap(({ values, buckets, sum }): Sample[] => {
      const labels = labelled(this.#labels, values);
      let count = 0;
      const counted = [...this.#bounds.map(String), '+Inf'].map((le, n) => {
        count += buckets[n]!;
        return { suffix: '_bucket', labels: { ...labels, le }, value: count };
      });
      return [...counted, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: count }];
    });
    return { name: this.#name, help: this.#help, type: 'histogram', perProcess: true, samples };
  }
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  for (let n = 0; n < a.length; n++) if (a[n] !== b[n]) return false;
  return a.length === b.length;
}

function labelled(names: readonly string[], values: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name, n) => [name, values[n] ?? '']));
}
