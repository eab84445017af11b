import { computed, signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import type { PagePath } from './paths.ts';

export interface PageProps {
  /** What stands in the path where the pattern has `:name`. */
  readonly params: Readonly<Record<string, string>>;
}

export type NavigationGroup = 'attention' | 'inventory' | 'trust' | 'administration' | 'system';

/** A page: one file each under `pages/`, with the files that it is divided into beside it; named in `pages.ts`. */
export interface Page {
  readonly path: PagePath;
  readonly title: () => string;
  /** The permission without which the page is neither offered nor shown. */
  readonly needs?: string;
  /** Where it is in the navigation; a page without it is reached from another. */
  readonly navigation?: {
    readonly group: NavigationGroup;
    readonly order: number;
    /** Beside its title: how much waits there. */
    readonly mark?: ComponentType;
  };
  readonly view: ComponentType<PageProps>;
}

const here = (): URL => new URL(location.href);
const url = signal(here());

/** The path of the page that is shown. */
export const path = computed(() => url.value.pathname);
/** Its query: filters, the place in a list, a tab. All that is to be shared by its URL. */
export const query = computed(() => url.value.searchParams);

addEventListener('popstate', () => {
  url.value = here();
});

export function go(to: string, options: { readonly replace?: boolean } = {}): void {
  if (options.replace) history.replaceState(history.state, '', to);
  else history.pushState(null, '', to);
  url.value = here();
}

/** The current page with some of its query changed; a parameter that is undefined or empty goes. */
export function withQuery(changes: Readonly<Record<string, string | undefined>>): string {
  const next = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  return `${path.value}${text === '' ? '' : `?${text}`}`;
}

/** Links of the console are followed without loading the document again; everything else is the browser's. */
document.addEventListener('click', (event) => {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  // Attributes, not properties: those of a link in a drawing (SVG) are objects.
  const href = link?.getAttribute('href');
  if (!link || !href || link.hasAttribute('target') || link.hasAttribute('download')) return;
  const to = new URL(href, location.href);
  if (to.origin !== location.origin || /^\/(?:api|docs)\//.test(to.pathname)) return;
  if (to.pathname === location.pathname && to.search === location.search && to.hash !== '') return;
  event.preventDefault();
  go(to.href);
});
