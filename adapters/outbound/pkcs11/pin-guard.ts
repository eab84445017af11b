import { mkdir, open, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Vault } from '#core/ports/platform.ts';
import { ckf } from './cryptoki.ts';
import { isWrongPin, TokenFailure } from './failure.ts';
import type { TokenFacts } from './messages.ts';

/** What became of the last PIN that was tried. */
interface PinRecord {
  readonly accepted: boolean;
  /** Serial number of the token and PIN, under the vault. */
  readonly sealed: string;
}

interface Options {
  /** Where the record is kept; beside it, while somebody logs in, a lock. */
  readonly file: string;
  readonly pin: string;
  readonly vault: Vault;
}

const vaultContext = 'pkcs11 pin';
/** Milliseconds after which a lock belongs to nobody any more, and between two looks at it. */
const abandoned = 30_000;
const glance = 50;

/**
 * Keeps a wrong PIN from locking the token: what the token has refused once is not tried again, by this process, by others beside
 * it or after a restart, until the configuration has another PIN. A PIN that has never worked is not tried either while
 * the token counts a wrong one, be it somebody else's.
 */
export class PinGuard {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Logs in, if that is safe. Errors: TokenFailure, `pin` when the PIN was not tried. */
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

  /** Seals the record under the current master key; 1 when it was not, else 0. A record of a foreign key says nothing, and stays. */
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
      return `the token has refused this PIN; it is tried again when the configuration has another one, or without ${this.#options.file}`;
    }
    if (flags & ckf.userPinLocked) return 'the token has locked its PIN; unlock it with its own tools';
    if (flags & ckf.userPinFinalTry) {
      return 'one more wrong PIN locks the token; log in to it once with another tool';
    }
    // Ours was right before, or has been corrected since it was wrong.
    const trusted = record !== undefined && same === record.accepted;
    if (flags & ckf.userPinCountLow && !trusted) {
      return 'the token has been given a wrong PIN, and this one has never worked; log in to it once with another tool';
    }
    return undefined;
  }

  #text = (token: TokenFacts): string => `${token.serial}\n${this.#options.pin}`;

  #isAbout({ sealed }: PinRecord, token: TokenFacts): boolean {
    try {
      const plain = this.#options.vault.open(Buffer.from(sealed, 'base64'), vaultContext);
      return Buffer.from(plain).toString() === this.#text(token);
    } catch {
      // Of another master key.
      return false;
    }
  }

  /** Errors: TokenFailure `pin` where it cannot be told whether the token has refused the PIN. */
  async #read(): Promise<PinRecord | undefined> {
    const { file } = this.#options;
    const text = await readFile(file, 'utf8').catch((error) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (text === undefined) return undefined;
    const record = parsed(text);
    if (!isRecord(record)) {
      throw new TokenFailure('pin', `${file} is damaged; delete it to try the PIN again`);
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

  /** One login at a time on this machine: of several processes that start, only the first tries a wrong PIN. */
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
