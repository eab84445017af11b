import type { Vault } from '#core/ports/platform.ts';

/**
 * A key file: one line of JSON with exactly these members in this order. `spki` is the public key, `sealed` the PKCS#8
 * private key under the vault, both base64. All that stands before `sealed` is the context it was sealed with, so
 * that no member can be changed, and no file renamed, without notice.
 */
interface Envelope {
  readonly version: 1;
  readonly id: string;
  readonly label: string;
  readonly spki: string;
  readonly sealed: string;
}

/** What is written to the file, and read back from it. */
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

/** The key file under the current master key; undefined when it is that already. Errors: those of `openKey`. */
export function resealKey(text: string, id: string, vault: Vault): string | undefined {
  const { header, sealed } = decode(text, id);
  const again = vault.reseal(sealed, context(header));
  return again && encode(header, base64(again));
}

/** Errors: any, when this is not, to the last octet, what `sealKey` made for a key of this id. */
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
    throw new Error('not a key file, or one of another key');
  }
  return { header, sealed };
}
