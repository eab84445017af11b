import { Fault } from '#core/fault.ts';
import type { KeyStore, StoredKey } from '#core/ports/keys.ts';
import type { Health, Log, Vault } from '#core/ports/platform.ts';
import type { PublicKey } from '#core/x509/public-key.ts';
import { isNotOffered, TokenFailure } from './failure.ts';
import { keyTypesOf, possibleKeyTypes, templateOf } from './key-types.ts';
import type { Place, Scheme } from './messages.ts';
import { PinGuard } from './pin-guard.ts';
import { TokenConnection } from './token-connection.ts';
import { publicKeyOf } from './token-public-key.ts';
import { fromToken, toSign, toSignDigest } from './token-signature.ts';

export interface TokenOptions extends Place {
  readonly pin: string;
  /** The path of the record about rejected PINs, see `PinGuard`. */
  readonly pinFile: string;
  readonly vault: Vault;
  readonly log: Log;
  /** The number of concurrent operations. */
  readonly sessions?: number;
  /** Milliseconds to wait for a response. Generating a key may take longer. */
  readonly patience?: number;
  /** Environment variables of the module, in addition to those of `moduleEnvironment`. */
  readonly environment?: Readonly<Record<string, string>>;
}

const usualSessions = 4;
const usualPatience = 10_000;
/** Milliseconds. A small device may need minutes to generate a large RSA key. */
const generatePatience = 180_000;
/** Milliseconds. Health checks wait for a shorter time than signatures. */
const healthPatience = 2000;
/** Seconds. */
const retryAfter = 5;
const mostLabelCharacters = 100;
/** CKA_ID in hexadecimal. */
const tokenId = /^(?:[0-9a-f]{2}){1,32}$/;
const mostKnownKeys = 1000;

type Signing = Scheme & { readonly data: Uint8Array };

/**
 * Opens a key store in a PKCS #11 token, which keys never leave. Throws an Error for an invalid configuration: the
 * module, the PIN. A token that is temporarily absent is no error.
 */
export async function openToken(options: TokenOptions): Promise<KeyStore> {
  const { library, parameters, token, slot, pin, pinFile, vault, log } = options;
  const { sessions = usualSessions, patience = usualPatience, environment = {} } = options;
  const guard = new PinGuard({ file: pinFile, pin, vault });
  const connection = new TokenConnection({
    place: {
      library,
      ...(parameters !== undefined && { parameters }),
      ...(token !== undefined && { token }),
      ...(slot !== undefined && { slot }),
    },
    environment,
    pin: guard,
    sessions,
    patience,
    log,
  });
  try {
    await connection.reach();
  } catch (error) {
    if (!(error instanceof TokenFailure) || misconfigured.has(error.kind)) {
      await connection.close();
      throw new Error(explained(error));
    }
  }

  /** Public keys by id: the type of a key must be known before it signs. */
  const known = new Map<string, PublicKey>();

  async function find(by: { readonly id: string } | { readonly label: string }): Promise<StoredKey> {
    const found = await orFault(
      connection.use((process) => process.ask('find', by, patience), { again: true }),
    );
    return remember(found.id, publicKeyOf(found));
  }

  function remember(id: string, key: PublicKey): StoredKey {
    if (known.size >= mostKnownKeys) known.clear();
    known.set(id, key);
    return { id, spki: key.spki };
  }

  async function publicKey(id: string): Promise<PublicKey> {
    if (!tokenId.test(id)) throw new Fault('notFound', 'there is no such key');
    await find({ id });
    return known.get(id)!;
  }

  async function sign(
    id: string,
    scheme: (key: PublicKey) => Signing | Promise<Signing>,
    signal?: AbortSignal,
  ): Promise<Uint8Array> {
    const key = known.get(id) ?? (await publicKey(id));
    const what = { id, ...(await scheme(key)) };
    try {
      const signing = connection.use((process) => process.ask('sign', what, patience), {
        again: true,
        signal,
      });
      return fromToken(key, await orFault(signing));
    } catch (error) {
      if (error instanceof Fault && error.code === 'notFound') known.delete(id);
      throw error;
    }
  }

  return {
    get keyTypes() {
      return connection.facts ? keyTypesOf(connection.facts) : possibleKeyTypes;
    },
    async generate(type, label) {
      const template = templateOf(type);
      if (!template) throw new Fault('badAlgorithm', `tokens cannot generate keys of type ${type}`);
      const of = { template, label: [...label].slice(0, mostLabelCharacters).join('') };
      // Not repeated: the first attempt may have generated the key.
      const making = connection.use((process) => process.ask('generate', of, generatePatience), {
        again: false,
      });
      const made = await orFault(making);
      return remember(made.id, publicKeyOf(made));
    },
    find: (label) => find({ label }),
    publicKey: async (id) => (await publicKey(id)).spki,
    sign: (id, algorithm, data, signal) => sign(id, (key) => toSign(key, algorithm, data), signal),
    signDigest: (id, algorithm, digest) => sign(id, (key) => toSignDigest(key, algorithm, digest)),
    async remove(id) {
      known.delete(id);
      if (!tokenId.test(id)) return;
      await orFault(connection.use((process) => process.ask('remove', { id }, patience), { again: true }));
    },
    reseal: () => guard.reseal(),
    async health() {
      const late = Promise.withResolvers<Health>();
      const timer = setTimeout(() => late.resolve({ ok: false, detail: outward.late }), healthPatience);
      const checked = connection.check().then(
        () => ({ ok: true }),
        (error) => ({ ok: false, detail: reasonOf(error) }),
      );
      const health = await Promise.race([checked, late.promise]);
      clearTimeout(timer);
      return health;
    },
    close: () => connection.close(),
  };
}

const misconfigured: ReadonlySet<TokenFailure['kind']> = new Set(['driver', 'library', 'pin']);

/** Returns an explanation for the operator. */
function explained(error: unknown): string {
  if (!(error instanceof TokenFailure)) return error instanceof Error ? error.message : String(error);
  const detail = error.message;
  if (error.kind === 'library') return `the PKCS #11 module cannot be used: ${detail}`;
  if (error.kind !== 'driver') return detail;
  return `pkcs11js is not built: install npm, python3, make and g++, delete node_modules and start again (${detail})`;
}

/** Messages for clients, without details of the installation. */
const outward: Readonly<Record<TokenFailure['kind'], string>> = {
  driver: 'PKCS #11 is not available on this machine',
  library: 'the PKCS #11 module cannot be used',
  absent: 'the token is not present',
  notFound: 'there is no such key',
  several: 'the token has several keys of this name',
  vanished: 'a key is no longer on the token',
  cryptoki: 'the token reports an error',
  pin: 'login to the token failed',
  late: 'the token does not respond',
  busy: 'the token is busy',
  ended: 'the connection to the token was lost',
};

function reasonOf(error: unknown): string {
  if (!(error instanceof TokenFailure)) return 'the token reports an error';
  return error.kind === 'cryptoki' ? `${outward.cryptoki}: ${error.message}` : outward[error.kind];
}

async function orFault<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    throw error instanceof TokenFailure ? faultOf(error) : error;
  }
}

function faultOf(failure: TokenFailure): Fault {
  const cause = failure;
  if (failure.kind === 'notFound') return new Fault('notFound', failure.message, { cause });
  if (failure.kind === 'several') return new Fault('conflict', outward.several, { cause });
  if (isNotOffered(failure)) {
    return new Fault('badAlgorithm', `the token does not offer this (${failure.message})`, { cause });
  }
  return new Fault('unavailable', reasonOf(failure), { retryAfter, cause });
}
