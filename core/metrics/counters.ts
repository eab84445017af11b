/** A value with its labels, in the order in which they are named. */
export interface Sample {
  /** Behind the family's name: `_bucket`, `_sum`, `_count`. */
  readonly suffix?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Measurements of one kind. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Counted by this process alone; the others count for themselves. */
  readonly perProcess: boolean;
  readonly samples: readonly Sample[];
}

/** More combinations of labels than this are counted together. */
const mostSeries = 1000;
const overflow = 'other';

/** Counts by labels. Labels are few and known: never what a stranger sent. */
export class Counter {
  readonly #name: string;
  readonly #help: string;
  readonly #labels: readonly string[];
  readonly #counts = new Map<string, number>();

  constructor(name: string, help: string, labels: readonly string[]) {
    this.#name = name;
    this.#help = help;
    this.#labels = labels;
  }

  add(...values: readonly string[]): void {
    let key = values.join('\n');
    if (!this.#counts.has(key) && this.#counts.size >= mostSeries)
      key = values.map(() => overflow).join('\n');
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  family(): MetricFamily {
    const samples = [...this.#counts].map(([key, value]) => ({ labels: labelled(this.#labels, key), value }));
    return { name: this.#name, help: this.#help, type: 'counter', perProcess: true, samples };
  }
}

/** How long something took, in seconds, by one label. */
export class Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #label: string;
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, { readonly buckets: Float64Array; sum: number }>();

  constructor(name: string, help: string, label: string, bounds: readonly number[]) {
    this.#name = name;
    this.#help = help;
    this.#label = label;
    this.#bounds = bounds;
  }

  observe(value: string, seconds: number): void {
    let series = this.#series.get(value);
    if (!series) {
      series = { buckets: new Float64Array(this.#bounds.length + 1), sum: 0 };
      this.#series.set(value, series);
    }
    let n = 0;
    while (n < this.#bounds.length && seconds > this.#bounds[n]!) n++;
    series.buckets[n]!++;
    series.sum += seconds;
  }

  family(): MetricFamily {
    const samples = [...this.#series].flatMap(([value, { buckets, sum }]): Sample[] => {
      const labels = { [this.#label]: value };
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

function labelled(names: readonly string[], key: string): Record<string, string> {
  const values = key.split('\n');
  return Object.fromEntries(names.map((name, n) => [name, values[n] ?? '']));
}
