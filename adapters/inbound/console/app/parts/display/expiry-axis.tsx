import { messages } from '../../language.ts';
import { useWidth } from './chart.tsx';

const m = messages(
  { day: '1 day', month: '1 month', now: 'Now', tenYears: '10 years', week: '1 week', year: '1 year' },
  { day: '1 Tag', month: '1 Monat', now: 'Jetzt', tenYears: '10 Jahre', week: '1 Woche', year: '1 Jahr' },
);

const day = 86_400_000;
const ticks = [
  ['now', 0],
  ['day', 1],
  ['week', 7],
  ['month', 30],
  ['year', 365],
  ['tenYears', 3650],
] as const;
const longest = 30 * 365;
const edge = 30;

/**
 * A place on a time axis from now to thirty years on. The nearer, the wider: the next week has as much room as the years at the
 * end, because a CRL lives for days and a CA for years.
 */
const position = (milliseconds: number, width: number): number => {
  const days = Math.min(longest, Math.max(0, milliseconds / day));
  return edge + (Math.log10(1 + days) / Math.log10(1 + longest)) * (width - 2 * edge);
};

/** The axis itself, above the rows. */
export function ExpiryScale() {
  const [element, width] = useWidth<HTMLDivElement>(480);
  return (
    <div ref={element} class="expiry-axis">
      <svg viewBox={`0 0 ${width} 18`} aria-hidden="true">
        {ticks
          .filter(([name]) => width > 520 || (name !== 'day' && name !== 'month'))
          .map(([name, days]) => (
            <text key={name} x={position(days * day, width)} y="13" text-anchor="middle">
              {m(name)}
            </text>
          ))}
      </svg>
    </div>
  );
}

export interface Expiring {
  readonly at: number;
  readonly look: 'ca' | 'crl';
  readonly urgency: 'good' | 'warn' | 'bad';
}

/** A row of the timeline: a line to the end of each. What it shows is in the text beside it. */
export function ExpiryLine({ of }: { readonly of: readonly Expiring[] }) {
  const [element, width] = useWidth<HTMLDivElement>(480);
  const now = Date.now();
  return (
    <div ref={element} class="expiry-axis">
      <svg viewBox={`0 0 ${width} 26`} aria-hidden="true">
        {ticks.map(([name, days]) => (
          <line
            key={name}
            class="grid"
            x1={position(days * day, width)}
            x2={position(days * day, width)}
            y1="0"
            y2="26"
          />
        ))}
        {of.map(({ at, look, urgency }) => {
          const x = position(at - now, width);
          const y = look === 'ca' ? 9 : 19;
          return (
            <g key={look} class={`${look} ${urgency}`}>
              <line x1={position(0, width)} x2={x} y1={y} y2={y} />
              {look === 'ca' ? <circle cx={x} cy={y} r="5" /> : <path d={`M${x} ${y - 5}l5 5l-5 5l-5-5z`} />}
            </g>
          );
        })}
      </svg>
    </div>
  );
}
