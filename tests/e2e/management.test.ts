import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { type Server, shell, startServer } from '#tests/fixtures/server.ts';

const scrapeToken = 'c4'.repeat(32);
let server: Server;

beforeAll(async () => {
  server = await startServer({ config: `[metrics]\ntoken = "${scrapeToken}"\n` });
  server.device('pump-1');
}, 60_000);
afterAll(() => server[Symbol.asyncDispose]());

/** What curl prints. */
function curl(path: string, ...options: readonly string[]): string {
  const { status, stdout, stderr } = shell(
    server.directory,
    `curl -sk ${options.join(' ')} '${server.baseUrl}${path}'`,
  );
  expect({ path, status, stderr }).toEqual({ path, status: 0, stderr: '' });
  return stdout;
}

test('a service account from the command line signs in with the OAuth form, and reads the API and the metrics', () => {
  const made = JSON.parse(server.cli('service-account', 'create', 'scraper', '--role', 'Auditor', '--json'));
  expect(made).toEqual({
    id: expect.any(Number),
    unique_name: 'scraper',
    role: 'Auditor',
    client_id: `sa_${made.id}`,
    client_secret: expect.stringMatching(/^[\w-]{43}$/),
  });
  const form = `-d grant_type=client_credentials -d client_id=${made.client_id} -d client_secret=${made.client_secret}`;
  const { access, ...rest } = JSON.parse(curl('/api/token/', form));
  expect(rest).toEqual({ token_type: 'Bearer', expires_in: 3600 });
  const bearer = `-H 'Authorization: Bearer ${access}'`;
  expect(JSON.parse(curl('/api/devices/', bearer))[0].common_name).toBe('pump-1');
  expect(curl('/metrics', bearer)).toContain('postern_healthy{part="store"} 1\n');
  expect(JSON.parse(curl('/metrics'))).toEqual({
    detail: 'authentication credentials were not provided',
    code: 'unauthenticated',
  });
  const files = JSON.parse(curl('/api/logging/list_files/', bearer));
  expect(files.map(({ name }: { name: string }) => name)).toEqual(['postern.log']);
});

test('the scrape token of the configuration reads the metrics, and is in no log', () => {
  expect(curl('/metrics', `-H 'Authorization: Bearer ${scrapeToken}'`)).toContain(
    'postern_healthy{part="store"} 1\n',
  );
  expect(curl('/api/devices/', `-H 'Authorization: Bearer ${scrapeToken}'`)).toContain('token_not_valid');
  expect(server.log()).not.toContain(scrapeToken);
});

test('the default role of a service account is Default, and an unknown role is reported', () => {
  expect(server.cli('service-account', 'create', 'line')).toContain('with the role Default.');
  expect(() => server.cli('service-account', 'create', 'other', '--role', 'Nobody')).toThrow(
    'the role "Nobody" does not exist',
  );
  expect(() => server.cli('service-account', 'create', 'line')).toThrow(
    'another service account already has this value',
  );
});

test('/schema is the OpenAPI document, and neither it nor the API is on plain HTTP', () => {
  expect(curl('/schema/', '-D-')).toContain('application/vnd.oai.openapi\r\n');
  for (const path of ['/schema/', '/api/devices/', '/metrics']) {
    const { stdout } = shell(
      server.directory,
      `curl -s -o /dev/null -w '%{http_code}' http://localhost:${server.httpPort}${path}`,
    );
    expect([path, stdout]).toEqual([path, '404']);
  }
});

test('`audit verify` accepts the audit trail of a running server, and names the change in a manipulated copy', async () => {
  await using own = await startServer();
  own.device('pump-1');
  const before = JSON.parse(own.cli('audit', 'verify', '--json'));
  expect([before.problems, before.events > 5]).toEqual([[], true]);
  await own.stop();
  const copy = join(own.directory, 'copy');
  cpSync(join(own.directory, 'data'), copy, { recursive: true });
  using db = new Database(join(copy, 'postern.db'));
  db.run('drop trigger audit_events_update');
  const { id } = db
    .query<{ id: number }, []>("select id from audit_events where action = 'device.create'")
    .get()!;
  db.run("update audit_events set actor = replace(actor, 'command line', 'nobody') where id = ?", [id]);
  const launcher = join(import.meta.dir, '../../postern');
  const { status, stdout } = shell(
    own.directory,
    `${launcher} audit verify --data copy --config postern.toml`,
  );
  expect(status).toBe(1);
  expect(stdout).toMatch(new RegExp(`^event ${id} \\(chain .*\\): the event was modified\n`));
  expect(stdout).toContain('NOT INTACT');
}, 60_000);
