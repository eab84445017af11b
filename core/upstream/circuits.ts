import { Fault, toFault } from '../fault.ts';
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
  openedAt: number | null;
  lastSuccessAt: number | null;
  lastError: UpstreamError | null;
}

/** The latest failed call or refusal. */
export interface UpstreamError {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Contains no secrets: see `Issuer`. */
  readonly detail: string;
}

/** What this process knows of its calls to an upstream CA since it started. Times in milliseconds since 1970. */
export interface CircuitState {
  /** `open`: no calls. `halfOpen`: the next call decides whether the circuit closes or opens again. */
  readonly state: 'closed' | 'open' | 'halfOpen';
  /** Consecutive calls without a response. */
  readonly failures: number;
  /** When the circuit opened; null while it is closed. */
  readonly since: number | null;
  /** When calls are allowed again; null unless the circuit is open. */
  readonly nextTryAt: number | null;
  readonly lastSuccessAt: number | null;
  readonly lastError: UpstreamError | null;
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
    const circuit = this.#circuit(issuer);
    try {
      const result = await call();
      close(circuit);
      circuit.lastSuccessAt = this.#clock.now();
      return result;
    } catch (error) {
      const { code, detail } = toFault(error);
      circuit.lastError = { at: this.#clock.now(), detail: code === 'internal' ? 'internal error' : detail };
      if (error instanceof Fault && code === 'unavailable') this.#fail(circuit, detail);
      else close(circuit);
      throw error;
    }
  }

  #circuit(issuer: string): Circuit {
    const known = this.#circuits.get(issuer);
    if (known) return known;
    const circuit = {
      failures: 0,
      openUntil: 0,
      reason: '',
      openedAt: null,
      lastSuccessAt: null,
      lastError: null,
    };
    this.#circuits.set(issuer, circuit);
    return circuit;
  }

  #fail(circuit: Circuit, reason: string): void {
    const now = this.#clock.now();
    circuit.failures++;
    circuit.reason = reason;
    if (circuit.failures < threshold) return;
    circuit.openedAt ??= now;
    circuit.openUntil = now + Math.min(longest, shortest * 2 ** (circuit.failures - threshold));
  }

  /** Not ok from the failure that opens the circuit to the next success. */
  health(issuer: string): Health {
    const circuit = this.#circuits.get(issuer);
    if (!circuit || circuit.failures < threshold) return { ok: true };
    return { ok: false, detail: `${circuit.failures} failures in a row: ${circuit.reason}` };
  }

  state(issuer: string): CircuitState {
    const { failures, openedAt, openUntil, lastSuccessAt, lastError } = this.#circuit(issuer);
    const open = this.isOpen(issuer);
    return {
      state: open ? 'open' : openedAt === null ? 'closed' : 'halfOpen',
      failures,
      since: openedAt,
      nextTryAt: open ? openUntil : null,
      lastSuccessAt,
      lastError,
    };
  }
}

function close(circuit: Circuit): void {
  circuit.failures = 0;
  circuit.openUntil = 0;
  circuit.openedAt = null;
}

/** Gives access to the circuit breakers of upstream CAs. */
export interface WithCircuits {
  readonly circuits: Circuits;
}
