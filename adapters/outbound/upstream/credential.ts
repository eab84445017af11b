import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdir, open, readFile, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { encodePem } from '#adapters/wire/pem.ts';
import { Fault } from '#core/fault.ts';
import type { Vault } from '#core/ports/platform.ts';
import { type Certificate, parseCertificate, subjectAltNamesOf } from '#core/x509/certificate.ts';
import { subjectAltNameExtension } from '#core/x509/extensions/identity.ts';
import { attribute, buildName } from '#core/x509/name.ts';
import { assembleCertificationRequest, buildCertificationRequestInfo } from '#core/x509/request-builder.ts';

/** The client credential of this gateway at an upstream CA: a key (PKCS #8) and certificates, its own first. DER. */
export interface Credential {
  readonly key: Uint8Array;
  readonly certificates: readonly Uint8Array[];
}

/** A new key (PKCS #8) and the request for its certificate, DER. */
export interface NewKey {
  readonly key: Uint8Array;
  /** When the certificate was first requested, in milliseconds since 1970; used as messageTime. */
  readonly since?: number | undefined;
  readonly request: Uint8Array;
}

/** The content of the file: the credential, and the new key while its certificate is pending, so that the request can be repeated. */
export interface StoredCredential {
  readonly current?: Credential | undefined;
  readonly next?: NewKey | undefined;
}

export const certificateOf = ({ certificates: [own] }: Credential): Certificate =>
  parseCertificate(own ?? new Uint8Array(0));

/** Encodes a credential for a TLS client. */
export const toPem = ({ key, certificates }: Credential): { certificate: string; key: string } => ({
  certificate: certificates.map((der) => encodePem('CERTIFICATE', der)).join(''),
  key: encodePem('PRIVATE KEY', key),
});

/** Returns a new key and request with the subject of a certificate (RFC 7030 §4.2.2 requires the same), or with a common name. */
export function newKey(like: Certificate | string): NewKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const names = typeof like === 'string' ? [] : subjectAltNamesOf(like);
  const info = buildCertificationRequestInfo(
    typeof like === 'string' ? buildName([[attribute('CN', like)]]) : like.subject,
    new Uint8Array(publicKey.export({ format: 'der', type: 'spki' })),
    names.length > 0 ? [subjectAltNameExtension(names)] : [],
  );
  const signature = new Uint8Array(sign('sha256', info, privateKey));
  return {
    key: new Uint8Array(privateKey.export({ format: 'der', type: 'pkcs8' })),
    request: assembleCertificationRequest(info, 'ecdsa-sha256', signature),
  };
}

const mostFileBytes = 256 * 1024;

/** An encrypted file of mode 0600. Several processes may read it while one process replaces it. */
export class CredentialFile {
  readonly #path: string;
  readonly #vault: Vault;
  readonly #context: string;
  #read: { readonly version: string; readonly kept: StoredCredential } | undefined;

  /** `context`: see `Vault`. */
  constructor(path: string, vault: Vault, context: string) {
    this.#path = path;
    this.#vault = vault;
    this.#context = context;
  }

  /** Reads the file. Faults: unavailable when it cannot be read. */
  async read(): Promise<StoredCredential> {
    try {
      const { mtimeMs, size, ino } = await stat(this.#path);
      const version = `${ino} ${mtimeMs} ${size}`;
      if (this.#read?.version === version) return this.#read.kept;
      if (size > mostFileBytes) throw new Error('it is too large');
      const kept = decode(this.#vault.open(new Uint8Array(await readFile(this.#path)), this.#context));
      this.#read = { version, kept };
      return kept;
    } catch (cause) {
      if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return {};
      throw new Fault('unavailable', 'the credential for the upstream CA cannot be read', { cause });
    }
  }

  /** Encrypts the file under the current master key. Returns 1 if it was under an older one, else 0. Faults: unavailable, internal. */
  async reseal(): Promise<number> {
    const sealed = await readFile(this.#path).catch((cause) => {
      if (cause.code === 'ENOENT') return undefined;
      throw new Fault('unavailable', 'the credential for the upstream CA cannot be read', { cause });
    });
    const again = sealed && this.#vault.reseal(new Uint8Array(sealed), this.#context);
    if (!again) return 0;
    await this.#replace(again);
    return 1;
  }

  /** Replaces the file atomically and durably. Faults: unavailable. */
  write(kept: StoredCredential): Promise<void> {
    return this.#replace(this.#vault.seal(encode(kept), this.#context));
  }

  async #replace(sealed: Uint8Array): Promise<void> {
    try {
      await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
      const temporary = `${this.#path}.${process.pid}.tmp`;
      await durably(temporary, 'w', async (file) => {
        await file.writeFile(sealed);
      });
      await rename(temporary, this.#path);
      await durably(dirname(this.#path), 'r', async () => {});
    } catch (cause) {
      throw new Fault('unavailable', 'the credential for the upstream CA cannot be written', { cause });
    }
    this.#read = undefined;
  }
}

type Handle = Awaited<ReturnType<typeof open>>;

async function durably(path: string, flags: string, use: (file: Handle) => Promise<void>): Promise<void> {
  const file = await open(path, flags, 0o600);
  try {
    await use(file);
    await file.sync();
  } finally {
    await file.close();
  }
}

function encode({ current, next }: StoredCredential): Uint8Array {
  const text = (bytes: Uint8Array): string => bytes.toBase64();
  const plain = {
    current: current && { key: text(current.key), certificates: current.certificates.map(text) },
    next: next && { key: text(next.key), request: text(next.request), since: next.since },
  };
  return new TextEncoder().encode(JSON.stringify(plain));
}

function decode(bytes: Uint8Array): StoredCredential {
  const { current, next } = JSON.parse(new TextDecoder().decode(bytes));
  const binary = (text: string): Uint8Array => Uint8Array.fromBase64(text);
  return {
    current: current && { key: binary(current.key), certificates: current.certificates.map(binary) },
    next: next && { key: binary(next.key), request: binary(next.request), since: next.since },
  };
}
