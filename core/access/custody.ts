import type { Actor } from '../records/audit-event.ts';

/** Returns the key of an account in approvals and custody: `user:3`, `serviceAccount:2`; undefined for other actors. */
export const accountKey = ({ kind, id }: Actor): string | undefined =>
  (kind === 'user' || kind === 'serviceAccount') && id !== null ? `${kind}:${id}` : undefined;

/**
 * The accounts that can, or once could, act as a device: they registered or changed the record, or have read or set its
 * secrets. They cannot approve the requests of the device. Records from before this rule have none.
 */
export interface InCustody {
  /** `user:3`, `serviceAccount:2`. */
  readonly custodians: readonly string[];
}

/** Returns the custodians of a new record. The command line has no account. */
export const firstCustodians = (actor: Actor): readonly string[] => {
  const account = accountKey(actor);
  return account === undefined ? [] : [account];
};

/**
 * Returns the custodians of a record after `actor` changes it or reads its secrets; undefined if they do not change.
 */
export function custodiansAfter({ custodians }: InCustody, actor: Actor): readonly string[] | undefined {
  const account = accountKey(actor);
  return account === undefined || custodians.includes(account) ? undefined : [...custodians, account];
}
