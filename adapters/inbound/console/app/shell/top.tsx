import { useEffect } from 'preact/hooks';
import { kept } from '../kept.ts';
import { type Language, language, languages, messages } from '../language.ts';
import { Text } from '../parts/display/text.tsx';
import { path } from '../router.ts';
import { session, signOut } from '../session.ts';
import { isMenuOpen } from './navigation.tsx';

const m = messages(
  {
    account: 'Account',
    appearance: 'Appearance',
    auto: 'System setting',
    dark: 'Dark',
    documentation: 'Documentation',
    language: 'Language',
    light: 'Light',
    menu: 'Menu',
    password: 'Change password',
    signOut: 'Sign out',
  },
  {
    account: 'Konto',
    appearance: 'Aussehen',
    auto: 'Systemeinstellung',
    dark: 'Dunkel',
    documentation: 'Dokumentation (Englisch)',
    language: 'Sprache',
    light: 'Hell',
    menu: 'Menü',
    password: 'Kennwort ändern',
    signOut: 'Abmelden',
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

/** The bar above every page. On a phone all but the name and a button is folded away, with the navigation. */
export function Top() {
  const here = path.value;
  const isOpen = isMenuOpen.value;
  // Folds away when another page is shown.
  useEffect(() => {
    isMenuOpen.value = false;
  }, [here]);
  return (
    <header class="top">
      <a class="brand" href="/">
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="7" />
          <path d="M9 26V14a7 7 0 0 1 14 0v12h-4v-6.5a3 3 0 0 0-6 0V26z" />
        </svg>
        Postern
      </a>
      <button
        type="button"
        class="menu"
        aria-expanded={isOpen}
        aria-controls="tools pages"
        onClick={() => {
          isMenuOpen.value = !isOpen;
        }}
      >
        {m('menu')}
      </button>
      <div id="tools" class={isOpen ? 'open' : undefined}>
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
      </div>
    </header>
  );
}

const Preferences = () => (
  <div class="preferences">
    <a class="help" href="/docs/" hreflang="en">
      <svg viewBox="0 0 20 20" role="img">
        <title>{m('documentation')}</title>
        <path d="M7.3 7.6a2.7 2.7 0 1 1 3.9 2.4c-.8.4-1.2.9-1.2 1.8v.5M10 15.3v.1" />
        <circle cx="10" cy="10" r="8.6" />
      </svg>
    </a>
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
