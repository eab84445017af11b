import { useEffect, useRef, useState } from 'preact/hooks';
import { messages, number } from '../../language.ts';

const m = messages(
  { nothing: 'None in this period.', table: 'Show as a table', total: 'Total' },
  { nothing: 'Keine in diesem Zeitraum.', table: 'Als Tabelle zeigen', total: 'Summe' },
);

export interface Series {
  readonly name: string;
  readonly values: readonly number[];
  /** A count went up to the most that is counted: there may be more. */
  readonly isCapped?: readonly boolean[];
}

const height = 180;
const room = { left: 40, right: 6, top: 10, bottom: 24 } as const;

/** The width of an element in pixels, so that a drawing in it has the size of its text at every width. */
export function useWidth<E extends Element>(otherwise: number) {
  const element = useRef<E>(null);
  const [width, setWidth] = useState(otherwise);
  useEffect(() => {
    const { current } = element;
    if (!current) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry && entry.contentRect.width > 0) setWidth(Math.round(entry.contentRect.width));
    });
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return [element, width] as const;
}

/** Round steps of a value axis, at most five, up to the greatest value or beyond: 0, 20, 40, 60. */
function axisSteps(most: number): readonly number[] {
  const rough = Math.max(1, most / 4);
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = Math.ceil(([1, 2, 5, 10].find((one) => one * magnitude >= rough) ?? 10) * magnitude);
  return Array.from({ length: Math.max(2, Math.ceil(most / step) + 1) }, (_, n) => n * step);
}

/**
 * Bars over days, one stack for each, with a value axis. A bar shows its figures when the pointer is on it, and leads to what it
 * counts. The drawing is for those who see it; the table below has the same figures and links.
 */
export function Chart({
  labels,
  series,
  title,
  href,
}: {
  readonly labels: readonly string[];
  readonly series: readonly Series[];
  readonly title: string;
  /** Where the nth bar leads. */
  readonly href: (n: number) => string;
}) {
  const [figure, width] = useWidth<HTMLElement>(640);
  const [pointed, setPointed] = useState<number>();
  const totals = labels.map((_, n) => series.reduce((sum, { values }) => sum + (values[n] ?? 0), 0));
  const steps = axisSteps(Math.max(0, ...totals));
  const top = steps.at(-1) ?? 1;
  const inner = width - room.left - room.right;
  const step = inner / Math.max(1, labels.length);
  const bar = Math.max(2, step * 0.72);
  const y = (value: number): number =>
    height - room.bottom - (value / top) * (height - room.bottom - room.top);
  const every = Math.ceil(labels.length / Math.max(2, Math.floor(inner / 90)));
  if (!totals.some((one) => one > 0)) return <p class="quiet chart">{m('nothing')}</p>;
  return (
    <figure class="chart" ref={figure}>
      <svg viewBox={`0 0 ${width} ${height}`} aria-hidden="true" onMouseLeave={() => setPointed(undefined)}>
        {steps.map((value) => (
          <g key={value}>
            <line
              class={value === 0 ? 'axis' : 'grid'}
              x1={room.left}
              x2={width - room.right}
              y1={y(value)}
              y2={y(value)}
            />
            <text x={room.left - 8} y={y(value) + 4} text-anchor="end">
              {number(value)}
            </text>
          </g>
        ))}
        {labels.map((label, n) => {
          let base = 0;
          return (
            <a key={label} href={href(n)} tabindex={-1} onMouseEnter={() => setPointed(n)}>
              <rect
                class={pointed === n ? 'hit pointed' : 'hit'}
                x={room.left + n * step}
                y={room.top}
                width={step}
                height={height - room.bottom - room.top}
              />
              {series.map(({ name, values }, which) => {
                const value = values[n] ?? 0;
                base += value;
                return value === 0 ? null : (
                  <rect
                    key={name}
                    class={`series-${which % 6}`}
                    x={room.left + n * step + (step - bar) / 2}
                    y={y(base)}
                    width={bar}
                    height={y(base - value) - y(base)}
                    rx="1.5"
                  />
                );
              })}
              {n % every === 0 && (
                <text x={room.left + (n + 0.5) * step} y={height - 6} text-anchor="middle">
                  {label}
                </text>
              )}
            </a>
          );
        })}
        {pointed !== undefined && (
          <Tip
            lines={tipLines(series, labels[pointed] ?? '', pointed)}
            x={room.left + (pointed + 0.5) * step}
            width={width}
          />
        )}
      </svg>
      {series.length > 1 && (
        <ul class="legend" aria-hidden="true">
          {series.map(({ name }, which) => (
            <li key={name}>
              <svg viewBox="0 0 10 10" aria-hidden="true">
                <rect class={`series-${which % 6}`} width="10" height="10" rx="2" />
              </svg>
              {name}
            </li>
          ))}
        </ul>
      )}
      <details>
        <summary>{m('table')}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
        <section class="scroll" tabIndex={0} aria-label={title}>
          <table>
            <thead>
              <tr>
                <td />
                {series.map(({ name }) => (
                  <th scope="col" class="number" key={name}>
                    {name}
                  </th>
                ))}
                {series.length > 1 && (
                  <th scope="col" class="number">
                    {m('total')}
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {labels.map((label, n) => (
                <tr key={label}>
                  <th scope="row">
                    <a href={href(n)}>{label}</a>
                  </th>
                  {series.map((one) => (
                    <td class="number" key={one.name}>
                      {shown(one, n)}
                    </td>
                  ))}
                  {series.length > 1 && <td class="number">{number(totals[n] ?? 0)}</td>}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
    </figure>
  );
}

const shown = ({ values, isCapped }: Series, n: number): string =>
  `${number(values[n] ?? 0)}${isCapped?.[n] ? '+' : ''}`;

const tipLines = (series: readonly Series[], label: string, n: number): readonly string[] => [
  label,
  ...series
    .filter(({ values }) => series.length === 1 || (values[n] ?? 0) > 0)
    .map((one) => `${one.name}: ${shown(one, n)}`),
];

/** The figures of the bar under the pointer. */
function Tip({
  lines,
  x,
  width,
}: {
  readonly lines: readonly string[];
  readonly x: number;
  readonly width: number;
}) {
  const wide = Math.max(...lines.map(({ length }) => length)) * 7.2 + 20;
  const left = Math.min(Math.max(0, x + 10 + wide > width ? x - wide - 10 : x + 10), width - wide);
  return (
    <g class="tip">
      <rect x={left} y={room.top} width={wide} height={lines.length * 18 + 10} rx="6" />
      {lines.map((line, n) => (
        <text key={line} class={n === 0 ? 'strong' : undefined} x={left + 10} y={room.top + 19 + n * 18}>
          {line}
        </text>
      ))}
    </g>
  );
}
