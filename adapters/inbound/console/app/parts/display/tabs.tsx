import type { ComponentChildren } from 'preact';
import { query, withQuery } from '../../router.ts';

export interface Tab {
  /** In the URL: `?tab=…`. The first one needs none. */
  readonly name: string;
  readonly title: string;
  readonly view: () => ComponentChildren;
}

/** Views of one thing, each with a URL. */
export function Tabs({ tabs, label }: { readonly tabs: readonly Tab[]; readonly label: string }) {
  const shown = tabs.find(({ name }) => name === query.value.get('tab')) ?? tabs[0];
  return (
    <>
      <nav class="tabs" aria-label={label}>
        {tabs.map(({ name, title }, n) => (
          <a
            key={name}
            href={withQuery({ tab: n === 0 ? undefined : name, cursor: undefined })}
            aria-current={name === shown?.name ? 'page' : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      {shown?.view()}
    </>
  );
}
