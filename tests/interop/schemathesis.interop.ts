import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { adminPassword, type Server, startServer } from '#tests/fixtures/server.ts';
import { pythonEnvironment } from './install.ts';

const environment = await pythonEnvironment('schemathesis==4.32.5');

const settings = `
[phases.coverage]
# A method that the server does not know is answered with 501, which the checks would take for a defect.
unexpected-methods = []

[checks.not_a_server_error]
# What needs a CA that a request before has deactivated is answered with 503, as documented.
expected-statuses = ["2xx", "3xx", "4xx", 503]

[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 409, 413, 415, 429]
`;

/** Operations that are left out of the first run. */
const excluded = [
  // Writes to any directory of this machine.
  'runBackup',
  // Decides what the other operations do. A second run has it alone.
  'changeSettings',
];

describe.skipIf(!environment)('requests that Schemathesis derives from the OpenAPI document', () => {
  let server: Server;
  let token: string;
  beforeAll(async () => {
    server = await startServer();
    await call('POST', 'token', { username: 'admin', password: adminPassword });
    // No message leaves this machine.
    await call('PATCH', 'settings', { webhook_hosts: ['nowhere.invalid'] });
    // The account of the test is one whose id no generated path has.
    let account = { client_id: '', client_secret: '' };
    for (let n = 1; n <= 25; n++) {
      account = await call('POST', 'service-accounts', { unique_name: `account ${n}`, role: 1 });
    }
    const { client_id, client_secret } = account;
    await call('POST', 'token', { grant_type: 'client_credentials', client_id, client_secret });
    writeFileSync(join(server.directory, 'schemathesis.toml'), settings);
  }, 60_000);
  afterAll(() => server?.[Symbol.asyncDispose]());

  /** A request to the Management API; what signs in sets the token of those that follow. */
  async function call<T extends object>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(`${server.baseUrl}/api/${path}/`, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(path !== 'token' && { authorization: `Bearer ${token}` }),
      },
      ...(body && { body: JSON.stringify(body) }),
      tls: { rejectUnauthorized: false },
    });
    const answer = (await response.json()) as T & { access?: string };
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
    token = answer.access ?? token;
    return answer;
  }

  async function run(...options: readonly string[]): Promise<{ status: number; output: string }> {
    const command = [
      join(environment!, 'bin/schemathesis'),
      ...['run', `${server.baseUrl}/schema/?format=json`, '--tls-verify=false', '--no-color'],
      ...['--header', `Authorization: Bearer ${token}`, '--phases=examples,coverage,fuzzing'],
      ...['--generation-deterministic', '--max-examples=3', '--no-shrink', '--continue-on-failure'],
      '--checks=not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,negative_data_rejection',
      ...options,
    ];
    const child = Bun.spawn(command, { cwd: server.directory, stdout: 'pipe', stderr: 'pipe' });
    const [out, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    return { status: await child.exited, output: `${out}${errors}` };
  }

  test('are answered as the document says, and rejected if they are not what it says', async () => {
    const right = { status: 0, output: '' };
    const { status, output } = await run(...excluded.map((id) => `--exclude-operation-id=${id}`));
    expect({ status, output: status === 0 ? '' : output }).toEqual(right);
    expect(output).toMatch(/Tested: 1\d\d\b/);
    // Until the end, requests were authenticated and met a service that works.
    expect(await call<{ name: string }>('GET', 'me')).toMatchObject({ name: 'account 25' });
    await call('GET', 'health');
    const last = await run('--include-operation-id=changeSettings');
    expect({ ...last, output: last.status === 0 ? '' : last.output }).toEqual(right);
    expect(last.output).toMatch(/Tested: 1\b/);
  }, 1_200_000);
});
