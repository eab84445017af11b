import { readFile, stat } from 'node:fs/promises';
import { readCertificateFile } from '#adapters/wire/certificate-file.ts';
import { readPkcs12Identity } from '#adapters/wire/pkcs12-identity.ts';
import { readPrivateKey } from '#adapters/wire/private-key.ts';
import type { KeyMaterial } from '#core/ca/key-material.ts';
import { atField, Fault } from '#core/fault.ts';
import { credentialType } from '#core/records/credential.ts';
import { fingerprint } from '#core/x509/certificate.ts';
import {
  type Command,
  exit,
  type Invocation,
  placeOptions,
  printJson,
  UsageError,
  withGateway,
} from './command.ts';
import { ask } from './terminal.ts';
import { text } from './values.ts';

const longest = 512 * 1024;

export const tlsCommands: readonly Command[] = [
  {
    name: 'tls set',
    positionals: [],
    summary: 'Install your own TLS server certificate and key.',
    details: `Give --certificate and --key, or --pkcs12. The listener uses the certificate from the next handshake on, without a
restart. If a file is encrypted, the password is taken from POSTERN_TLS_PASSWORD, else the command asks for it on the
terminal. It is never passed on the command line.`,
    options: {
      certificate: {
        type: 'string',
        value: 'FILE',
        help: 'The certificate, optionally with its chain: PEM, DER or PKCS #7',
      },
      key: { type: 'string', value: 'FILE', help: 'Its private key: PKCS #8, SEC 1 or PKCS #1' },
      chain: { type: 'string', value: 'FILE', help: 'The certificates of its issuing CAs' },
      pkcs12: { type: 'string', value: 'FILE', help: 'Certificate, key and chain in one PKCS #12 file' },
      name: {
        type: 'string',
        value: 'NAME',
        help: 'The name of the credential. Default: a name derived from its type',
      },
      ...placeOptions,
    },
    fields: {
      uniqueName: '--name',
      privateKey: '--key',
      certificateChain: '--chain',
      certificate: '--certificate or --pkcs12',
      password: 'POSTERN_TLS_PASSWORD',
    },
    async run(invocation) {
      const { options } = invocation;
      const uniqueName = text(options, 'name');
      const material = await readMaterial(invocation);
      const served = await withGateway(invocation, async ({ gateway, principal }) => {
        const type = credentialType.tlsServer;
        const { id } = await gateway.credentials.create(principal, {
          type,
          material,
          ...(uniqueName !== undefined && { uniqueName }),
        });
        return gateway.credentials.activate(principal, id);
      });
      const described = {
        id: served.id,
        unique_name: served.uniqueName,
        common_name: served.commonName,
        not_valid_after: new Date(served.notValidAfter).toISOString(),
        fingerprint: fingerprint(served.certificate),
      };
      if (options.json === true) printJson(described);
      else {
        console.log(`The listener now uses the TLS certificate ${described.common_name} (credential ${described.id}).
SHA-256 fingerprint  ${described.fingerprint}
valid until          ${described.not_valid_after}`);
      }
      return exit.success;
    },
  },
];

async function readMaterial({ options }: Invocation): Promise<KeyMaterial> {
  const [certificate, key, chain, pkcs12] = ['certificate', 'key', 'chain', 'pkcs12'].map((name) =>
    text(options, name),
  );
  if (pkcs12 !== undefined) {
    if (certificate !== undefined || key !== undefined) {
      throw new UsageError('--pkcs12 contains the certificate and the key: omit --certificate and --key');
    }
    const file = await read(pkcs12);
    const { others, ...identity } = await at('pkcs12', () =>
      withPassword(pkcs12, (password) => readPkcs12Identity(file, password)),
    );
    return { ...identity, chain: [...others, ...(await certificates(chain, 'certificateChain'))] };
  }
  if (certificate === undefined || key === undefined) {
    throw new UsageError('give --certificate and --key, or --pkcs12');
  }
  const [first, ...more] = await certificates(certificate, 'certificate');
  if (!first) throw new Fault('malformed', 'the file contains no certificate', { field: 'certificate' });
  const keyFile = await read(key);
  return {
    certificate: first,
    chain: [...more, ...(await certificates(chain, 'certificateChain'))],
    privateKey: await at('privateKey', () =>
      withPassword(key, (password) => readPrivateKey(keyFile, password)),
    ),
  };
}

async function certificates(path: string | undefined, field: string): Promise<readonly Uint8Array[]> {
  if (path === undefined) return [];
  const file = await read(path);
  return at(field, () => readCertificateFile(file, ''));
}

async function read(path: string): Promise<Uint8Array> {
  const unread = (cause: unknown): Fault => new Fault('unavailable', `${path} cannot be read`, { cause });
  const { size } = await stat(path).catch((error) => {
    throw unread(error);
  });
  if (size > longest) throw new UsageError(`${path} is larger than ${longest / 1024} KiB`);
  return readFile(path).catch((error) => {
    throw unread(error);
  });
}

/** Asks for the password if the file is encrypted, POSTERN_TLS_PASSWORD is not set and there is a terminal. */
async function withPassword<T>(path: string, use: (password: string) => Promise<T>): Promise<T> {
  const given = process.env.POSTERN_TLS_PASSWORD ?? '';
  try {
    return await use(given);
  } catch (error) {
    const isWrong = error instanceof Fault && error.field === 'password';
    if (!isWrong || given !== '' || !process.stdin.isTTY) throw error;
    return use(await ask(`Password for ${path}: `));
  }
}

async function at<T>(field: string, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    throw atField(error, field);
  }
}
