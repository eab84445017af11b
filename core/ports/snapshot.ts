export type SnapshotValue = number | string | boolean | Uint8Array | null;

/** A table as a snapshot has it, whatever the database. Its rows follow. */
export interface SnapshotTable {
  readonly name: string;
  readonly columns: readonly {
    readonly name: string;
    readonly type: 'integer' | 'text' | 'boolean' | 'bytes';
  }[];
  /** No id up to this one is given to a new record; null where rows have none. */
  readonly lastId: number | null;
}

/** A table, or rows of the table before: the values in the order of its columns. */
export type SnapshotItem =
  | { readonly table: SnapshotTable }
  | { readonly rows: readonly (readonly SnapshotValue[])[] };

/** Everything durable as it stood at one moment; tables come after those that they refer to. */
export interface Snapshot {
  /** Names the shape of the tables. */
  readonly schema: string;
  /** Can be read once. */
  readonly items: AsyncIterable<SnapshotItem>;
}

/**
 * The setting that a store leaves behind in the transaction that restores it: the service does not start before the core has
 * settled what the snapshot cannot know (`core/backups/settle.ts`).
 */
export const unsettledRestore = 'restore-unsettled';
