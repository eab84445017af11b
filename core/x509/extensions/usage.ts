import { der } from '../../der/builder.ts';
import { readDer } from '../../der/reader.ts';
import { tag } from '../../der/tag.ts';
import { Fault } from '../../fault.ts';
import type { Extension } from '../extension.ts';
import { oid } from '../oids.ts';

/** RFC 5280 §4.2.1.3, in the order of its bits. */
export const keyUsages = [
  'digitalSignature',
  'nonRepudiation',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'keyCertSign',
  'cRLSign',
  'encipherOnly',
  'decipherOnly',
] as const;

export type KeyUsage = (typeof keyUsages)[number];

export function keyUsageExtension(usages: readonly KeyUsage[]): Extension {
  const value = der((b) => b.namedBits(keyUsages.map((usage) => usages.includes(usage))));
  return { oid: oid.keyUsage, critical: true, value };
}

/** Returns the usages in the order of the bits. Faults: malformed. */
export function decodeKeyUsage(value: Uint8Array): KeyUsage[] {
  const { unused, bytes } = readDer(value, (reader) => reader.bitString());
  if (bytes.length * 8 - unused > 16) throw new Fault('malformed', 'key usage with unknown bits');
  return keyUsages.filter((_, bit) => ((bytes[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0);
}

/** Builds extKeyUsage (RFC 5280 §4.2.1.12). `purposes`: OIDs. */
export function extendedKeyUsageExtension(purposes: readonly string[], critical = false): Extension {
  const value = der((b) =>
    b.sequence((s) => {
      for (const purpose of purposes) s.oid(purpose);
    }),
  );
  return { oid: oid.extendedKeyUsage, critical, value };
}

const mostPurposes = 64;

/** Returns the OIDs of the purposes. Faults: malformed. */
export function decodeExtendedKeyUsage(value: Uint8Array): string[] {
  return readDer(value, (reader) => {
    const sequence = reader.sequence();
    const purposes: string[] = [];
    do {
      purposes.push(sequence.oid());
      if (purposes.length > mostPurposes) throw new Fault('malformed', 'too many extended key usages');
    } while (!sequence.empty);
    return purposes;
  });
}

/** RFC 5280 §4.2.1.9. */
export interface BasicConstraints {
  readonly ca: boolean;
  /** The number of CA certificates that may follow, not counting self-issued ones. */
  readonly pathLength?: number;
}

export function basicConstraintsExtension(constraints: BasicConstraints): Extension {
  const value = der((b) =>
    b.sequence((s) => {
      if (constraints.ca) s.boolean(true);
      if (constraints.pathLength !== undefined) s.integer(constraints.pathLength);
    }),
  );
  return { oid: oid.basicConstraints, critical: true, value };
}

/** Faults: malformed. */
export function decodeBasicConstraints(value: Uint8Array): BasicConstraints {
  return readDer(value, (reader) => {
    const sequence = reader.sequence();
    // An explicit FALSE is accepted here too, see readExtensions.
    const ca = sequence.peek() === tag.boolean && sequence.boolean();
    const pathLength = sequence.empty ? undefined : sequence.smallInteger(2 ** 32);
    sequence.finish();
    return pathLength === undefined ? { ca } : { ca, pathLength };
  });
}
