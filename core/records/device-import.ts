import type { Actor } from './audit-event.ts';

/**
 * `receiving`: rows are still arriving. `waiting`, `running`: devices are being created. The other states are final. A
 * cancelled or failed import is complete once its remaining rows have been deleted (`finishedAt`).
 */
export type DeviceImportState = 'receiving' | 'waiting' | 'running' | 'done' | 'cancelled' | 'failed';

/** Creates devices from the rows of a table. All counts are numbers of rows. */
export interface DeviceImport {
  readonly id: number;
  readonly createdAt: number;
  readonly fileName: string;
  /** The account that started the import. */
  readonly actor: Actor;
  readonly state: DeviceImportState;
  readonly total: number;
  readonly done: number;
  readonly created: number;
  readonly refused: number;
  /** The next part to be read. */
  readonly part: number;
  readonly finishedAt: number | null;
  /** Why the import failed. */
  readonly reason: string | null;
}

/** Why a row did not become a device. */
export interface ImportRefusal {
  /** The line in the file, from 1. */
  readonly line: number;
  /** The invalid column; empty if the error concerns the whole row. */
  readonly field: string;
  readonly message: string;
}

/** Some rows of an import, in order. Once the import is complete, only the refusals remain. */
export interface DeviceImportPart {
  readonly id: number;
  readonly deviceImport: number;
  /** 0, 1, 2, … */
  readonly number: number;
  /** `ImportRow`s as JSON, sealed by the vault because they may contain secrets. */
  readonly rows: Uint8Array | null;
  readonly refusals: readonly ImportRefusal[];
}
