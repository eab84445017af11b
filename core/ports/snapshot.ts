export type SnapshotValue = number | string | boolean | Uint8Array | null;

/** A table in a snapshot, independent of the database. Its rows follow. */
export interface SnapshotTable {
  readonly name: string;
  readonly columns: readonly {
    readonly name: string;
    readonly type: 'integer' | 'text' | 'boolean' | 'bytes';
  }[];
  /** The highest id ever used: new records get higher ids. null if the rows have no id. */
  readonly lastId: number | null;
}

/** A table, or rows of the preceding table with values in the order of its columns. */
export type SnapshotItem =
  | { readonly table: SnapshotTable }
  | { readonly rows: readonly (readonly SnapshotValue[])[] };

/** Everything durable at one moment. Tables follow the tables that they refer to. */
export interface Snapshot {
  /** The version of the table layout. */
  readonly schema: string;
  /** True for a copy of everything, for a store that takes the place of this one; false for a backup. */
  readonly isCopy: boolean;
  /** Can be read only once. */
  readonly items: AsyncIterable<SnapshotItem>;
}

/**
 * The setting that a store writes in the transaction in which it loads a backup. The service does not start before the core has
 * reconciled the restored data (`core/backups/settle.ts`).
 */
export const unsettledRestore = 'restore-unsettled';
