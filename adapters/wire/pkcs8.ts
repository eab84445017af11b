import { der } from '#core/der/builder.ts';
import { type DerReader, readDer } from '#core/der/reader.ts';
import { context, tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';
import { oid } from '#core/x509/oids.ts';

const mlDsa: ReadonlySet<string> = new Set([oid.mlDsa44, oid.mlDsa65, oid.mlDsa87]);

/**
 * A private key (RFC 5958 §2, DER) in the form that node:crypto reads: version 1, without the public key that Java sets beside it, and
 * of an ML-DSA key of which there are seed and expanded key, as OpenSSL writes it, the seed (RFC 9881 §6). What is no
 * private key is left as it is.
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

/** The seed of a pair of seed and expanded key, by itself. */
function readBoth(reader: DerReader): Uint8Array {
  const both = reader.sequence();
  const seed = both.octetString();
  both.octetString();
  both.finish();
  return der((b) => b.octetString(seed, context(0)));
}
