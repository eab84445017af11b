import { useEffect, useRef } from 'preact/hooks';
import { language, messages } from '../language.ts';
import { ChangePassword, changePasswordTitle } from '../pages/accounts/password.tsx';
import { pages } from '../pages.ts';
import { Problem } from '../parts/display/answer.tsx';
import { Heading } from '../parts/display/facts.tsx';
import { plain } from '../parts/display/text.tsx';
import { match } from '../paths.ts';
import { type Page, path } from '../router.ts';
import { may, resume, session, signOut } from '../session.ts';
import { Shell } from './shell.tsx';
import { SignIn } from './sign-in.tsx';

const m = messages(
  {
    noPage: 'Page not found',
    noPageNext:
      'The console has no page at {address}. Check the address, or choose a page from the navigation.',
    notForServices: 'Service accounts cannot use the console',
    notForServicesNext: 'Programs use service accounts for the API. Sign in as a user.',
    notYours: 'Your role does not show this page',
    notYoursNext:
      'This page requires the permission {permission}. Ask an administrator for a role that has it.',
    overview: 'Go to the overview',
    signOut: 'Sign in as another user',
  },
  {
    noPage: 'Seite nicht gefunden',
    noPageNext:
      'Unter {address} hat die Konsole keine Seite. Prüfen Sie die Adresse, oder wählen Sie eine Seite aus der Navigation.',
    notForServices: 'Dienstkonten können die Konsole nicht benutzen',
    notForServicesNext: 'Programme benutzen Dienstkonten für die API. Melden Sie sich als Benutzer an.',
    notYours: 'Ihre Rolle erlaubt diese Seite nicht',
    notYoursNext:
      'Diese Seite erfordert die Berechtigung {permission}. Bitten Sie die Administration um eine Rolle, die sie hat.',
    overview: 'Zur Übersicht',
    signOut: 'Als jemand anderes anmelden',
  },
);

export function Console() {
  const state = session.value;
  useEffect(() => void resume(), []);
  return <Shell>{content(state)}</Shell>;
}

function content(state: typeof session.value) {
  switch (state.is) {
    case 'unknown':
      return null;
    case 'unreached':
      return <Problem error={state.error} retry={() => void resume()} />;
    case 'nobody':
      return find(path.value) ? <SignIn /> : <CurrentPage />;
    case 'refused':
      return (
        <>
          <Heading title={m('notForServices')} />
          <p>{m('notForServicesNext')}</p>
          <button type="button" onClick={() => void signOut()}>
            {m('signOut')}
          </button>
        </>
      );
    case 'signedIn':
      return state.account.must_change_password ? <RequiredPassword /> : <CurrentPage />;
  }
}

function RequiredPassword() {
  useTitle(changePasswordTitle(), language.value);
  return <ChangePassword isRequired />;
}

function CurrentPage() {
  const here = path.value;
  const found = find(here);
  const title = found?.page.title() ?? m('noPage');
  const tongue = language.value;
  useTitle(title, `${here} ${tongue}`);
  useFocus(here);
  if (!found) {
    return <Refusal title={m('noPage')} next={m('noPageNext', { address: plain(here) })} />;
  }
  const { page, params } = found;
  if (!may(page.needs)) {
    return <Refusal title={m('notYours')} next={m('notYoursNext', { permission: page.needs ?? '' })} />;
  }
  const View = page.view;
  return <View key={here} params={params} />;
}

/** In place of a page. */
const Refusal = ({ title, next }: { readonly title: string; readonly next: string }) => (
  <>
    <Heading title={title} />
    <p>{next}</p>
    <p>
      <a href="/">{m('overview')}</a>
    </p>
  </>
);

function find(here: string): { page: Page; params: Readonly<Record<string, string>> } | undefined {
  // Whoever signs in where the sign-in page was asked for wants to see something.
  const asked = here === '/sign-in' ? '/' : here;
  for (const page of pages) {
    const params = match(page.path, asked);
    if (params) return { page, params };
  }
  return undefined;
}

function useTitle(title: string, key: string): void {
  useEffect(() => {
    document.title = `${title} · Postern`;
  }, [key]);
}

/** Another page: those who hear it are told its name, and the keyboard begins at its top. */
function useFocus(here: string): void {
  const before = useRef<string>(undefined);
  useEffect(() => {
    if (before.current !== undefined && before.current !== here) {
      scrollTo(0, 0);
      (document.querySelector<HTMLElement>('main h1') ?? document.getElementById('main'))?.focus();
    }
    before.current = here;
  }, [here]);
}
