import { useList } from '../../data.ts';
import { messages } from '../../language.ts';
import { actionTitle } from '../audit/action-words.ts';
import { Answer, Empty } from './answer.tsx';
import { Badge } from './facts.tsx';
import { Text } from './text.tsx';
import { When } from './when.tsx';

const m = messages(
  {
    failed: 'Failed',
    more: 'Older events are in the audit log.',
    nothing: 'No events yet',
    refused: 'Rejected',
  },
  {
    failed: 'Fehlgeschlagen',
    more: 'Ältere Ereignisse stehen im Prüfprotokoll.',
    nothing: 'Noch keine Ereignisse',
    refused: 'Abgelehnt',
  },
);

interface AuditEvent {
  readonly id: number;
  readonly created_at: string;
  readonly actor: { readonly kind: string; readonly name: string };
  readonly action: string;
  readonly outcome: 'success' | 'refused' | 'failed';
  readonly detail: Readonly<Record<string, string | number | boolean | null>>;
}

/**
 * What happened to something, the newest first, from the audit trail: to an `object` such as `device:7`, or what a `path` of the API
 * answers.
 */
export function Timeline(of: { readonly object: string } | { readonly path: string }) {
  const asked = useList<AuditEvent>(
    'path' in of
      ? `${of.path}?limit=50`
      : `/api/audit-events/?limit=50&object=${encodeURIComponent(of.object)}`,
  );
  return (
    <Answer of={asked}>
      {({ records, next }) =>
        records.length === 0 ? (
          <Empty title={m('nothing')} />
        ) : (
          <>
            <ul class="plain-list card">
              {records.map(({ id, created_at, actor, action, outcome, detail }) => (
                <li key={id}>
                  <span>
                    <strong>
                      <Text of={actionTitle(action)} />
                    </strong>{' '}
                    {outcome !== 'success' && <Badge look="bad">{m(outcome)}</Badge>}{' '}
                    <span class="quiet">
                      <Text
                        of={Object.entries(detail)
                          .map(([name, value]) => `${name}: ${value}`)
                          .join(' · ')}
                      />
                    </span>
                  </span>
                  <span class="quiet">
                    <Text of={actor.name === '' ? actor.kind : actor.name} /> · <When at={created_at} />
                  </span>
                </li>
              ))}
            </ul>
            {next !== undefined && <p class="quiet">{m('more')}</p>}
          </>
        )
      }
    </Answer>
  );
}
