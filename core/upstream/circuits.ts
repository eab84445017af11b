import { Fault } from '../fault.ts';
import type { Clock, Health } from '../ports/platform.ts';

/** Failures in a row after which an upstream is left alone for a while. */
const threshold = 3;
/** Milliseconds; doubles with every failure after that. */
const shortest = 10_000;
const longest = 300_000;

interface Circuit {
  failures: number;
  openUntil: number;
  reason: string;
}

/** Which upstreams answer, as this process has found out: one that does not is not asked on every device's behalf. */
export class Circuits {
  readonly #clock: Clock;
  readonly #circuits = new Map<string, Circuit>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Faults: unavailable while the upstream is left alone. */
  demand(issuer: string): void {
    const circuit = this.#circuits.get(issuer);
    if (!circuit || !this.isOpen(issuer)) return;
    const retryAfter = Math.ceil((circuit.openUntil - this.#clock.now()) / 1000);
    throw new Fault('unavailable', `the upstream CA "${issuer}" is unreachable`, { retryAfter });
  }

  isOpen(issuer: string): boolean {
    const left = (this.#circuits.get(issuer)?.openUntil ?? 0) - this.#clock.now();
    // Longer than ever is since the clock was put back.
    return left > 0 && left <= longest;
  }

  /** What is found out by a call. Whoever answers, be it with a refusal, is in reach. */
  async watch<T>(issuer: string, call: () => Promise<T>): Promise<T> {
    try {
      const result = await call();
      this.#circuits.delete(issuer);
      return result;
    } catch (error) {
      if (error instanceof Fault && error.code === 'unavailable') this.#failed(issuer, error.detail);
      else this.#circuits.delete(issuer);
      throw error;
    }
  }

  #failed(issuer: string, reason: string): void {
    const failures = (this.#circuits.get(issuer)?.failures ?? 0) + 1;
    const pause = failures < threshold ? 0 : Math.min(longest, shortest * 2 ** (failures - threshold));
    this.#circuits.set(issuer, { failures, openUntil: this.#clock.now() + pause, reason });
  }

  /** Not well from the failure that opens it to the next success. */
  health(issuer: string): Health {
    const circuit = this.#circuits.get(issuer);
    if (!circuit || circuit.failures < threshold) return { ok: true };
    return { ok: false, detail: `${circuit.failures} failures in a row: ${circuit.reason}` };
  }
}

/** Knows which upstream CAs fail at the moment. */
export interface WithCircuits {
  readonly circuits: Circuits;
}
