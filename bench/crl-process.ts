/** Makes one CRL of as many entries as the argument says, and prints what it took as JSON. A process of its own: its peak of memory is the CRL's. */
import { Database } from 'bun:sqlite';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { installation, password, request, testClock } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { pem } from '#tests/fixtures/openssl.ts';

export interface CrlFigures {
  readonly entries: number;
  /** Octets of the CRL. */
  readonly size: number;
  /** Milliseconds. */
  readonly time: number;
  /** The longest time that other work of the process had to wait, in milliseconds. */
  readonly stall: number;
  /** MiB: resident before, and at most. */
  readonly before: number;
  readonly peak: number;
  /** What `openssl crl` says of it. */
  readonly verified: string;
}

const warmUp = 20;
const [, , count, fillAt] = process.argv;
if (fillAt) fill(fillAt, Number(count));
else console.log(JSON.stringify(await measure(Number(count))));

async function measure(entries: number): Promise<CrlFigures> {
  const directory = mkdtempSync(join(tmpdir(), 'postern-crl-'));
  try {
    const path = join(directory, 'postern.db');
    const clock = testClock(Date.now());
    await using site = await installation({ clock, store: await openSqliteStore({ path, clock }) });
    const { password: secret } = await site.device('pump');
    await site.enrol(password('pump', secret), {}, request(testKey('p-256'), 'CN=pump'));
    const [certificate] = (await site.store.list('certificate', { limit: 1 })).records;
    await site.gateway.certificates.revoke(site.admin, certificate!.id, { reason: 'keyCompromise' });
    for (let n = 0; n < warmUp; n++) await site.gateway.issuingCas.generateCrl(site.admin, certificate!.ca);
    const filled = Bun.spawnSync([process.execPath, import.meta.path, String(entries - 1), path]);
    if (!filled.success) throw new Error(filled.stderr.toString());

    Bun.gc(true);
    const before = resident('VmRSS');
    const stalls = watchStalls();
    const started = performance.now();
    const { crl } = await site.gateway.issuingCas.generateCrl(site.admin, certificate!.ca);
    const time = performance.now() - started;
    const figures = {
      entries,
      size: crl.length,
      time,
      stall: stalls.longest(),
      before,
      peak: resident('VmHWM'),
    };
    writeFileSync(join(directory, 'crl'), pem('X509 CRL', crl));
    writeFileSync(
      join(directory, 'ca'),
      pem('CERTIFICATE', await site.gateway.caCertificate(certificate!.ca)),
    );
    const openssl = Bun.spawnSync(['openssl', 'crl', '-in', 'crl', '-CAfile', 'ca', '-noout', '-verify'], {
      cwd: directory,
    });
    return { ...figures, verified: openssl.stderr.toString().trim() };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Copies of the certificate that is revoked, under serial numbers of their own. */
function fill(path: string, more: number): void {
  using database = new Database(path);
  database.run('pragma synchronous = off');
  const columns = (database.query('pragma table_info(certificates)').all() as { name: string }[])
    .map(({ name }) => name)
    .filter((name) => name !== 'id');
  const values = columns.map((name) => (name === 'serial_number' ? "'7F' || printf('%030X', i)" : name));
  database.run(`
    insert into certificates (${columns.join(', ')})
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${more})
    select ${values.join(', ')}
    from n, (select * from certificates where status = 'revoked' limit 1)`);
  database.run('pragma wal_checkpoint(truncate)');
}

/** MiB, from the kernel. */
function resident(figure: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync('/proc/self/status', 'latin1');
  return Number(new RegExp(`${figure}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
}

function watchStalls() {
  let last = performance.now();
  let longest = 0;
  const look = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(look, 1);
  return {
    longest(): number {
      clearInterval(timer);
      look();
      return longest;
    },
  };
}
