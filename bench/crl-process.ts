/**
 * Issues CRLs with an increasing number of entries from a store that also holds good certificates, and prints the figures of each
 * as a line of JSON. Arguments: `sqlite` or `postgres`, the number of good certificates, and the number of entries in the
 * longest CRL. It is a process of its own, so that its peak memory is that of the CRLs.
 */
import { Database } from 'bun:sqlite';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { createManagement } from '#adapters/inbound/management/mount.ts';
import { openPostgresStore } from '#adapters/outbound/sql/postgres.ts';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import type { Store } from '#core/ports/store.ts';
import {
  adminPassword,
  type Installation,
  installation,
  password,
  request,
  type TestClock,
  testClock,
} from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { pem } from '#tests/fixtures/openssl.ts';
import { startPostgres } from '#tests/fixtures/postgres.ts';

export type CrlDatabase = 'sqlite' | 'postgres';

export interface CrlFigures {
  readonly database: CrlDatabase;
  /** Good certificates in the store. */
  readonly good: number;
  readonly entries: number;
  /** The size of the CRL in octets. */
  readonly size: number;
  /** Milliseconds to issue the CRL, to read it on another gateway, and to download it as PEM. */
  readonly time: number;
  readonly reading: number;
  readonly download: number;
  /** The longest time that other work of the process had to wait meanwhile, in milliseconds. */
  readonly stall: number;
  readonly readingStall: number;
  readonly downloadStall: number;
  /** The longest CPU time of one turn of the event loop during issuance, in milliseconds. On a busy machine, `stall` is longer. */
  readonly busy: number;
  /** The longest enrolment during issuance, in milliseconds, and the number of enrolments. */
  readonly enrolment: number;
  readonly enrolments: number;
  /** Resident memory in MiB: before the CRL, and its peak. */
  readonly before: number;
  readonly peak: number;
  /** The output of `openssl crl -verify`. */
  readonly verified: string;
}

/** A database that is filled directly, not through the store. */
interface Filled extends AsyncDisposable {
  open(clock: TestClock): Promise<Store>;
  /** Copies the first certificate with this status `count` times. The serial numbers of the copies begin with `prefix`. */
  copy(status: 'good' | 'revoked', prefix: string, count: number): Promise<void>;
}

const steps = [1, 1000, 10_000, 100_000, 1_000_000];
const warmUp = 20;
const hex = { sqlite: "printf('%030X', i)", postgres: "lpad(upper(to_hex(i)), 30, '0')" };

const [, , which, good, most] = process.argv;
await measure(which === 'postgres' ? 'postgres' : 'sqlite', Number(good), Number(most));

async function measure(which: CrlDatabase, good: number, most: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'postern-crl-'));
  try {
    await using database = which === 'postgres' ? await filledPostgres() : filledSqlite(directory);
    const clock = testClock(Date.now());
    await using site = await installation({ clock, store: await database.open(clock) });
    const { password: secret } = await site.device('pump');
    const evidence = password('pump', secret);
    const csr = request(testKey('p-256'), 'CN=pump');
    await site.enrol(evidence, {}, csr);
    await site.enrol(evidence, {}, csr);
    const [certificate] = (await site.store.list('certificate', { limit: 1 })).records;
    const { ca } = certificate!;
    await site.gateway.certificates.revoke(site.admin, certificate!.id, { reason: 'keyCompromise' });
    for (let n = 0; n < warmUp; n++) await site.gateway.issuingCas.generateCrl(site.admin, ca);
    await database.copy('good', '7E', Math.floor(good / 2));
    let entries = 1;
    for (const step of steps.filter((count) => count <= most)) {
      await database.copy('revoked', `7${'89ABC'[steps.indexOf(step)]}`, step - entries);
      entries = step;
      if (step === 1) await database.copy('good', '7D', Math.ceil(good / 2));
      clock.advance(2000);
      Bun.gc(true);
      const before = resident('VmRSS');
      await using other = await installation({ clock, store: await database.open(clock) });
      const download = await signedIn(site);

      const enrolling = enrolments(() => site.enrol(evidence, {}, csr));
      const issuing = await watched(() => site.gateway.issuingCas.generateCrl(site.admin, ca));
      const meanwhile = await enrolling.end();
      const { crl } = issuing.value;
      const reading = await watched(() => other.gateway.crl(ca));
      const downloading = await watched(() => download(`/api/issuing-cas/${ca}/crl/`));
      const figures: CrlFigures = {
        database: which,
        good,
        entries,
        size: crl.length,
        time: issuing.time,
        stall: issuing.stall,
        busy: issuing.busy,
        reading: reading.time,
        readingStall: reading.stall,
        download: downloading.time,
        downloadStall: downloading.stall,
        enrolment: meanwhile.longest,
        enrolments: meanwhile.count,
        before,
        peak: resident('VmHWM'),
        verified: verified(directory, crl, await site.gateway.caCertificate(ca)),
      };
      console.log(JSON.stringify(figures));
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function verified(directory: string, crl: Uint8Array, ca: Uint8Array): string {
  writeFileSync(join(directory, 'crl'), pem('X509 CRL', crl));
  writeFileSync(join(directory, 'ca'), pem('CERTIFICATE', ca));
  const openssl = Bun.spawnSync(['openssl', 'crl', '-in', 'crl', '-CAfile', 'ca', '-noout', '-verify'], {
    cwd: directory,
  });
  return openssl.stderr.toString().trim();
}

function copying(columns: readonly string[], source: string, serialNumber: string, status: string): string {
  const values = columns.map((name) => (name === 'serial_number' ? serialNumber : name));
  return `insert into certificates (${columns.join(', ')}) select ${values.join(', ')}
    from ${source}, (select * from certificates where status = '${status}' order by id limit 1) as first`;
}

function filledSqlite(directory: string): Filled {
  const path = join(directory, 'postern.db');
  return {
    open: (clock) => openSqliteStore({ path, clock }),
    async copy(status, prefix, count) {
      if (count === 0) return;
      using database = new Database(path);
      for (const pragma of ['synchronous = off', 'cache_size = -524288']) database.run(`pragma ${pragma}`);
      const columns = (database.query('pragma table_info(certificates)').all() as { name: string }[])
        .map(({ name }) => name)
        .filter((name) => name !== 'id');
      const numbers = `(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count}) select i from n) as n`;
      database.run(copying(columns, numbers, `'${prefix}' || ${hex.sqlite}`, status));
      database.run('pragma wal_checkpoint(truncate)');
    },
    async [Symbol.asyncDispose]() {},
  };
}

async function filledPostgres(): Promise<Filled> {
  const server = await startPostgres({ durable: true });
  const url = await server.createDatabase();
  return {
    open: (clock) => openPostgresStore({ url, clock }),
    async copy(status, prefix, count) {
      if (count === 0) return;
      const sql = postgres(url, { max: 1, onnotice: () => {} });
      const rows = await sql<{ name: string }[]>`select column_name as name from information_schema.columns
        where table_name = 'certificates' and column_name <> 'id'`;
      const columns = rows.map(({ name }) => name);
      await sql.unsafe(
        copying(columns, `generate_series(1, ${count}) as n (i)`, `'${prefix}' || ${hex.postgres}`, status),
      );
      await sql.unsafe('vacuum analyze certificates');
      await sql.unsafe('checkpoint');
      await sql.end();
    },
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

/** Downloads a path of the Management API piece by piece, without keeping the contents. */
async function signedIn({ gateway, log, clock }: Installation) {
  const [mount] = createManagement(gateway, log, clock, 'https://pki.example:8443');
  const ask = (method: string, path: string, headers: Record<string, string>, body = '') =>
    mount.handle({
      method,
      path,
      query: '',
      headers: { host: 'pki.example:8443', 'content-type': 'application/json', ...headers },
      body: Buffer.from(body),
      peer: { address: '192.0.2.1', secure: true, certificates: [] },
    });
  const credentials = JSON.stringify({ username: 'admin', password: adminPassword });
  const token = await ask('POST', '/api/token/', {}, credentials);
  const { access } = JSON.parse(Buffer.from(token.body as Uint8Array).toString());
  return async (path: string): Promise<void> => {
    const { body } = await ask('GET', path, { authorization: `Bearer ${access}` });
    let octets = 0;
    for await (const piece of body as AsyncIterable<Uint8Array>) octets += piece.length;
    if (octets === 0) throw new Error(`${path} is empty`);
  };
}

/** Enrols devices, one after the other, until stopped. */
function enrolments(enrol: () => Promise<unknown>) {
  let longest = 0;
  let count = 0;
  let going = true;
  const done = (async () => {
    while (going) {
      const started = performance.now();
      await enrol();
      longest = Math.max(longest, performance.now() - started);
      count++;
    }
  })();
  return {
    async end() {
      going = false;
      await done;
      return { longest, count };
    },
  };
}

/** Returns the result of `work`, its duration, and the longest time that other work had to wait meanwhile. */
async function watched<T>(work: () => Promise<T>) {
  const stalls = watchStalls();
  const started = performance.now();
  const value = await work();
  const time = performance.now() - started;
  return { value, time, ...stalls.end() };
}

/** Returns a memory figure of this process from the kernel, in MiB. */
function resident(figure: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync('/proc/self/status', 'latin1');
  return Number(new RegExp(`${figure}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
}

function watchStalls() {
  const processor = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let [last, lastBusy] = [performance.now(), processor()];
  let [stall, busy] = [0, 0];
  const look = (): void => {
    const [now, nowBusy] = [performance.now(), processor()];
    stall = Math.max(stall, now - last);
    busy = Math.max(busy, nowBusy - lastBusy);
    [last, lastBusy] = [now, nowBusy];
  };
  const timer = setInterval(look, 1);
  return {
    end() {
      clearInterval(timer);
      look();
      return { stall, busy };
    },
  };
}
