import { createConnection, type Socket } from 'node:net';
import postgres from 'postgres';
import { Fault, toFault } from '#core/fault.ts';
import type { Row, SqlValue } from './codec.ts';
import type { Hosts } from './postgres-hosts.ts';
import { unavailable } from './queries.ts';
import { isRefusal } from './refusal.ts';

/** What parameters may be besides what postgres.js knows. */
export type Types = { bigint: number; bytea: Uint8Array };
export type Client = postgres.Sql<Types>;

/** Bounds of everything that waits for the database, in milliseconds. */
export interface Timeouts {
  readonly connect: number;
  /** The server gives up a statement after this; a second later, we give up the connection. */
  readonly statement: number;
  /** A commit that is not confirmed after this counts as lost. PostgreSQL itself waits for a synchronous standby without any limit. */
  readonly commit: number;
}

export function connect(
  hosts: Hosts,
  timeouts: Timeouts,
  {
    max,
    onclose,
    onnotice = () => {},
  }: {
    readonly max: number;
    readonly onclose?: () => void;
    readonly onnotice?: (notice: postgres.Notice) => void;
  },
): Client {
  // Its types do not know of it, its README does.
  const unlisted = { socket: opener() };
  return postgres(hosts.url, {
    max,
    ...unlisted,
    // Of several servers, those that only follow are of no use: what they show may be old. (`read-write` lets them pass.)
    ...(hosts.count > 1 && { target_session_attrs: 'primary' }),
    ...(onclose && { onclose }),
    connect_timeout: Math.ceil(timeouts.connect / 1000),
    max_lifetime: null,
    // Between attempts to connect, in seconds.
    backoff: (attempt) => Math.min(0.05 * 2 ** attempt, 1),
    // Arrays are spelt here. Without it, `reserve` waits for ever where there is no connection yet: ask something first.
    fetch_types: false,
    onnotice,
    types: {
      bigint: { to: 20, from: [20], serialize: String, parse: Number },
      bytea: {
        to: 17,
        from: [17],
        serialize: (bytes: Uint8Array) => `\\x${toHex(bytes)}`,
        parse: (text: string): Uint8Array => Uint8Array.fromHex(text.slice(2)),
      },
    },
    connection: {
      application_name: 'postern',
      synchronous_commit: 'on',
      statement_timeout: timeouts.statement,
      // What a gateway that lost its power had locked is free again after this.
      idle_in_transaction_session_timeout: timeouts.statement,
    },
  });
}

/** Between attempts to connect, in milliseconds, where a connection has ended without a word. */
const pause = 200;

interface Place {
  readonly host: readonly string[];
  readonly port: readonly number[];
  /** Of a Unix socket. */
  readonly path?: string | false;
}

/**
 * Opens sockets for postgres.js, which tries again at once and for ever (3.4.9) where one is accepted and closed, as by a proxy
 * that has no server left: hundreds of times a second. Here that is a connection that could not be made.
 */
function opener(): (place: Place) => Socket {
  let notBefore = 0;
  return ({ host: [host = ''], port: [port = 5432], path }) => {
    if (performance.now() < notBefore) throw connectionLost();
    const socket = path ? createConnection(path) : createConnection(port, host);
    socket.once('close', () => {
      if (socket.bytesRead === 0) notBefore = performance.now() + pause;
    });
    // What the certificate is checked for.
    return Object.assign(socket, { host, port });
  };
}

const toHex = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');

export interface Answer {
  readonly rows: Row[];
  /** How many rows were written. */
  readonly count: number;
}

/** One statement on the connection of a transaction. */
export type Send = (sql: string, parameters: readonly SqlValue[]) => Promise<Answer>;

/** LookupBatcher whether the server behind a connection has gone back in time. Faults: unavailable. */
export type Sight = (send: Send) => Promise<unknown>;

export async function ask(
  sql: postgres.Sql<Types>,
  text: string,
  parameters: readonly SqlValue[],
  reuse: boolean,
): Promise<Answer> {
  // A copy: the driver writes into the array.
  const rows = await sql.unsafe<Row[]>(text, [...parameters], { prepare: reuse });
  return { rows: Array.from(rows), count: rows.count };
}

/** Fault unavailable for a server that takes no writes, where there is another one to go to. Returns the process id of the backend. */
export async function demandWrites(client: Client, hosts: Hosts): Promise<number> {
  const [row] =
    await client`select current_setting('transaction_read_only') as read_only, pg_backend_pid() as pid`;
  if (hosts.count > 1 && row?.read_only === 'on') throw unavailable();
  return Number(row?.pid);
}

/**
 * PostgreSQL gave up waiting for the synchronous standby, and says so in a warning beside what looks like a success: the transaction
 * is on this server, and would be lost with it. The text of the warning depends on the language of the server, its origin does not.
 */
export const isUnreplicated = ({ routine }: postgres.Notice): boolean => routine === 'SyncRepWaitForLSN';

/** A commit took effect on the primary alone. */
export class Unreplicated extends Fault {
  constructor() {
    super('unavailable', 'the synchronous standby of the database does not confirm commits', {
      retryAfter: 1,
    });
  }
}

/** Waits for all, so that nothing is under way any more, then throws what went wrong first: the rest follows from it. */
export async function settle<T extends readonly unknown[]>(
  promises: T,
): Promise<{ -readonly [I in keyof T]: Awaited<T[I]> }> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/** `promise`, or Fault unavailable after `ms`, when `late` is called. */
export async function within<T>(ms: number, promise: Promise<T>, late: () => void): Promise<T> {
  let timer: Timer | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      late();
      reject(unavailable(new Error(`no answer within ${ms} ms`)));
    }, ms);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

export const connectionLost = (): Error =>
  Object.assign(new Error('the connection is lost'), { code: 'CONNECTION_CLOSED' });

/** Whether it is the connection that failed, or may have, and not the statement. */
export function isLost(error: unknown): boolean {
  if (error instanceof postgres.PostgresError) return /^(08|57P0|25P03)/.test(error.code);
  return !isRefusal(error);
}

const codeOf = (error: unknown): string => (error instanceof postgres.PostgresError ? error.code : '');

/** The server has become one that only follows, or was told to take no writes: nothing of the statement happened. */
export const isReadOnly = (error: unknown): boolean => codeOf(error) === '25006';

/** There are as many connections as there may be; another one of ours may be free soon. */
export const isCrowded = (error: unknown): boolean => codeOf(error) === '53300';

/**
 * Worth another try at once: a deadlock, or a conflict of serializable transactions, is gone when the other one is through. A
 * primary key is taken (they come from sequences) by nobody but an attempt of ours that was given up too early.
 */
export const isPassing = (error: unknown): boolean => /^(40001|40P01|23505)$/.test(codeOf(error));

/**
 * The database is away, overloaded, in recovery or will not let us in: all that may change without us. So may a primary key that is
 * taken (23505; other unique values are Refusals): ids come from sequences, and those of an older copy are behind its records.
 */
const outside = /^(08|23505|25006|25P03|28|3D000|40|53|55P03|57)/;

export function asFault(error: unknown): Fault {
  const isOutside =
    error instanceof postgres.PostgresError
      ? outside.test(error.code)
      : error instanceof Error && 'code' in error && typeof error.code === 'string';
  return error instanceof Fault ? error : isOutside ? unavailable(error) : toFault(error);
}
