import { Fault } from '../fault.ts';
import type { Clock, Health } from '../ports/platform.ts';

/** Consecutive failures after which the circuit to an upstream CA opens. */
const threshold = 3;
/** How long a circuit stays open, in milliseconds; doubles with every further failure. */
const shortest = 10_000;
const longest = 300_000;

interface Circuit {
  failures: number;
  openUntil: number;
  reason: string;
}

/** Circuit breakers of this process: an upstream CA that fails is not called again for every device's request. */
export class Circuits {
  readonly #clock: Clock;
  readonly #circuits = new Map<string, Circuit>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Faults: unavailable while the circuit is open. */
  demand(issuer: string): void {
    const circuit = this.#circuits.get(issuer);
    if (!circuit || !this.isOpen(issuer)) return;
    const retryAfter = Math.ceil((circuit.openUntil - this.#clock.now()) / 1000);
    throw new Fault('unavailable', `the upstream CA "${issuer}" is unreachable`, { retryAfter });
  }

  isOpen(issuer: string): boolean {
    const left = (this.#circuits.get(issuer)?.openUntil ?? 0) - this.#clock.now();
    // A longer period can only come from a clock that was set back.
    return left > 0 && left <= longest;
  }

  /** Runs a call and records whether it fails. An upstream CA that responds, even with a refusal, is reachable. */
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

  /** Not ok from the failure that opens the circuit to the next success. */
  health(issuer: string): Health {
    const circuit = this.#circuits.get(issuer);
    if (!circuit || circuit.failures < threshold) return { ok: true };
    return { ok: false, detail: `${circuit.failures} failures in a row: ${circuit.reason}` };
  }
}

/** Gives access to the circuit breakers of upstream CAs. */
export interface WithCircuits {
  readonly circuits: Circuits;
}
