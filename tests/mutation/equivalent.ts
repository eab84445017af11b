import type { Mutant } from './mutants.ts';

/** A mutant that no test can detect, because it changes nothing that a caller can observe. */
interface Equivalent {
  readonly file: string;
  /** The text of its line. */
  readonly text: string;
  /** Without it, every mutant of the line is meant. */
  readonly replacement?: string;
  readonly because: string;
}

const cache = 'The line decides what a cache keeps, not what is returned.';
const bound = 'A bound on memory or work that is far from any use; the exact number does not matter.';
const another = 'Generations are compared for equality only: any number that was not used before will do.';
const wait = 'A waiting time: a millisecond more or less changes nothing that a caller depends on.';

/** The list is reviewed by hand. Prefer a test, or code without such a mutant, to a new entry. */
export const equivalent: readonly Equivalent[] = [
  { file: 'core/der/oid.ts', text: 'const places = 512;', because: cache },
  {
    file: 'core/der/oid.ts',
    text: 'for (let at = start; at < end; at++) hash = (hash * 31 + bytes[at]!) % places;',
    because: cache,
  },
  { file: 'core/der/oid.ts', text: 'let hash = 0;', because: cache },
  { file: 'core/der/builder.ts', text: 'const mostCachedOids = 1000;', because: bound },
  { file: 'core/der/builder.ts', text: 'const largestKept = 4096;', because: bound },
  {
    file: 'core/der/builder.ts',
    text: 'if (encodedOids.size < mostCachedOids) encodedOids.set(oid, encoded);',
    because: cache,
  },
  { file: 'core/requester/idevid-trust.ts', text: 'known.set(name, result);', because: cache },
  { file: 'adapters/outbound/sql/statements.ts', text: 'const mostShapes = 1000;', because: bound },
  {
    file: 'adapters/outbound/sql/statements.ts',
    text: 'if (this.#texts.size >= mostShapes) this.#texts.clear();',
    because: cache,
  },
  { file: 'adapters/outbound/sql/statements.ts', text: 'this.#texts.set(key, text);', because: cache },
  {
    file: 'adapters/wire/cmp/mac.ts',
    text: 'if (octets.length >= tooManyOctets || octets[0]! >= 0x80) return undefined;',
    replacement: '>',
    because: 'An INTEGER of five octets is above every range here.',
  },
  {
    file: 'core/accounts/service-accounts.ts',
    text: 'const set = { secretHash: hashOfSecret(clientSecret), generation: generation + 1 };',
    replacement: '2',
    because: another,
  },
  {
    file: 'core/accounts/service-accounts.ts',
    text: "return updateWrites('serviceAccount', id, { ...changes, generation: generation + 1 }, { generation });",
    replacement: '2',
    because: another,
  },
  {
    file: 'core/accounts/users.ts',
    text: '...((password !== undefined || hasNewRole || isSwitched) && { generation: generation + 1 }),',
    replacement: '2',
    because: another,
  },
  {
    file: 'core/accounts/user-sign-in.ts',
    text: 'const generation = user.generation + 1;',
    replacement: '2',
    because: another,
  },
  {
    file: 'core/enrolment/transaction-expiry.ts',
    text: 'for (let n = 0; n < mostPages; n++) {',
    because: bound,
  },
  { file: 'core/requester/idevid-device.ts', text: 'limit: 1000,', because: bound },
  {
    file: 'core/ca/crls.ts',
    text: 'for (let attempt = 1; attempt <= readTries; attempt++) {',
    because: bound,
  },
  {
    file: 'core/ca/crls.ts',
    text: 'if (this.#running.get(ca) === run) this.#running.delete(ca);',
    because: 'A run that has ended does not delay the next one; the entry only takes memory.',
  },
  { file: 'core/ca/delegated-credential.ts', text: 'const patience = 60_000;', because: wait },
  {
    file: 'core/enrolment/issue-by-name.ts',
    text: "if (clearance.kind === 'alreadyIssued') return clearance.certificate.id;",
    because: 'The line only narrows the type: a request that is remembered is never repeatable.',
  },
  {
    file: 'core/ca/delegated-credential.ts',
    text: 'if (gone) await this.#destroy(gone);',
    replacement: 'void this.#destroy(gone)',
    because: 'The removal of the replaced key does not fail, and nothing waits for it.',
  },
  {
    file: 'core/ca/revocation-status.ts',
    text: 'const day = 24 * 3_600_000;',
    replacement: '3600001',
    because: 'A certificate has whole seconds.',
  },
  {
    file: 'core/ca/crl-parts.ts',
    text: 'for (let at = 0; at < old.length; at += pageLength) {',
    replacement: '<=',
    because: 'An empty commit writes nothing.',
  },
  {
    file: 'core/der/bytes.ts',
    text: 'if (a === b) return true;',
    replacement: 'false && (a === b)',
    because: 'A shortcut: the comparison that follows gives the same.',
  },
  {
    file: 'core/enrolment/plan-for-requester.ts',
    text: "holder: device ?? (renewed && operation === 'renewal' ? sameHolder(renewed) : undefined),",
    replacement: '||',
    because: 'A requester without a device can only renew its own certificate.',
  },
  ...['1', '3'].map((replacement) => ({
    file: 'core/der/builder.ts',
    text: 'const larger = new Uint8Array(Math.max(needed, this.#buffer.length * 2));',
    replacement,
    because: bound,
  })),
  { file: 'core/ca/crl-parts.ts', text: 'const pageLength = 4;', because: bound },
  {
    file: 'core/issuance/issue.ts',
    text: 'if (alongside.length === 0 && webhooks.length === 0) return own;',
    replacement: 'false && (alongside.length === 0 && webhooks.length === 0)',
    because: 'A shortcut: without both lists, the line that follows returns the same.',
  },
  { file: 'core/accounts/known-addresses.ts', text: 'map.delete(key);', because: cache },
  { file: 'core/accounts/known-addresses.ts', text: 'const yesHolds = 60_000;', because: wait },
  { file: 'core/accounts/throttle.ts', text: 'limit: 1000,', because: bound },
  { file: 'core/x509/algorithm.ts', text: 'const saltLength = salt.smallInteger(2 ** 16);', because: bound },
  { file: 'adapters/wire/cmp/mac.ts', text: 'const iterationsAtOnce = 10_000;', because: bound },
  {
    file: 'core/x509/factorable-rsa.ts',
    text: 'const filters = [64, 63, 65, 11, 17, 19].map((modulus) => {',
    because: 'Any moduli will do: they only save most square roots.',
  },
  {
    file: 'core/requester/admit.ts',
    text: "const randomSecret = (context: Pick<Ports, 'entropy'>): Uint8Array => context.entropy.bytes(32);",
    because: 'Nobody knows the secret, whatever its length.',
  },
  {
    file: 'core/accounts/known-addresses.ts',
    text: 'if (this.#waiting.size >= mostWaiting) return;',
    because: bound,
  },
  {
    file: 'core/accounts/users.ts',
    text: 'const bytes = new Uint8Array(4);',
    replacement: '5',
    because: 'Only the first four octets are read.',
  },
];

export const matches = (one: Equivalent, { file, text, replacement }: Mutant): boolean =>
  one.file === file &&
  one.text === text &&
  (one.replacement === undefined || one.replacement === replacement);

export const isEquivalent = (mutant: Mutant): boolean => equivalent.some((one) => matches(one, mutant));
