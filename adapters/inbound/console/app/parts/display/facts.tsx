import type { ComponentChildren } from 'preact';

/** A name, what it is worth, and if need be what that means. A row whose value is undefined or null is left out. */
export type Fact = readonly [name: string, value: ComponentChildren, meaning?: ComponentChildren];

export const Facts = ({ rows }: { readonly rows: readonly Fact[] }) => (
  <dl class="facts">
    {rows
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value, meaning]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {value}
            {meaning !== undefined && <p class="meaning">{meaning}</p>}
          </dd>
        </div>
      ))}
  </dl>
);

export type Look = 'good' | 'bad' | 'warn' | 'calm';

/** A state in a word. The colour only repeats what the word says. */
export const Badge = ({ look, children }: { readonly look: Look; readonly children: ComponentChildren }) => (
  <span class={`badge ${look}`}>{children}</span>
);

/** A part of a page with a heading of its own. */
export const Card = ({
  title,
  id,
  actions,
  wide = false,
  children,
}: {
  readonly title: string;
  /** For links to it. */
  readonly id?: string;
  readonly actions?: ComponentChildren;
  readonly wide?: boolean;
  readonly children: ComponentChildren;
}) => (
  <section class={wide ? 'card wide' : 'card'} aria-label={title} id={id}>
    <header>
      <h2>{title}</h2>
      {actions}
    </header>
    {children}
  </section>
);

/** The top of every page: where it is, what it is called, what can be done. */
export const Heading = ({
  title,
  up,
  actions,
}: {
  readonly title: ComponentChildren;
  /** The page above. */
  readonly up?: { readonly href: string; readonly title: string } | undefined;
  readonly actions?: ComponentChildren;
}) => (
  <header class="heading">
    {up && (
      <p class="up">
        <a href={up.href}>{up.title}</a>
      </p>
    )}
    <h1 tabIndex={-1}>{title}</h1>
    {actions && <div class="buttons">{actions}</div>}
  </header>
);
