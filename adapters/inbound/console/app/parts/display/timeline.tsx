import type { ComponentChildren } from 'preact';
import { useList } from '../../data.ts';
import { messages } from '../../language.ts';
import { actionTitle } from '../audit/action-words.ts';
import { Answer, Empty } from './answer.tsx';
import { Badge, Facts } from './facts.tsx';
import { plain, Text } from './text.tsx';
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
                <li key={id} class="event">
                  <Line of={detail}>
                    <strong>
                      <Text of={actionTitle(action)} />
                    </strong>{' '}
                    {outcome !== 'success' && <Badge look="bad">{m(outcome)}</Badge>}
                  </Line>
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

/** An event on one line: the beginning of its details, which open to the whole of them. */
function Line({ of, children }: { readonly of: AuditEvent['detail']; readonly children: ComponentChildren }) {
  const details = Object.entries(of);
  if (details.length === 0) return <span>{children}</span>;
  return (
    <details>
      <summary>
        {children}{' '}
        <span class="quiet">{plain(details.map(([name, value]) => `${name}: ${value}`).join(' · '))}</span>
      </summary>
      <Facts rows={details.map(([name, value]) => [name, <Text key={name} of={String(value)} />])} />
    </details>
  );
}
