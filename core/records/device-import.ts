import type { Actor } from './audit-event.ts';

/**
 * `receiving`: its rows come in; `waiting`, `running`: devices are being made of them; the others are how it ended. One that was
 * cancelled or failed is done with once what is left of its rows has been deleted (`finishedAt`).
 */
export type DeviceImportState = 'receiving' | 'waiting' | 'running' | 'done' | 'cancelled' | 'failed';

/** Devices that are made of the rows of a table. The counts count rows. */
export interface DeviceImport {
  readonly id: number;
  readonly createdAt: number;
  readonly fileName: string;
  /** Who makes them. */
  readonly actor: Actor;
  readonly state: DeviceImportState;
  readonly total: number;
  readonly done: number;
  readonly created: number;
  readonly refused: number;
  /** The next one to be read. */
  readonly part: number;
  readonly finishedAt: number | null;
  /** Why it failed. */
  readonly reason: string | null;
}

/** Why a row has become no device. */
export interface ImportRefusal {
  /** In the file, from 1. */
  readonly line: number;
  /** A column; empty where none is at fault. */
  readonly field: string;
  readonly message: string;
}

/** Some rows of an import, in order; once it is done with, what was refused of them. */
export interface DeviceImportPart {
  readonly id: number;
  readonly deviceImport: number;
  /** 0, 1, 2, … */
  readonly number: number;
  /** `ImportRow`s as JSON, sealed by the vault: there may be secrets in them. */
  readonly rows: Uint8Array | null;
  readonly refusals: readonly ImportRefusal[];
}
