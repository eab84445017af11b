import { der } from '#core/der/builder.ts';
import { type DerReader, readDer } from '#core/der/reader.ts';
import { context, tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';
import { oid } from '#core/x509/oids.ts';

const mlDsa: ReadonlySet<string> = new Set([oid.mlDsa44, oid.mlDsa65, oid.mlDsa87]);

/**
 * Converts a private key (RFC 5958 §2, DER) to a form that node:crypto reads: version 1 without the public key that
 * Java adds; for an ML-DSA key with both seed and expanded key, as OpenSSL writes it, only the seed (RFC 9881 §6).
 * Returns any other input unchanged.
 */
export function plainPkcs8(pkcs8: Uint8Array): Uint8Array {
  try {
    return readDer(pkcs8, (reader) => plain(reader.sequence()));
  } catch (error) {
    if (error instanceof Fault) return pkcs8;
    throw error;
  }
}

function plain(info: DerReader): Uint8Array {
  info.smallInteger(1);
  const algorithm = info.element(tag.sequence);
  const key = info.octetString();
  const type = readDer(algorithm, (reader) => reader.sequence().oid());
  const seed = mlDsa.has(type) && key[0] === tag.sequence ? readDer(key, readBoth) : undefined;
  return der((b) =>
    b.sequence((s) =>
      s
        .integer(0)
        .raw(algorithm)
        .octetString(seed ?? key),
    ),
  );
}

/** Reads a pair of seed and expanded key and returns the encoded seed. */
function readBoth(reader: DerReader): Uint8Array {
  const both = reader.sequence();
  const seed = both.octetString();
  both.octetString();
  both.finish();
  return der((b) => b.octetString(seed, context(0)));
}
