import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError, NoAnswer } from '../../api.ts';
import type { Asked } from '../../data.ts';
import { messages } from '../../language.ts';
import { words } from '../../words.ts';
import { Text } from './text.tsx';

const m = messages(
  {
    conflict: 'The current state does not allow this action',
    forbidden: 'Your role does not allow this action',
    forbiddenNext: 'Ask an administrator for a role that has the permission.',
    invalid: 'The request is not valid',
    notFound: 'Not found',
    notFoundNext: 'It may have been deleted, or the address is wrong.',
    server: 'The service could not complete the request',
    serverNext: 'Try again. If it happens again, look for the reason in the service log.',
    tooLong: 'The service did not respond in time',
    tooMany: 'Too many attempts',
    tooManyNext: 'Try again in {seconds} seconds.',
    unavailable: 'A part that the service depends on is unavailable',
    unavailableNext: 'Try again in a moment. The overview shows which part is unavailable.',
    unreachable: 'The service does not respond',
    unreachableNext: 'Check the network, and whether the service is running. Stored data is not lost.',
  },
  {
    conflict: 'Der aktuelle Zustand lässt diese Aktion nicht zu',
    forbidden: 'Ihre Rolle erlaubt diese Aktion nicht',
    forbiddenNext: 'Bitten Sie jemanden aus der Administration um eine Rolle mit dieser Berechtigung.',
    invalid: 'Die Angaben sind nicht gültig',
    notFound: 'Nicht gefunden',
    notFoundNext: 'Es wurde vielleicht gelöscht, oder die Adresse ist falsch.',
    server: 'Der Dienst konnte die Anfrage nicht ausführen',
    serverNext:
      'Versuchen Sie es noch einmal. Tritt der Fehler erneut auf, suchen Sie den Grund im Protokoll des Dienstes.',
    tooLong: 'Der Dienst hat nicht rechtzeitig geantwortet',
    tooMany: 'Zu viele Versuche',
    tooManyNext: 'Versuchen Sie es in {seconds} Sekunden noch einmal.',
    unavailable: 'Ein Teil, auf den der Dienst angewiesen ist, ist nicht erreichbar',
    unavailableNext:
      'Versuchen Sie es gleich noch einmal. Die Übersicht zeigt, welcher Teil nicht erreichbar ist.',
    unreachable: 'Der Dienst antwortet nicht',
    unreachableNext: 'Prüfen Sie das Netz und ob der Dienst läuft. Gespeicherte Daten gehen nicht verloren.',
  },
);

/** What went wrong, what the service says of it, and what can be done. */
export function explain(error: unknown): {
  readonly what: string;
  readonly said: string;
  readonly next: string;
} {
  if (error instanceof NoAnswer) {
    return { what: m(error.tookTooLong ? 'tooLong' : 'unreachable'), said: '', next: m('unreachableNext') };
  }
  if (!(error instanceof ApiError)) return { what: m('server'), said: String(error), next: m('serverNext') };
  const said = error.message;
  const next = error.hint ?? '';
  switch (error.status) {
    case 400:
      return { what: m('invalid'), said, next };
    case 403:
      return { what: m('forbidden'), said, next: m('forbiddenNext') };
    case 404:
      return { what: m('notFound'), said, next: next || m('notFoundNext') };
    case 409:
      return { what: m('conflict'), said, next };
    case 429:
      return { what: m('tooMany'), said, next: m('tooManyNext', { seconds: error.retryAfter ?? 60 }) };
    case 503:
      return { what: m('unavailable'), said, next: m('unavailableNext') };
    default:
      return { what: m('server'), said, next: m('serverNext') };
  }
}

export function Problem({
  error,
  retry,
}: {
  readonly error: unknown;
  readonly retry?: (() => void) | undefined;
}) {
  const { what, said, next } = explain(error);
  return (
    <div class="notice bad" role="alert">
      <p>
        <strong>{what}</strong>
      </p>
      {said !== '' && (
        <p>
          <Text of={said} />
        </p>
      )}
      {next !== '' && (
        <p>
          <Text of={next} />
        </p>
      )}
      {retry && (
        <button type="button" onClick={retry}>
          {words('tryAgain')}
        </button>
      )}
    </div>
  );
}

/** Says that something is on its way; after a while, that it takes long. Requests end by themselves, so this does too. */
export function Waiting({ retry }: { readonly retry?: (() => void) | undefined }) {
  const [stage, setStage] = useState<'quiet' | 'shown' | 'slow'>('quiet');
  useEffect(() => {
    const shown = setTimeout(() => setStage('shown'), 250);
    const slow = setTimeout(() => setStage('slow'), 8000);
    return () => {
      clearTimeout(shown);
      clearTimeout(slow);
    };
  }, []);
  return (
    <div class="waiting" role="status">
      {stage !== 'quiet' && <p>{words('loading')}</p>}
      {stage === 'slow' && <p>{words('slow')}</p>}
      {stage === 'slow' && retry && (
        <button type="button" onClick={retry}>
          {words('tryAgain')}
        </button>
      )}
    </div>
  );
}

/** The answer when it is there; before, that it is on its way; else, why it is not. */
export function Answer<T>({
  of,
  children,
}: {
  readonly of: Asked<T>;
  readonly children: (data: T) => ComponentChildren;
}) {
  if (of.error !== undefined) return <Problem error={of.error} retry={of.reload} />;
  if (of.data === undefined) return <Waiting retry={of.reload} />;
  return <>{children(of.data)}</>;
}

/** Nothing here, and what to do about it. */
export const Empty = ({
  title,
  next,
  children,
}: {
  readonly title: string;
  readonly next?: string;
  readonly children?: ComponentChildren;
}) => (
  <div class="empty">
    <p>
      <strong>{title}</strong>
    </p>
    {next !== undefined && <p>{next}</p>}
    {children}
  </div>
);
