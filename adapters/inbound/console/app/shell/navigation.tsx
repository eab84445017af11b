import { signal } from '@preact/signals';
import { messages } from '../language.ts';
import { pages } from '../pages.ts';
import { match } from '../paths.ts';
import { type NavigationGroup, path } from '../router.ts';
import { may } from '../session.ts';

const m = messages(
  {
    administration: 'Administration',
    attention: 'Attention',
    inventory: 'Inventory',
    navigation: 'Pages',
    system: 'System',
    trust: 'Trust',
  },
  {
    administration: 'Verwaltung',
    attention: 'Aufmerksamkeit',
    inventory: 'Bestand',
    navigation: 'Seiten',
    system: 'System',
    trust: 'Vertrauen',
  },
);

/** Whether what a phone folds away is open. */
export const isMenuOpen = signal(false);

const groups: readonly NavigationGroup[] = ['attention', 'inventory', 'trust', 'administration', 'system'];

/** The pages that the role may see. On a phone they are folded away behind the button of the top bar. */
export function Navigation() {
  const here = path.value;
  const offered = pages.filter(({ navigation, needs }) => navigation && may(needs));
  const isHere = (page: string): boolean =>
    page === '/' ? here === '/' : here === page || here.startsWith(`${page}/`);
  return (
    <nav class="navigation" aria-label={m('navigation')}>
      <div id="pages" class={isMenuOpen.value ? 'open' : undefined}>
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
