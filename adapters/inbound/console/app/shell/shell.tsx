import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { reachable } from '../api.ts';
import { messages } from '../language.ts';
import { Toasts } from '../parts/dialogs/toast.tsx';
import { session } from '../session.ts';
import { words } from '../words.ts';
import { Navigation } from './navigation.tsx';
import { Top } from './top.tsx';

const m = messages(
  {
    notReached: 'The service does not respond. The data on this page may be out of date.',
    skip: 'Skip to the content',
  },
  {
    notReached: 'Der Dienst antwortet nicht. Die Daten auf dieser Seite sind vielleicht nicht mehr aktuell.',
    skip: 'Zum Inhalt springen',
  },
);

/** What stands around every page. */
export const Shell = ({ children }: { readonly children: ComponentChildren }) => (
  <>
    <a class="skip" href="#main">
      {m('skip')}
    </a>
    <Top />
    <div class="body">
      {session.value.is === 'signedIn' && !session.value.account.must_change_password && <Navigation />}
      <main id="main" tabIndex={-1}>
        {!reachable.value && <NotReached />}
        {children}
      </main>
    </div>
    <Toasts />
  </>
);

const patience = 5000;

/** Asks again every few seconds, until the service is back. */
function NotReached() {
  const ask = (): void => {
    fetch('/api/health/', { cache: 'no-store', credentials: 'omit', signal: AbortSignal.timeout(patience) })
      .then(() => {
        reachable.value = true;
      })
      .catch(() => {});
  };
  useEffect(() => {
    const timer = setInterval(ask, patience);
    return () => clearInterval(timer);
  });
  return (
    <div class="notice warn" role="status">
      <p>{m('notReached')}</p>
      <button type="button" onClick={ask}>
        {words('tryAgain')}
      </button>
    </div>
  );
}
