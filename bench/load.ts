/** The load generator: a process of its own, so that what it costs is not taken for the server's. */
import { Client, type Credential } from './client.ts';

export interface Job {
  readonly port: number;
  /** Of several servers: the connections are dealt out among them. */
  readonly ports?: readonly number[];
  readonly connections: number;
  /** How many exchanges in all. */
  readonly count: number;
  /** As they go over the wire, taken in turn. None: handshakes alone. */
  readonly requests: readonly string[];
  /** With them every exchange has a connection of its own, the n-th with the n-th credential, taken in turn. */
  readonly credentials?: readonly Credential[];
}

export interface Done {
  readonly seconds: number;
  /** Milliseconds; of a hundred answers 50 and 99 took no longer. */
  readonly median: number;
  readonly slowest: number;
  /** Answers other than 200, and how often. */
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

/** By server and number: a connection that is kept alive outlives the job, and its handshake is none of the next one's. */
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

/** One exchange over a connection of its own. */
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
