/** The wall clock. Milliseconds since 1970, never decreasing by more than clock adjustments do. */
export interface Clock {
  now(): number;
}

/** Cryptographically strong randomness, a fresh array at each call. */
export interface Entropy {
  bytes(length: number): Uint8Array;
}

/** State of something outside the process, for health and metrics. `detail` holds no secrets. */
export interface Health {
  readonly ok: boolean;
  readonly detail?: string;
}
