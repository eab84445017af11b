import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { openPostgresStore } from '#adapters/outbound/sql/postgres.ts';
import { hex } from '#core/der/bytes.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import {
  adminPassword,
  holder,
  installation,
  password,
  request,
  testClock,
} from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { hasPostgres, type PostgresFixture, startPostgres } from '#tests/fixtures/postgres.ts';
import { fewRows } from '#tests/fixtures/query-plans.ts';

/** A node of a plan in the format of EXPLAIN (FORMAT JSON). */
interface Node {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Filter?: string;
  readonly Plans?: readonly Node[];
}

/** Returns the statements that auto_explain has logged, with their plans. */
function plansIn(log: string): readonly { readonly sql: string; readonly plan: Node }[] {
  return [...log.matchAll(/plan:\n(\t\{[\s\S]*?\n\t\})\n/g)].map(([, json]) => {
    const { 'Query Text': sql, Plan: plan } = JSON.parse(json!.replaceAll('\n\t', '\n'));
    return { sql, plan };
  });
}

/** Returns the growing tables of which a plan scans every row or index entry and discards rows. */
function scannedTables(node: Node, limited = false): string[] {
  const table = node['Relation Name'];
  const reads = /^(Seq|Index|Index Only) Scan$/.test(node['Node Type']);
  const system = table?.startsWith('pg_');
  const whole =
    reads && !system && node['Index Cond'] === undefined && (node.Filter !== undefined || !limited);
  const below = (node.Plans ?? []).flatMap((one) =>
    scannedTables(one, limited || node['Node Type'] === 'Limit'),
  );
  return [...(whole && table !== undefined && !fewRows.has(table) ? [table] : []), ...below];
}

describe('a plan', () => {
  const scan = (more: object): Node => ({
    'Node Type': 'Seq Scan',
    'Relation Name': 'certificates',
    ...more,
  });
  test.each([
    [scan({ Filter: 'x' }), ['certificates']],
    [scan({ 'Node Type': 'Index Scan', Filter: 'x' }), ['certificates']],
    [{ 'Node Type': 'Limit', Plans: [scan({ Filter: 'x' })] }, ['certificates']],
    [{ 'Node Type': 'Sort', Plans: [scan({})] }, ['certificates']],
    [{ 'Node Type': 'Limit', Plans: [scan({})] }, []],
    [scan({ 'Node Type': 'Index Scan', 'Index Cond': 'x', Filter: 'y' }), []],
    [scan({ 'Relation Name': 'roles', Filter: 'x' }), []],
  ] satisfies [Node, string[]][])('%j reads whole tables: %j', (plan, tables) => {
    expect(scannedTables(plan)).toEqual(tables);
  });
});

describe.skipIf(!hasPostgres)('the statements of the service on PostgreSQL', () => {
  let server: PostgresFixture;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server.stop());

  test('scan no growing table', async () => {
    const url = await server.createDatabase();
    const name = new URL(url).pathname.slice(1);
    // Sequential scans are disabled, although the tables are small. As for prepared statements, plans know no
    // values.
    const settings = [
      "session_preload_libraries = 'auto_explain'",
      'auto_explain.log_min_duration = 0',
      "auto_explain.log_format = 'json'",
      'enable_seqscan = off',
      'plan_cache_mode = force_generic_plan',
    ];
    const alterations = settings.map((setting) => `alter database ${name} set ${setting};`);
    await server.execute(`load 'auto_explain'; ${alterations.join(' ')}`);
    const clock = testClock();
    await using site = await installation({ store: await openPostgresStore({ url, clock }), clock });
    const { gateway, admin } = site;
    const key = testKey('p-256');
    const csr = (subject: string): Uint8Array => request(key, subject);

    const policy = { uniqueName: 'people', decision: 'manual' as const, devicePattern: 'slow' };
    await gateway.approvalPolicies.create(admin, policy);
    await gateway.webhooks.create(admin, { uniqueName: 'hook', url: 'https://hooks.example/' });
    const { device, password: secret } = await site.device('pump');
    const certificate = await site.enrol(password('pump', secret), {}, csr('CN=pump'));
    await expect(gateway.admit(password('pump', 'wrong'), est)).rejects.toMatchObject({
      code: 'unauthenticated',
    });
    const renewed = await site.enrol(holder(certificate), {}, csr('CN=pump'), 'renew');
    const slow = await site.device('slow');
    const asked = await gateway.admit(password('slow', slow.password), est);
    const ask = { operation: 'enrol', request: { kind: 'pkcs10', der: csr('CN=slow') } } as const;
    const pending = await gateway.enrol(asked, ask);
    if (pending.kind !== 'pending') throw new Error('a policy was passed over');
    await gateway.enrol(asked, ask);
    const made = await gateway.certificates.create(admin, { commonName: 'office' });
    if ('kind' in made) throw new Error('waits for nobody');
    const { serialNumber } = parseCertificate(renewed);
    const record = await site.store.find('certificate', { serialNumber });
    await gateway.certificates.revoke(admin, record!.id, { reason: 'superseded' });
    await gateway.devices.block(admin, device.id, { comment: '' });
    await gateway.deviceImports.list(admin, { limit: 10 });
    await gateway.overview.devices(admin);
    await gateway.metrics(admin);
    await gateway.readiness();
    const grant = await gateway.accounts.signIn('admin', adminPassword, '192.0.2.9');
    await gateway.accounts.principal(grant.user, grant.session, '192.0.2.9');
    await gateway.accounts.refresh(grant.session, grant.generation, '192.0.2.9');
    for (let day = 0; day < 3; day++) {
      clock.advance(86_400_000);
      await gateway.maintain('test');
    }
    await gateway.deliver('test', AbortSignal.timeout(1000));
    await gateway.delivered();
    expect(hex(parseCertificate(certificate).spki)).toBe(hex(key.publicKey.spki));

    const plans = plansIn(await server.log());
    expect(plans.length).toBeGreaterThan(100);
    const scans = plans.flatMap(({ sql, plan }) => scannedTables(plan).map((table) => `${table}: ${sql}`));
    expect([...new Set(scans)]).toEqual([]);
  }, 60_000);
});

const est = { protocol: 'est', domain: undefined, profile: undefined } as const;
