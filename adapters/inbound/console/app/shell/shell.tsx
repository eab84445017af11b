import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { reachable } from '../api.ts';
import { kept } from '../kept.ts';
import { type Language, language, languages, messages } from '../language.ts';
import { pages } from '../pages.ts';
import { Toasts } from '../parts/dialogs/toast.tsx';
import { Text } from '../parts/display/text.tsx';
import { match } from '../paths.ts';
import { type NavigationGroup, path } from '../router.ts';
import { may, session, signOut } from '../session.ts';
import { words } from '../words.ts';

const m = messages(
  {
    account: 'Account',
    administration: 'Administration',
    appearance: 'Appearance',
    attention: 'Attention',
    auto: 'As the system',
    dark: 'Dark',
    inventory: 'Inventory',
    language: 'Language',
    light: 'Light',
    menu: 'Menu',
    navigation: 'Pages',
    password: 'Change password',
    notReached: 'The service does not answer. What you see may be out of date.',
    signOut: 'Sign out',
    skip: 'Skip to the content',
    system: 'System',
    trust: 'Trust',
  },
  {
    account: 'Konto',
    administration: 'Verwaltung',
    appearance: 'Aussehen',
    attention: 'Aufmerksamkeit',
    auto: 'Wie das System',
    dark: 'Dunkel',
    inventory: 'Bestand',
    language: 'Sprache',
    light: 'Hell',
    menu: 'Menü',
    navigation: 'Seiten',
    password: 'Kennwort ändern',
    notReached: 'Der Dienst antwortet nicht. Was Sie sehen, ist vielleicht nicht mehr aktuell.',
    signOut: 'Abmelden',
    skip: 'Zum Inhalt springen',
    system: 'System',
    trust: 'Vertrauen',
  },
);

const appearance = kept('appearance', ['auto', 'light', 'dark'], 'auto');
appearance.subscribe((chosen) => {
  if (chosen === 'auto') delete document.documentElement.dataset.appearance;
  else document.documentElement.dataset.appearance = chosen;
});
language.subscribe((chosen) => {
  document.documentElement.lang = chosen;
});

const groups: readonly NavigationGroup[] = ['attention', 'inventory', 'trust', 'administration', 'system'];

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

const Top = () => (
  <header class="top">
    <a class="brand" href="/">
      <svg viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="7" />
        <path d="M9 26V14a7 7 0 0 1 14 0v12h-4v-6.5a3 3 0 0 0-6 0V26z" />
      </svg>
      Postern
    </a>
    <Preferences />
    {session.value.is === 'signedIn' && (
      <section class="who" aria-label={m('account')}>
        <span>
          <a href="/password" title={m('password')}>
            <Text of={session.value.account.name} />
          </a>{' '}
          <span class="quiet">
            <Text of={session.value.account.role.unique_name} />
          </span>
        </span>
        <button type="button" onClick={() => void signOut()}>
          {m('signOut')}
        </button>
      </section>
    )}
  </header>
);

const Preferences = () => (
  <div class="preferences">
    <select
      aria-label={m('language')}
      value={language.value}
      onChange={(event) => {
        language.value = event.currentTarget.value as Language;
      }}
    >
      {Object.entries(languages).map(([tag, name]) => (
        <option key={tag} value={tag} lang={tag}>
          {name}
        </option>
      ))}
    </select>
    <select
      aria-label={m('appearance')}
      value={appearance.value}
      onChange={(event) => {
        appearance.value = event.currentTarget.value as 'auto';
      }}
    >
      {(['auto', 'light', 'dark'] as const).map((one) => (
        <option key={one} value={one}>
          {m(one)}
        </option>
      ))}
    </select>
  </div>
);

/** The pages that the role may see. On a phone it folds away behind a button. */
function Navigation() {
  const [open, setOpen] = useState(false);
  const here = path.value;
  // Folds away when another page is shown.
  useEffect(() => setOpen(false), [here]);
  const offered = pages.filter(({ navigation, needs }) => navigation && may(needs));
  const isHere = (page: string): boolean =>
    page === '/' ? here === '/' : here === page || here.startsWith(`${page}/`);
  return (
    <nav class="navigation" aria-label={m('navigation')}>
      <button
        type="button"
        class="menu"
        aria-expanded={open}
        aria-controls="pages"
        onClick={() => setOpen(!open)}
      >
        {m('menu')}
      </button>
      <div id="pages" class={open ? 'open' : undefined}>
        {groups.map((group) => {
          const ofGroup = offered
            .filter(({ navigation }) => navigation?.group === group)
            .sort((a, b) => (a.navigation?.order ?? 0) - (b.navigation?.order ?? 0));
          return ofGroup.length === 0 ? null : (
            <div key={group}>
              <h2 id={`group-${group}`}>{m(group)}</h2>
              <ul aria-labelledby={`group-${group}`}>
                {ofGroup.map(({ navigation: { mark: Mark } = {}, ...page }) => (
                  <li key={page.path}>
                    <a
                      href={page.path}
                      aria-current={match(page.path, here) ? 'page' : isHere(page.path) ? 'true' : undefined}
                    >
                      {page.title()}
                      {Mark && <Mark />}
                    </a>
                  </li>
                ))}
              </ul>
            </div>
          );
        })}
      </div>
    </nav>
  );
}

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
