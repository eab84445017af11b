/** The load generator. It is a process of its own, so that its CPU time is not counted as the server's. */
import { Client, type Credential } from './client.ts';

export interface Job {
  readonly port: number;
  /** The ports of several servers, among which the connections are distributed. */
  readonly ports?: readonly number[];
  readonly connections: number;
  /** The total number of requests. */
  readonly count: number;
  /** The HTTP requests, sent in turn. Empty: only handshakes. */
  readonly requests: readonly string[];
  /** If given, each request gets a new connection that authenticates with the next credential. */
  readonly credentials?: readonly Credential[];
}

export interface Done {
  readonly seconds: number;
  /** Response times in milliseconds: the 50th and the 99th percentile. */
  readonly median: number;
  readonly slowest: number;
  /** The number of responses by status, except 200. */
  readonly failures: Readonly<Record<string, number>>;
}

async function perform(job: Job): Promise<Done> {
  const { connections, count } = job;
  const took: number[] = [];
  const failures: Record<string, number> = {};
  const open = job.credentials ? [] : await keptAlive(job);
  let next = 0;
  const startedAt = performance.now();
  const work = async (client: Client | undefined): Promise<void> => {
    while (next < count) {
      const n = next++;
      const sentAt = performance.now();
      const status = client ? await client.exchange(requestOf(job, n)) : await once(job, n);
      took.push(performance.now() - sentAt);
      if (status !== 200) failures[status] = (failures[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, (_, n) => work(open[n])));
  const seconds = (performance.now() - startedAt) / 1000;
  took.sort((a, b) => a - b);
  return {
    seconds,
    median: took[Math.floor(took.length * 0.5)]!,
    slowest: took[Math.floor(took.length * 0.99)]!,
    failures,
  };
}

/** Connections kept alive between jobs, by server and number, so that later jobs need no handshakes. */
const kept = new Map<string, readonly Client[]>();

async function keptAlive(job: Job): Promise<readonly Client[]> {
  const { port, ports, connections } = job;
  const key = [connections, ...(ports ?? [port])].join(' ');
  const before = kept.get(key);
  if (before?.every(({ isOpen }) => isOpen)) return before;
  const clients = await Promise.all(
    Array.from({ length: connections }, (_, n) => Client.open(portOf(job, n))),
  );
  kept.set(key, clients);
  return clients;
}

const portOf = ({ port, ports }: Job, n: number): number => ports?.[n % ports.length] ?? port;

const requestOf = ({ requests }: Job, n: number): string => requests[n % requests.length]!;

/** Sends one request over a new connection. */
async function once(job: Job, n: number): Promise<number> {
  const client = await Client.open(job.port, job.credentials![n % job.credentials!.length]);
  const status = job.requests.length > 0 ? await client.exchange(requestOf(job, n)) : 200;
  await client.close();
  return status;
}

process.on('message', async (job: Job) => {
  process.send!(await perform(job));
});
process.on('disconnect', () => process.exit());
