import type { Vault } from '#core/ports/platform.ts';

/**
 * A key file: one line of JSON with exactly these members in this order. `spki` is the public key and `sealed` the
 * private key (PKCS#8) encrypted by the vault, both in base64. The members before `sealed` are the context of the
 * encryption, so a modified member or a renamed file is detected.
 */
interface Envelope {
  readonly version: 1;
  readonly id: string;
  readonly label: string;
  readonly spki: string;
  readonly sealed: string;
}

/** The decrypted contents of a key file. */
interface KeyRecord {
  readonly id: string;
  readonly label: string;
  /** DER. */
  readonly spki: Uint8Array;
  /** DER, not encrypted. */
  readonly pkcs8: Uint8Array;
}

type Header = Omit<Envelope, 'sealed'>;

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const context = (header: Header): string => `key file ${JSON.stringify(header)}`;

function encode({ version, id, label, spki }: Header, sealed: string): string {
  const envelope: Envelope = { version, id, label, spki, sealed };
  return `${JSON.stringify(envelope)}\n`;
}

export function sealKey(record: KeyRecord, vault: Vault): string {
  const header: Header = { version: 1, id: record.id, label: record.label, spki: base64(record.spki) };
  return encode(header, base64(vault.seal(record.pkcs8, context(header))));
}

/** Encrypts a key file with the current master key. Returns undefined if it already is. Errors: those of `openKey`. */
export function resealKey(text: string, id: string, vault: Vault): string | undefined {
  const { header, sealed } = decode(text, id);
  const again = vault.reseal(sealed, context(header));
  return again && encode(header, base64(again));
}

/** Decrypts a key file. Throws an Error unless the text is exactly what `sealKey` returned for this id. */
export function openKey(text: string, id: string, vault: Vault): KeyRecord {
  const { header, sealed } = decode(text, id);
  return {
    id,
    label: header.label,
    spki: Uint8Array.from(Buffer.from(header.spki, 'base64')),
    pkcs8: vault.open(sealed, context(header)),
  };
}

function decode(text: string, id: string): { readonly header: Header; readonly sealed: Uint8Array } {
  const { version, label, spki, sealed: written } = JSON.parse(text) as Envelope;
  const header: Header = { version, id, label, spki };
  const sealed = Buffer.from(written, 'base64');
  if (version !== 1 || encode(header, base64(sealed)) !== text) {
    throw new Error('this is not a key file, or it belongs to another key');
  }
  return { header, sealed };
}
