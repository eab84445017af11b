import type { ComponentChildren } from 'preact';
import { Heading } from '../display/facts.tsx';
import { List, type ListProps } from './list.tsx';

/** A page that is about a list. */
export const ListPage = <T extends { readonly id: number | string }>({
  up,
  actions,
  lead,
  children,
  ...list
}: ListProps<T> & {
  /** The page above. */
  readonly up?: { readonly href: string; readonly title: string };
  readonly actions?: ComponentChildren;
  readonly lead?: string;
  /** Above the list. */
  readonly children?: ComponentChildren;
}) => (
  <>
    <Heading title={list.title} up={up} actions={actions} />
    {lead !== undefined && <p class="lead">{lead}</p>}
    {children}
    <List {...list} />
  </>
);
