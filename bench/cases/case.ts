import type { Load } from '../load-process.ts';
import type { Result } from '../report.ts';

/** How much is measured. */
export interface Extent {
  /** How many have their turn at what has a reach, one after the other: a server differs from the next by some 5 %, all its life. */
  readonly servers: number;
  readonly rounds: number;
  /** Exchanges in a round. */
  readonly perRound: number;
  /** Enrolments before the first round: the engine compiles what it sees often. */
  readonly warmUp: number;
  /** Certificates in the store that is not empty. */
  readonly filled: number;
  /** Enrolments over which memory is watched. */
  readonly watched: number;
  readonly starts: number;
  /** Entries of the longest CRL. */
  readonly revoked: number;
  /** Devices that the console has to show. */
  readonly inventory: number;
  /** Devices of the longest import. */
  readonly imported: number;
}

export interface Case {
  readonly name: string;
  run(load: Load, extent: Extent): Promise<readonly Result[]>;
}

/** Kept alive, or as many handshakes at a time: the devices that wait at a gateway with all that it can do. */
export const connections = 64;
export const deviceCount = 1000;

/** What every server here is configured with, TOML. */
export const loopback = '[server]\nhost = "127.0.0.1"\n';

export const times = (ratio: number): string => `${ratio.toFixed(2)} ×`;
export const microseconds = (time: number): string => `${time.toFixed(0)} µs`;
