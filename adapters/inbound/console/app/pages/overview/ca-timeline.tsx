import { useRead } from '../../data.ts';
import { exactTime, fromNow, messages, moment } from '../../language.ts';
import { Answer } from '../../parts/display/answer.tsx';
import { type Expiring, ExpiryLine, ExpiryScale } from '../../parts/display/expiry-axis.tsx';
import { Card } from '../../parts/display/facts.tsx';
import { Text } from '../../parts/display/text.tsx';
import type { CaPosition } from '../../records.ts';

const m = messages(
  {
    all: 'All CAs',
    ca: 'CA certificate',
    caExpired: 'CA expired {when}',
    caExpires: 'CA expires {when}',
    crl: 'CRL',
    crlExpired: 'CRL expired {when}',
    crlExpires: 'CRL expires {when}',
    none: 'No CAs yet.',
    noCrl: 'No CRL',
    title: 'CA and CRL expiry',
  },
  {
    all: 'Alle CAs',
    ca: 'CA-Zertifikat',
    caExpired: 'CA {when} abgelaufen',
    caExpires: 'CA läuft {when} ab',
    crl: 'Sperrliste',
    crlExpired: 'Sperrliste {when} abgelaufen',
    crlExpires: 'Sperrliste läuft {when} ab',
    none: 'Noch keine CAs.',
    noCrl: 'Keine Sperrliste',
    title: 'Ablauf von CAs und Sperrlisten',
  },
);

const day = 86_400_000;
/** Milliseconds before the end at which it is urgent, and is soon. */
const limits = { ca: { bad: 30 * day, warn: 180 * day }, crl: { bad: 0, warn: 2 * day } } as const;
const mostRows = 8;

const endOf = (text: string, look: 'ca' | 'crl'): Expiring => {
  const at = moment(text).getTime();
  const left = at - Date.now();
  return { at, look, urgency: left <= limits[look].bad ? 'bad' : left < limits[look].warn ? 'warn' : 'good' };
};

/** When each CA and its CRL expire, the most urgent first. */
export function CaTimeline() {
  const asked = useRead<readonly CaPosition[]>('/api/ca-hierarchy/');
  return (
    <Card title={m('title')} actions={<a href="/cas">{m('all')}</a>}>
      <Answer of={asked}>
        {(found) => {
          const rows = found
            .filter(({ is_active: isActive }) => isActive)
            .map((ca) => ({
              ca,
              ends: [
                endOf(ca.not_valid_after, 'ca'),
                ...(ca.crl ? [endOf(ca.crl.next_update, 'crl')] : []),
              ] as const,
            }))
            .sort((a, b) => urgencyOf(b.ends) - urgencyOf(a.ends) || soonest(a.ends) - soonest(b.ends))
            .slice(0, mostRows);
          if (rows.length === 0) return <p class="quiet">{m('none')}</p>;
          return (
            <div class="expiry">
              <div>
                <p class="legend">
                  <span class="key ca">{m('ca')}</span>
                  <span class="key crl">{m('crl')}</span>
                </p>
                <ExpiryScale />
              </div>
              <ul>
                {rows.map(({ ca, ends }) => (
                  <li key={ca.id}>
                    <p>
                      <a href={`/cas/${ca.id}`}>
                        <Text of={ca.unique_name} />
                      </a>
                      {ends.map((end) => (
                        <End key={end.look} of={end} />
                      ))}
                      {ca.crl === null && <span class="quiet">{m('noCrl')}</span>}
                    </p>
                    <ExpiryLine of={ends} />
                  </li>
                ))}
              </ul>
            </div>
          );
        }}
      </Answer>
    </Card>
  );
}

const weights = { good: 0, warn: 1, bad: 2 } as const;
const urgencyOf = (ends: readonly Expiring[]): number =>
  Math.max(...ends.map(({ urgency }) => weights[urgency]));
const soonest = (ends: readonly Expiring[]): number => Math.min(...ends.map(({ at }) => at));

function End({ of: { at, look, urgency } }: { readonly of: Expiring }) {
  const when = new Date(at);
  const isOver = at <= Date.now();
  const key = look === 'ca' ? (isOver ? 'caExpired' : 'caExpires') : isOver ? 'crlExpired' : 'crlExpires';
  return (
    <time
      class={urgency === 'good' ? 'quiet' : urgency}
      dateTime={when.toISOString()}
      title={exactTime(when)}
    >
      {m(key, { when: fromNow(when) })}
    </time>
  );
}
