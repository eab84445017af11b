import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { type Server, startServer } from '#tests/fixtures/server.ts';

interface Report {
  readonly ok: boolean;
  readonly findings: readonly {
    readonly check: string;
    readonly state: 'ok' | 'note' | 'problem';
    readonly what: string;
    readonly remedy: string | null;
  }[];
}

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

/** The report, and the exit status. */
function doctor(): Report & { readonly status: number } {
  const { exitCode, stdout } = Bun.spawnSync(
    [
      join(import.meta.dir, '../../postern'),
      ...['doctor', '--json', '--data', join(server.directory, 'data')],
      ...['--config', join(server.directory, 'postern.toml')],
    ],
    { cwd: server.directory },
  );
  return { ...(JSON.parse(stdout.toString()) as Report), status: exitCode };
}

const problems = (report: Report) => report.findings.filter(({ state }) => state === 'problem');
const change = (sql: string): void => {
  using database = new Database(join(server.directory, 'data/postern.db'));
  database.run(sql);
};

/** Those that keep the audit trail append-only. */
function triggers(): string[] {
  using database = new Database(join(server.directory, 'data/postern.db'));
  return database.query("select name from sqlite_master where type = 'trigger'").values().flat().map(String);
}

describe('postern doctor', () => {
  test('exits with 0 for a new installation that runs', () => {
    const report = doctor();
    expect(problems(report)).toEqual([]);
    expect(report).toMatchObject({ ok: true, status: 0 });
    const checks = report.findings.map(({ check }) => check);
    for (const check of [
      'permissions',
      'disk',
      'clock',
      'database',
      'keys.keyfile',
      'CRLs',
      'TLS certificate',
    ])
      expect(checks).toContain(check);
    expect(report.findings).toContainEqual({
      check: 'service',
      state: 'ok',
      what: `ready at ${server.baseUrl}`,
      remedy: null,
    });
  });

  test('names a key file that others can read, and the command that mends it', () => {
    const file = join(server.directory, 'data/master.key');
    chmodSync(file, 0o644);
    const report = doctor();
    chmodSync(file, 0o600);
    // The service would not start with it either: the second problem is that the installation cannot be opened.
    expect(problems(report).map(({ check }) => check)).toEqual(['permissions', 'installation']);
    expect(problems(report)[0]).toMatchObject({
      what: `other accounts can read ${file}`,
      remedy: `chmod go-rwx '${file}'`,
    });
    expect(report.status).toBe(1);
  });

  test('finds an expired CRL, a clock that is behind and a failed backup', () => {
    const later = Date.now() + 3_600_000;
    change('update crls set next_update = 1000');
    for (const name of triggers()) change(`drop trigger ${name}`);
    change(`update audit_events set at = ${later} where id = (select max(id) from audit_events)`);
    change(
      `insert into backups (created_at, remote_directory, user, last_run_at, last_result) values (1, '/backups', 'admin', 2, 'failed: the disk is full')`,
    );
    const report = doctor();
    expect(report).toMatchObject({ ok: false, status: 1 });
    const found = problems(report);
    expect(found.map(({ check }) => check)).toEqual(['clock', 'CRLs', 'CRLs', 'backups']);
    expect(found[0]?.what).toMatch(/^the newest audit event is 3[56]\d\d seconds in the future$/);
    expect(found[1]?.what).toContain('the CRL has expired');
    expect(found[3]?.what).toBe('/backups: failed: the disk is full');
    for (const { remedy } of found) expect(remedy).not.toBeNull();
  });

  test('a gateway that does not run is a note', async () => {
    await server.stop();
    const { findings } = doctor();
    expect(findings.find(({ check }) => check === 'service')).toMatchObject({ state: 'note' });
  });
});
