import { der } from '#core/der/builder.ts';
import { oid } from '#core/x509/oids.ts';

const named = (which: string): Uint8Array => der((b) => b.sequence((s) => s.oid(which)));
const curve = (which: string): Uint8Array => der((b) => b.sequence((s) => s.oid(oid.ecPublicKey).oid(which)));

/** The AlgorithmIdentifier (DER) of RSA public keys. */
export const rsaAlgorithm = der((b) => b.sequence((s) => s.oid(oid.rsaEncryption).null()));

const others: ReadonlyMap<string, Uint8Array> = new Map([
  ['p-256', curve(oid.p256)],
  ['p-384', curve(oid.p384)],
  ['p-521', curve(oid.p521)],
  ['ed25519', named(oid.ed25519)],
  ['ml-dsa-44', named(oid.mlDsa44)],
  ['ml-dsa-65', named(oid.mlDsa65)],
  ['ml-dsa-87', named(oid.mlDsa87)],
]);

/**
 * Returns the AlgorithmIdentifiers (DER) of all public keys that Postern certifies or, with `kinds` (key types as in certificate
 * profiles), of those among them that are not RSA.
 */
export function keyAlgorithms(kinds?: readonly string[]): readonly Uint8Array[] {
  if (!kinds) return [rsaAlgorithm, ...others.values()];
  return kinds.flatMap((kind) => others.get(kind) ?? []);
}
