import { createHash, timingSafeEqual } from 'node:crypto';
import { posix } from 'node:path';
import type { SFTPWrapper } from 'ssh2';
import { Fault } from '#core/fault.ts';
import type { BackupLocation } from '#core/ports/backups.ts';
import { type Destination, temporaryName } from './destination.ts';

export interface SftpIdentity {
  /** The private key for the login: PEM or OpenSSH. */
  readonly key: string;
  readonly keyPassphrase?: string;
  /** The key of the server: a line of `ssh-keyscan` or known_hosts, or `SHA256:…` as printed by `ssh-keygen -l`. */
  readonly hostKey: string;
}

type Location = Extract<BackupLocation, { readonly kind: 'sftp' }>;

/** Milliseconds. */
const connectTimeout = 20_000;
/** The interval between keepalive messages in milliseconds, and how many may remain without a response. */
const keepalive = { interval: 10_000, most: 3 } as const;
const partLength = 32 * 1024;

/**
 * Opens a directory on an SSH server with a known host key. Faults: conflict (not configured, another host key, no such
 * directory), unavailable.
 */
export async function openSftp(
  { host, port, user, path }: Location,
  identity: SftpIdentity | undefined,
): Promise<Destination> {
  if (!identity) {
    throw new Fault('conflict', 'backups over SFTP require sftp_key and sftp_host_key in [backup]');
  }
  const pinned = fingerprint(identity.hostKey);
  // Loaded on demand: loading takes long, and few installations need it.
  const { Client } = await import('ssh2');
  const client = new Client();
  const lost = Promise.withResolvers<never>();
  lost.promise.catch(() => {});
  let hostRefused = false;
  client.on('error', (error) =>
    lost.reject(
      hostRefused
        ? new Fault('conflict', 'the host key of the SFTP server differs from sftp_host_key of [backup]')
        : refused(error),
    ),
  );
  client.on('close', () => lost.reject(refused(new Error('the connection was closed'))));

  /** Converts a callback to a promise that also rejects when the connection is lost. */
  const call = <T>(begin: (done: (error: Error | null | undefined, result: T) => void) => void): Promise<T> =>
    Promise.race([
      new Promise<T>((resolve, reject) =>
        begin((error, result) => (error ? reject(refused(error)) : resolve(result))),
      ),
      lost.promise,
    ]);

  try {
    await call<void>((done) => {
      client.once('ready', () => done(null, undefined));
      client.connect({
        host,
        port,
        username: user,
        privateKey: identity.key,
        ...(identity.keyPassphrase !== undefined && { passphrase: identity.keyPassphrase }),
        readyTimeout: connectTimeout,
        keepaliveInterval: keepalive.interval,
        keepaliveCountMax: keepalive.most,
        hostVerifier(key: Buffer) {
          const digest = createHash('sha256').update(key).digest();
          hostRefused = digest.length !== pinned.length || !timingSafeEqual(digest, pinned);
          return !hostRefused;
        },
      });
    });
    const sftp = await call<SFTPWrapper>((done) => client.sftp(done));
    const stats = await call<{ isDirectory(): boolean }>((done) => sftp.stat(path, done));
    if (!stats.isDirectory()) throw new Fault('conflict', 'the backup directory is not a directory');
    return directory(sftp, path, call, () => client.end());
  } catch (error) {
    client.end();
    throw refused(error);
  }
}

type Call = <T>(begin: (done: (error: Error | null | undefined, result: T) => void) => void) => Promise<T>;

function directory(sftp: SFTPWrapper, path: string, call: Call, end: () => void): Destination {
  const at = (name: string): string => posix.join(path, name);
  const remove = (name: string): Promise<void> => call<void>((done) => sftp.unlink(at(name), (e) => done(e)));
  return {
    async put(name, chunks) {
      const temporary = temporaryName(name);
      const handle = await call<Buffer>((done) => sftp.open(at(temporary), 'wx', { mode: 0o600 }, done));
      let size = 0;
      try {
        for await (const chunk of chunks) {
          for (let from = 0; from < chunk.length; from += partLength) {
            const part = Buffer.from(chunk.subarray(from, from + partLength));
            await call<void>((done) => sftp.write(handle, part, 0, part.length, size + from, (e) => done(e)));
          }
          size += chunk.length;
        }
        await synchronise(sftp, handle, call);
        await call<void>((done) => sftp.close(handle, (e) => done(e)));
        await call<void>((done) => sftp.rename(at(temporary), at(name), (e) => done(e)));
      } catch (error) {
        await remove(temporary).catch(() => undefined);
        throw error;
      }
      return size;
    },
    names: async () => {
      const entries = await call<{ filename: string }[]>((done) => sftp.readdir(path, done));
      return entries.map(({ filename }) => filename);
    },
    remove,
    close: async () => end(),
  };
}

/** Makes a file durable with the extension of OpenSSH. Other servers are trusted to store what they have confirmed. */
async function synchronise(sftp: SFTPWrapper, handle: Buffer, call: Call): Promise<void> {
  try {
    await call<void>((done) => sftp.ext_openssh_fsync(handle, (e) => done(e)));
  } catch (error) {
    if (!(error instanceof Fault && isUnsupported(error.cause))) throw error;
  }
}

const isUnsupported = (cause: unknown): boolean =>
  cause instanceof Error && /does not support|unsupported/i.test(cause.message);

/** Returns the SHA-256 of the host key. Faults: conflict if the text contains none. */
function fingerprint(hostKey: string): Buffer {
  const [, digest] = /^SHA256:([A-Za-z0-9+/]{43})=?$/.exec(hostKey.trim()) ?? [];
  if (digest !== undefined) return Buffer.from(digest, 'base64');
  const [, blob] = /(?:^|\s)(?:ssh|ecdsa|sk)-[\w@.-]+\s+([A-Za-z0-9+/=]{40,})/.exec(hostKey) ?? [];
  if (blob !== undefined) return createHash('sha256').update(Buffer.from(blob, 'base64')).digest();
  throw new Fault('conflict', 'sftp_host_key of [backup] is not an SSH host key');
}

/** Status codes of SFTP (draft-ietf-secsh-filexfer-02 §7): no such file, permission denied. */
const reasons: Readonly<Record<number, string>> = {
  2: 'does not exist',
  3: 'is not writable for this account',
};

function refused(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const { code, level } = error as { readonly code?: number; readonly level?: string };
  const why = typeof code === 'number' ? reasons[code] : undefined;
  if (why !== undefined) return new Fault('conflict', `the backup directory ${why}`, { cause: error });
  if (level === 'client-authentication') {
    return new Fault('conflict', 'the SFTP server rejects sftp_key of [backup]', {
      cause: error,
    });
  }
  return new Fault('unavailable', 'the SFTP server is unreachable', { cause: error });
}
