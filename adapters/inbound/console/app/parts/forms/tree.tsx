import type { ComponentChildren } from 'preact';

export interface Branch {
  readonly key: string;
  readonly content: ComponentChildren;
  readonly below: readonly Branch[];
  /** The one that the page is about. */
  readonly current?: boolean;
}

/** A hierarchy, drawn; to those who hear it, lists within lists. */
export const Tree = ({ of, label }: { readonly of: readonly Branch[]; readonly label?: string }) => (
  <ul class={label === undefined ? undefined : 'tree'} aria-label={label}>
    {of.map(({ key, content, below, current }) => (
      <li key={key}>
        <div class="node" aria-current={current ? 'true' : undefined}>
          {content}
        </div>
        {below.length > 0 && <Tree of={below} />}
      </li>
    ))}
  </ul>
);
