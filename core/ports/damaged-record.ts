import type { Kind } from './store.ts';

/** A stored record that cannot be read. The message has its name and nothing of what it holds. The cause of a Fault `internal`. */
export class DamagedRecord extends Error {
  override readonly name = 'DamagedRecord';
  readonly kind: Kind;
  readonly id: number;

  constructor(kind: Kind, id: number, message: string) {
    super(message);
    this.kind = kind;
    this.id = id;
  }
}
