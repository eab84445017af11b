import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { useRead } from '../../data.ts';
import type { Page } from '../../router.ts';
import { Answer } from './answer.tsx';
import { Heading } from './facts.tsx';
import { plain, Text } from './text.tsx';

/** A record that is there, and how it is asked for again. */
export interface Found<T> {
  readonly of: T;
  readonly reload: () => void;
}

/** The view of a page about one record of a collection: its number stands in the path as `:id`. */
export const recordView =
  <T,>(collection: string, Shown: ComponentType<Found<T>>): Page['view'] =>
  ({ params: { id = '' } }) => {
    const asked = useRead<T>(`${collection}${encodeURIComponent(id)}/`);
    return <Answer of={asked}>{(found) => <Shown of={found} reload={asked.reload} />}</Answer>;
  };

/** The top of such a page; the tab of the browser is called after the record too. */
export function RecordHeading({
  name,
  up,
  actions,
}: {
  readonly name: string;
  readonly up: { readonly href: string; readonly title: string };
  readonly actions?: ComponentChildren;
}) {
  useEffect(() => {
    document.title = `${plain(name)} · Postern`;
  }, [name]);
  return <Heading title={<Text of={name} />} up={up} actions={actions} />;
}
