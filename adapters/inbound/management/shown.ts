import { DamagedRecord, Fault, toFault } from '#core/fault.ts';
import type { Gateway } from '#core/gateway.ts';
import type { Kind } from '#core/ports/store.ts';
import type { Description } from './description.ts';

type Shown<K extends Kind, View> = Pick<Description<K, never, View>, 'kind' | 'toJson'>;
type Json = Readonly<Record<string, unknown>>;

const idOf = (view: unknown): number => (view as { readonly id: number }).id;

/** The JSON of one record. Faults: internal, with the name of the record, if what is stored cannot be shown. */
export function shownRecord<K extends Kind, View>({ kind, toJson }: Shown<K, View>, view: View): Json {
  try {
    return toJson(view, true);
  } catch {
    const id = idOf(view);
    const cause = new DamagedRecord(kind, id, `${kind} ${id} in the store is damaged`);
    throw new Fault('internal', 'internal error', { cause });
  }
}

/** The JSON of the records of a list. One that cannot be shown is left out, and the log names it. */
export const shownRecords = <K extends Kind, View>(
  { leftOut }: Pick<Gateway, 'leftOut'>,
  { kind, toJson }: Shown<K, View>,
  views: readonly View[],
): readonly Json[] =>
  views.flatMap((view) => {
    try {
      return [toJson(view, false)];
    } catch (error) {
      leftOut(kind, idOf(view), toFault(error));
      return [];
    }
  });
