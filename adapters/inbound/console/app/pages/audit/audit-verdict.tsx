import { messages, number } from '../../language.ts';
import { Card } from '../../parts/display/facts.tsx';
import { Code, Text } from '../../parts/display/text.tsx';

const m = messages(
  {
    anchor: 'The newest seal has the number {n}. Compare its digest with the one in the service log:',
    anchorNone: 'The audit log has no seal yet. Postern sets the first one some time after its start.',
    bad: 'The audit log was tampered with',
    badAt: 'event {event}',
    badNext:
      'Somebody with access to the database changed the audit log, or the database was reset to an earlier state. Make a copy of the database first, then compare it with a backup.',
    chains: { one: 'in {n} chain', other: 'in {n} chains' },
    good: 'The audit log is intact',
    goodLead: 'No event was changed, removed, inserted or moved.',
    events: { one: '{n} event checked', other: '{n} events checked' },
    verdict: 'Verification',
  },
  {
    anchor:
      'Das neueste Siegel hat die Nummer {n}. Vergleichen Sie seine Prüfsumme mit der im Protokoll des Dienstes:',
    anchorNone: 'Das Prüfprotokoll hat noch kein Siegel. Postern setzt das erste einige Zeit nach dem Start.',
    bad: 'Das Prüfprotokoll wurde verändert',
    badAt: 'Ereignis {event}',
    badNext:
      'Jemand mit Zugang zur Datenbank hat das Prüfprotokoll geändert, oder die Datenbank wurde auf einen früheren Stand zurückgesetzt. Kopieren Sie zuerst die Datenbank, und vergleichen Sie die Kopie mit einer Sicherung.',
    chains: { one: 'in {n} Kette', other: 'in {n} Ketten' },
    good: 'Das Prüfprotokoll ist unversehrt',
    goodLead: 'Kein Ereignis wurde geändert, entfernt, eingefügt oder verschoben.',
    events: { one: '{n} Ereignis geprüft', other: '{n} Ereignisse geprüft' },
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
