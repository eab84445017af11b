import type { Actor } from '../records/audit-event.ts';

/** An account, as approvals and custody name it: `user:3`, `serviceAccount:2`; undefined for what is none. */
export const accountKey = ({ kind, id }: Actor): string | undefined =>
  (kind === 'user' || kind === 'serviceAccount') && id !== null ? `${kind}:${id}` : undefined;

/**
 * The accounts that can act as a device, or could at some time: those that registered or changed the record, or have read or set its
 * secrets. None of them approves what the device requests. Records from before this was kept have none.
 */
export interface InCustody {
  /** `user:3`, `serviceAccount:2`. */
  readonly custodians: readonly string[];
}

/** The custodians of a new record. The command line is nobody's account. */
export const firstCustodians = (actor: Actor): readonly string[] => {
  const account = accountKey(actor);
  return account === undefined ? [] : [account];
};

/** The custodians of a record that `actor` changes, or reads the secrets of; undefined when they stay as they are. */
export function custodiansAfter({ custodians }: InCustody, actor: Actor): readonly string[] | undefined {
  const account = accountKey(actor);
  return account === undefined || custodians.includes(account) ? undefined : [...custodians, account];
}
