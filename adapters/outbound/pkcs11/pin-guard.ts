import { mkdir, open, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Vault } from '#core/ports/platform.ts';
import { ckf } from './cryptoki.ts';
import { isWrongPin, TokenFailure } from './failure.ts';
import type { TokenFacts } from './messages.ts';

/** The result of the last login attempt. */
interface PinRecord {
  readonly accepted: boolean;
  /** The serial number of the token and the PIN, encrypted by the vault. */
  readonly sealed: string;
}

interface Options {
  /** The path of the record. During a login there is a lock file beside it. */
  readonly file: string;
  readonly pin: string;
  readonly vault: Vault;
}

const vaultContext = 'pkcs11 pin';
/** Milliseconds after which a lock counts as abandoned, and between two checks of it. */
const abandoned = 30_000;
const glance = 50;

/**
 * Prevents a wrong PIN from locking the token. A PIN that the token has rejected is not tried again, neither by this
 * process nor by others nor after a restart, until the configuration contains another PIN. A PIN that has never worked
 * is not tried either while the token reports a failed login, even one by another application.
 */
export class PinGuard {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Logs in if that is safe. Errors: TokenFailure; `pin` if the PIN was not tried. */
  async use(token: TokenFacts, login: (pin: string) => Promise<unknown>): Promise<void> {
    if ((token.flags & ckf.loginRequired) === 0) return;
    await this.#alone(async () => {
      const record = await this.#read();
      const same = record !== undefined && this.#isAbout(record, token);
      const objection = this.#objection(token.flags, record, same);
      if (objection !== undefined) throw new TokenFailure('pin', objection);
      try {
        await login(this.#options.pin);
      } catch (error) {
        if (isWrongPin(error)) await this.#write(token, false);
        throw error;
      }
      if (!same) await this.#write(token, true);
    });
  }

  /**
   * Encrypts the record with the current master key. Returns 1 if it was encrypted with an older one, else 0. A record
   * that cannot be decrypted is ignored and kept.
   */
  async reseal(): Promise<number> {
    let count = 0;
    await this.#alone(async () => {
      const record = await this.#read();
      if (!record) return;
      const sealed = resealed(this.#options.vault, record);
      if (!sealed) return;
      await this.#replace({ ...record, sealed: Buffer.from(sealed).toString('base64') });
      count = 1;
    });
    return count;
  }

  #objection(flags: number, record: PinRecord | undefined, same: boolean): string | undefined {
    if (same && !record?.accepted) {
      return `the token rejected this PIN: configure the right PIN, or delete ${this.#options.file} to try this one again`;
    }
    if (flags & ckf.userPinLocked)
      return 'the token has locked its PIN: unlock it with the tools of its vendor';
    if (flags & ckf.userPinFinalTry) {
      return 'the next wrong PIN locks the token: log in to it once with another tool';
    }
    // The configured PIN has worked before, or has been changed since it was rejected.
    const trusted = record !== undefined && same === record.accepted;
    if (flags & ckf.userPinCountLow && !trusted) {
      return 'the token reports a failed login, and this PIN has never worked: log in to it once with another tool';
    }
    return undefined;
  }

  #text = (token: TokenFacts): string => `${token.serial}\n${this.#options.pin}`;

  #isAbout({ sealed }: PinRecord, token: TokenFacts): boolean {
    try {
      const plain = this.#options.vault.open(Buffer.from(sealed, 'base64'), vaultContext);
      return Buffer.from(plain).toString() === this.#text(token);
    } catch {
      // Encrypted with another master key.
      return false;
    }
  }

  /** Errors: TokenFailure `pin` if the record cannot be read, so that a rejected PIN would be unknown. */
  async #read(): Promise<PinRecord | undefined> {
    const { file } = this.#options;
    const text = await readFile(file, 'utf8').catch((error) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (text === undefined) return undefined;
    const record = parsed(text);
    if (!isRecord(record)) {
      throw new TokenFailure('pin', `${file} is damaged: delete it to try the PIN again`);
    }
    return record;
  }

  async #write(token: TokenFacts, accepted: boolean): Promise<void> {
    const sealed = this.#options.vault.seal(Buffer.from(this.#text(token)), vaultContext);
    await this.#replace({ accepted, sealed: Buffer.from(sealed).toString('base64') });
  }

  async #replace(record: PinRecord): Promise<void> {
    const { file } = this.#options;
    await writeFile(`${file}.new`, `${JSON.stringify(record)}\n`, { mode: 0o600, flush: true });
    await rename(`${file}.new`, file);
  }

  /** Allows one login at a time on this machine, so that of several starting processes only one tries a wrong PIN. */
  async #alone(work: () => Promise<void>): Promise<void> {
    const lock = `${this.#options.file}.lock`;
    await mkdir(dirname(lock), { recursive: true, mode: 0o700 });
    for (;;) {
      try {
        await (await open(lock, 'wx', 0o600)).close();
        break;
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      }
      const held = await stat(lock).catch(() => undefined);
      if (held && Date.now() - held.mtimeMs > abandoned) await unlink(lock).catch(() => undefined);
      else await Bun.sleep(glance);
    }
    try {
      await work();
    } finally {
      await unlink(lock).catch(() => undefined);
    }
  }
}

function resealed(vault: Vault, { sealed }: PinRecord): Uint8Array | undefined {
  try {
    return vault.reseal(Buffer.from(sealed, 'base64'), vaultContext);
  } catch {
    return undefined;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is PinRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { accepted, sealed } = value as Record<string, unknown>;
  return typeof accepted === 'boolean' && typeof sealed === 'string';
}
