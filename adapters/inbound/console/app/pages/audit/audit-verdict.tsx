import { messages, number } from '../../language.ts';
import { Card } from '../../parts/display/facts.tsx';
import { Code, Text } from '../../parts/display/text.tsx';

const m = messages(
  {
    anchor: 'The newest seal has the number {n}. The log of the service has it too, with this digest:',
    anchorNone: 'No seal has been set yet: the first one is set some time after the start.',
    bad: 'The audit log is not as it was written',
    badAt: 'event {event}',
    badNext:
      'Somebody with access to the database has changed it, or it was put back to an earlier state. Keep a copy before anything else, and compare it with a backup.',
    chains: { one: 'in {n} chain', other: 'in {n} chains' },
    good: 'The audit log is intact',
    goodLead: 'No event was changed, removed, inserted or moved.',
    events: { one: '{n} event has been read', other: '{n} events have been read' },
    verdict: 'Verification',
  },
  {
    anchor:
      'Das neueste Siegel hat die Nummer {n}. Im Protokoll des Dienstes steht es auch, mit dieser Prüfsumme:',
    anchorNone: 'Noch ist kein Siegel gesetzt: Das erste folgt einige Zeit nach dem Start.',
    bad: 'Das Prüfprotokoll ist nicht, wie es geschrieben wurde',
    badAt: 'Ereignis {event}',
    badNext:
      'Jemand mit Zugang zur Datenbank hat es geändert, oder sie wurde auf einen früheren Stand zurückgesetzt. Sichern Sie zuerst eine Kopie, und vergleichen Sie diese mit einer Sicherung.',
    chains: { one: 'in {n} Kette', other: 'in {n} Ketten' },
    good: 'Das Prüfprotokoll ist unversehrt',
    goodLead: 'Kein Ereignis wurde geändert, entfernt, eingefügt oder verschoben.',
    events: { one: '{n} Ereignis wurde gelesen', other: '{n} Ereignisse wurden gelesen' },
    verdict: 'Prüfung',
  },
);

/** Whether the log is as it was written. */
export interface Verdict {
  readonly is_intact: boolean;
  readonly events: number;
  readonly chains: number;
  readonly anchor: { readonly number: number; readonly digest: string } | null;
  readonly problems: readonly {
    readonly chain: string;
    readonly sequence: number;
    readonly event: number | null;
    readonly detail: string;
  }[];
}

export const AuditVerdict = ({
  of: { is_intact: isIntact, events, chains, anchor, problems },
}: {
  readonly of: Verdict;
}) => (
  <Card title={m('verdict')}>
    <div class={`notice ${isIntact ? 'good' : 'bad'}`}>
      <p>
        <strong>{m(isIntact ? 'good' : 'bad')}</strong>
      </p>
      <p>
        {isIntact && m('goodLead')} {m('events', { n: events })}, {m('chains', { n: chains })}.
      </p>
      {!isIntact && <p>{m('badNext')}</p>}
    </div>
    {problems.length > 0 && (
      <ul class="plain-list">
        {problems.map(({ chain, sequence, event, detail }) => (
          <li key={`${chain} ${sequence}`}>
            <Text of={detail} />
            <span class="quiet">
              {event !== null && `${m('badAt', { event: number(event) })} · `}
              <Code of={chain} /> {number(sequence)}
            </span>
          </li>
        ))}
      </ul>
    )}
    {anchor === null ? (
      <p class="quiet">{m('anchorNone')}</p>
    ) : (
      <div>
        <p class="quiet">{m('anchor', { n: anchor.number })}</p>
        <p>
          <Code of={anchor.digest} />
        </p>
      </div>
    )}
  </Card>
);
