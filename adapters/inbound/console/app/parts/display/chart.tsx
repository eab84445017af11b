import { messages, number } from '../../language.ts';

const m = messages(
  { nothing: 'None in this time.', table: 'As a table', most: 'At most {n} a day', total: 'Together' },
  { nothing: 'Keine in dieser Zeit.', table: 'Als Tabelle', most: 'Höchstens {n} am Tag', total: 'Zusammen' },
);

export interface Series {
  readonly name: string;
  readonly values: readonly number[];
}

const width = 640;
const height = 160;

/** Bars over time, one stack for each label; the same as a table for those who do not see it. */
export function Chart({
  labels,
  series,
  title,
}: {
  readonly labels: readonly string[];
  readonly series: readonly Series[];
  readonly title: string;
}) {
  const totals = labels.map((_, n) => series.reduce((sum, { values }) => sum + (values[n] ?? 0), 0));
  const most = Math.max(1, ...totals);
  if (!totals.some((one) => one > 0)) return <p class="quiet">{m('nothing')}</p>;
  const step = width / Math.max(1, labels.length);
  const bar = Math.max(2, step * 0.72);
  const scale = (value: number): number => (value / most) * (height - 4);
  const every = Math.ceil(labels.length / 6);
  return (
    <figure class="chart">
      <figcaption class="quiet">{m('most', { n: Math.max(0, ...totals) })}</figcaption>
      <svg viewBox={`0 0 ${width} ${height + 22}`} role="img" aria-label={title}>
        <line class="axis" x1="0" x2={width} y1={height} y2={height} />
        {labels.map((label, n) => {
          let top = height;
          return (
            <g key={label}>
              {series.map(({ name, values }, which) => {
                const tall = scale(values[n] ?? 0);
                top -= tall;
                return tall === 0 ? null : (
                  <rect
                    key={name}
                    class={`series-${which % 6}`}
                    x={n * step + (step - bar) / 2}
                    y={top}
                    width={bar}
                    height={tall}
                    rx="1.5"
                  >
                    <title>{`${label} · ${name}: ${number(values[n] ?? 0)}`}</title>
                  </rect>
                );
              })}
              {n % every === 0 && (
                <text x={n * step + step / 2} y={height + 16} text-anchor={n === 0 ? 'start' : 'middle'}>
                  {label}
                </text>
              )}
            </g>
          );
        })}
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
                  <th scope="col" key={name}>
                    {name}
                  </th>
                ))}
                {series.length > 1 && <th scope="col">{m('total')}</th>}
              </tr>
            </thead>
            <tbody>
              {labels.map((label, n) => (
                <tr key={label}>
                  <th scope="row">{label}</th>
                  {series.map(({ name, values }) => (
                    <td class="number" key={name}>
                      {number(values[n] ?? 0)}
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
