import type { Load } from '../load-process.ts';
import type { Result } from '../report.ts';

/** The size of a benchmark run. */
export interface Extent {
  /** Servers started one after the other for each case with a target: two servers differ by some 5 % for all their life. */
  readonly servers: number;
  readonly rounds: number;
  /** Requests in a round. */
  readonly perRound: number;
  /** Enrolments before the first round, so that the JavaScript engine has compiled the code. */
  readonly warmUp: number;
  /** Certificates in the filled store. */
  readonly filled: number;
  /** Enrolments during which memory is measured. */
  readonly watched: number;
  readonly starts: number;
  /** Entries of the longest CRL. */
  readonly revoked: number;
  /** Devices in the store behind the console. */
  readonly inventory: number;
  /** Devices of the longest import. */
  readonly imported: number;
}

export interface Case {
  readonly name: string;
  run(load: Load, extent: Extent): Promise<readonly Result[]>;
}

/** Concurrent connections (kept alive or new ones): enough to keep a gateway busy. */
export const connections = 64;
export const deviceCount = 1000;

/** The configuration (TOML) of every server in the benchmark. */
export const loopback = '[server]\nhost = "127.0.0.1"\n';

export const times = (ratio: number): string => `${ratio.toFixed(2)} ×`;
export const microseconds = (time: number): string => `${time.toFixed(0)} µs`;
