import type { PrivateKey } from './private-key.ts';

const mostKeys = 256;
/** Milliseconds after which the existence of a cached key is checked again. */
const trusted = 1000;

interface Entry {
  readonly key: PrivateKey;
  seen: number;
}

/** A cache of decrypted keys that evicts the least recently used. */
export class KeyCache {
  readonly #entries = new Map<string, Entry>();
  readonly #exists: (id: string) => boolean;

  constructor(exists: (id: string) => boolean) {
    this.#exists = exists;
  }

  get(id: string): PrivateKey | undefined {
    const entry = this.#entries.get(id);
    if (!entry) return undefined;
    this.#entries.delete(id);
    const now = performance.now();
    if (now - entry.seen > trusted) {
      if (!this.#exists(id)) return undefined;
      entry.seen = now;
    }
    this.#entries.set(id, entry);
    return entry.key;
  }

  set(id: string, key: PrivateKey): void {
    this.#entries.delete(id);
    this.#entries.set(id, { key, seen: performance.now() });
    if (this.#entries.size <= mostKeys) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      break;
    }
  }

  delete(id: string): void {
    this.#entries.delete(id);
  }

  clear(): void {
    this.#entries.clear();
  }
}
