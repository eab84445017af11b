import { createConnection, type Socket } from 'node:net';
import postgres from 'postgres';
import { Fault, toFault } from '#core/fault.ts';
import type { Row, SqlValue } from './codec.ts';
import type { Hosts } from './postgres-hosts.ts';
import { unavailable } from './queries.ts';
import { isRefusal } from './refusal.ts';

/** The parameter types in addition to those of postgres.js. */
export type Types = { bigint: number; bytea: Uint8Array };
export type Client = postgres.Sql<Types>;

/** The limits of all waits for the database, in milliseconds. */
export interface Timeouts {
  readonly connect: number;
  /** The server cancels a statement after this time. A second later, the client closes the connection. */
  readonly statement: number;
  /**
   * A commit that is not confirmed within this time counts as lost. PostgreSQL itself waits for a synchronous standby
   * without limit.
   */
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
  // Documented in the README of postgres.js, but missing in its types.
  const unlisted = { socket: opener() };
  return postgres(hosts.url, {
    max,
    ...unlisted,
    // Of several servers, use only the primary: a standby may return old data. (`read-write` would accept one.)
    ...(hosts.count > 1 && { target_session_attrs: 'primary' }),
    ...(onclose && { onclose }),
    connect_timeout: Math.ceil(timeouts.connect / 1000),
    max_lifetime: null,
    // The pause between two attempts to connect, in seconds.
    backoff: (attempt) => Math.min(0.05 * 2 ** attempt, 1),
    // Array types are given here. With it, `reserve` would wait forever without a connection: run a query first.
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
      // Releases the locks of a gateway that lost power.
      idle_in_transaction_session_timeout: timeouts.statement,
    },
  });
}

/** The pause in milliseconds before the next attempt after a connection was closed without a response. */
const pause = 200;

interface Place {
  readonly host: readonly string[];
  readonly port: readonly number[];
  /** The path of a Unix socket. */
  readonly path?: string | false;
}

/**
 * Opens sockets for postgres.js. If a connection is accepted and closed, as by a proxy without a server, postgres.js
 * (3.4.9) reconnects at once and without limit, hundreds of times per second. This function reports it as a failed
 * connection instead.
 */
function opener(): (place: Place) => Socket {
  let notBefore = 0;
  return ({ host: [host = ''], port: [port = 5432], path }) => {
    if (performance.now() < notBefore) throw connectionLost();
    const socket = path ? createConnection(path) : createConnection(port, host);
    socket.once('close', () => {
      if (socket.bytesRead === 0) notBefore = performance.now() + pause;
    });
    // The name that the certificate must have.
    return Object.assign(socket, { host, port });
  };
}

const toHex = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');

export interface Answer {
  readonly rows: Row[];
  /** The number of rows that were written. */
  readonly count: number;
}

/** Runs a statement on the connection of a transaction. */
export type Send = (sql: string, parameters: readonly SqlValue[]) => Promise<Answer>;

/** Checks whether the server of a connection has gone back in time. Faults: unavailable. */
export type Sight = (send: Send) => Promise<unknown>;

export async function ask(
  sql: postgres.Sql<Types>,
  text: string,
  parameters: readonly SqlValue[],
  reuse: boolean,
): Promise<Answer> {
  // Copy the array, because the driver modifies it.
  const rows = await sql.unsafe<Row[]>(text, [...parameters], { prepare: reuse });
  return { rows: Array.from(rows), count: rows.count };
}

/**
 * Returns the process id of the backend. Faults: unavailable for a server that does not accept writes if there are
 * other servers.
 */
export async function demandWrites(client: Client, hosts: Hosts): Promise<number> {
  const [row] =
    await client`select current_setting('transaction_read_only') as read_only, pg_backend_pid() as pid`;
  if (hosts.count > 1 && row?.read_only === 'on') throw unavailable();
  return Number(row?.pid);
}

/**
 * PostgreSQL stopped waiting for the synchronous standby. It reports success with a warning, but the transaction exists
 * only on this server and would be lost with it. The text of the warning depends on the language of the server, so its
 * origin is compared.
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

/** Waits until all promises are settled, then throws the first failure, which caused the others. */
export async function settle<T extends readonly unknown[]>(
  promises: T,
): Promise<{ -readonly [I in keyof T]: Awaited<T[I]> }> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/** Returns the result of `promise`. After `ms` milliseconds calls `late` and throws Fault unavailable. */
export async function within<T>(ms: number, promise: Promise<T>, late: () => void): Promise<T> {
  let timer: Timer | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      late();
      reject(unavailable(new Error(`no response within ${ms} ms`)));
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

/** Returns whether the connection failed, or may have failed, rather than the statement. */
export function isLost(error: unknown): boolean {
  if (error instanceof postgres.PostgresError) return /^(08|57P0|25P03)/.test(error.code);
  return !isRefusal(error);
}

const codeOf = (error: unknown): string => (error instanceof postgres.PostgresError ? error.code : '');

/** The server has become a standby or read-only. The statement had no effect. */
export const isReadOnly = (error: unknown): boolean => codeOf(error) === '25006';

/** The server has reached its maximum number of connections. Another connection of this gateway may soon be free. */
export const isCrowded = (error: unknown): boolean => codeOf(error) === '53300';

/**
 * Returns whether an immediate retry makes sense: after a deadlock or serialization conflict, once the other
 * transaction has ended; or if a primary key is taken, because keys come from sequences and only an abandoned attempt
 * of this gateway can have used it.
 */
export const isPassing = (error: unknown): boolean => /^(40001|40P01|23505)$/.test(codeOf(error));

/**
 * Returns whether the failure may pass without a change here: the database is unavailable, overloaded, in recovery, or
 * rejects the login. A primary key that is taken (23505; other unique values are Refusals) is one of these: the
 * sequences of an older copy are behind its records.
 */
const outside = /^(08|23505|25006|25P03|28|3D000|40|53|55P03|57)/;

export function asFault(error: unknown): Fault {
  const isOutside =
    error instanceof postgres.PostgresError
      ? outside.test(error.code)
      : error instanceof Error && 'code' in error && typeof error.code === 'string';
  return error instanceof Fault ? error : isOutside ? unavailable(error) : toFault(error);
}
