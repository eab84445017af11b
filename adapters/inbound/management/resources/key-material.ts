import { Type } from '@sinclair/typebox';
import { decodeBase64 } from '#adapters/wire/base64.ts';
import { readCertificateFile } from '#adapters/wire/certificate-file.ts';
import { readPkcs12Identity } from '#adapters/wire/pkcs12-identity.ts';
import { readPrivateKey } from '#adapters/wire/private-key.ts';
import type { KeyMaterial } from '#core/ca/key-material.ts';
import { atField, Fault } from '#core/fault.ts';
import type { FieldDescription } from '../description.ts';
import { file, secret } from '../fields.ts';
import { readFile } from '../files.ts';

/** The fields of an uploaded certificate with its key and its chain. */
export interface MaterialInput {
  readonly privateKey?: string | Uint8Array | undefined;
  readonly pkcs12?: string | Uint8Array | undefined;
  readonly password?: string | undefined;
  readonly certificate?: string | Uint8Array | undefined;
  readonly certificateChain?: string | Uint8Array | readonly string[] | undefined;
}

const longest = 512 * 1024;
const onCreation = { createOnly: true, writeOnly: true } as const;

export const materialFields = {
  certificate: {
    schema: file(longest, 'an external certificate: PEM, DER or PKCS #7; further certificates are its chain'),
    ...onCreation,
  },
  certificate_chain: {
    schema: Type.Union(
      [file(longest, 'PEM or PKCS #7'), Type.Array(Type.String({ maxLength: longest }), { maxItems: 20 })],
      { description: 'the chain certificates, in any order', file: true, maxLength: longest },
    ),
    ...onCreation,
  },
  private_key: {
    schema: file(longest, 'the private key: PKCS #8 (encrypted or not), SEC 1 or PKCS #1, in PEM'),
    ...onCreation,
  },
  pkcs12: {
    schema: file(
      longest,
      'certificate, key and chain in one PKCS #12 file; in JSON as base64 or a `data:` URI',
    ),
    ...onCreation,
  },
  password: { schema: secret(1024, 'password of the PKCS #12 file or the private key'), ...onCreation },
} as const satisfies Record<string, FieldDescription>;

/** Reads the uploaded key material, or returns undefined if there is none. Throws Fault `malformed` or `unsupported`, with `field`. */
export async function readMaterial(input: MaterialInput): Promise<KeyMaterial | undefined> {
  const { privateKey, pkcs12, certificate, certificateChain, password = '' } = input;
  if (pkcs12 !== undefined) {
    const beside = Object.entries({ certificate, privateKey }).find(([, value]) => value !== undefined);
    if (beside)
      throw new Fault('malformed', 'this field cannot be combined with a PKCS #12 file', {
        field: beside[0],
      });
    const { others, ...rest } = await at('pkcs12', () => readPkcs12Identity(binary(pkcs12), password));
    return { ...rest, chain: [...others, ...(await readChain(certificateChain))] };
  }
  if (certificate === undefined) {
    if (privateKey === undefined && certificateChain === undefined) return undefined;
    throw new Fault('malformed', 'this field is required', { field: 'certificate' });
  }
  const [first, ...more] = await at('certificate', () => readCertificateFile(readFile(certificate), ''));
  if (!first) throw new Fault('malformed', 'the file contains no certificate', { field: 'certificate' });
  return {
    certificate: first,
    chain: [...more, ...(await readChain(certificateChain))],
    privateKey:
      privateKey === undefined
        ? undefined
        : await at('privateKey', () => readPrivateKey(readFile(privateKey), password)),
  };
}

/** Returns the octets of a file field; its text is base64. */
function binary(value: string | Uint8Array): Uint8Array {
  const bytes = readFile(value);
  return typeof value === 'string' && bytes[0] !== 0x30
    ? decodeBase64(Buffer.from(bytes).toString('latin1'))
    : bytes;
}

async function readChain(chain: MaterialInput['certificateChain']): Promise<Uint8Array[]> {
  if (chain === undefined) return [];
  const files = typeof chain === 'string' || chain instanceof Uint8Array ? [chain] : chain;
  const certificates = await at('certificateChain', () =>
    Promise.all(files.map((one) => readCertificateFile(readFile(one), ''))),
  );
  return certificates.flat();
}

async function at<T>(field: string, read: () => Promise<T> | T): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Fault && error.code === 'unsupported') {
      throw new Fault('malformed', error.detail, { field, cause: error });
    }
    throw atField(error, field);
  }
}
