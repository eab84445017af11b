import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { adminPassword, type Server, startServer } from '#tests/fixtures/server.ts';

const root = resolve(import.meta.dir, '../..');
let server: Server;
let directory: string;
beforeAll(async () => {
  server = await startServer();
  // Below the clone, whose packages what is generated imports.
  directory = mkdtempSync(join(root, 'node_modules/.generated-client-'));
}, 60_000);
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  if (directory) rmSync(directory, { recursive: true });
});

function run(...command: readonly string[]): void {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { cwd: root });
  expect({ command, exitCode, output: exitCode === 0 ? '' : `${stdout}${stderr}` }).toEqual({
    command,
    exitCode: 0,
    output: '',
  });
}

/** A program as somebody writes it who has nothing but the OpenAPI document. */
const program = `
import * as postern from './client.ts';

postern.defaults.baseUrl = process.env.BASE_URL!;

async function main() {
  const { data: signedIn } = await postern.signIn({ username: 'admin', password: process.env.PASSWORD! });
  if (!('access' in signedIn)) throw new Error(JSON.stringify(signedIn));
  postern.defaults.headers = { Authorization: \`Bearer \${signedIn.access}\` };

  const created = await postern.createDevice({ common_name: 'pump-1', device_type: 1 });
  if (created.status !== 201) throw new Error(JSON.stringify(created));
  const changed = await postern.changeDevice(created.data.id, { serial_number: 'SN-1' });
  if (changed.status !== 200) throw new Error(JSON.stringify(changed));
  const devices = await postern.listDevices({ search: 'pump', ordering: '-no_onboarding_config' });
  if (devices.status !== 200) throw new Error(JSON.stringify(devices));

  const issued = await postern.createCertificate({ common_name: 'terminal' });
  if (issued.status !== 201) throw new Error(JSON.stringify(issued));
  const revoked = await postern.revokeCertificate(issued.data.id, { reason: 'superseded' });
  if (revoked.status !== 200) throw new Error(JSON.stringify(revoked));

  const role = await postern.createRole({ unique_name: 'watch', permissions: ['devices.read', 'cas.read'] });
  if (role.status !== 201) throw new Error(JSON.stringify(role));
  const cas = await postern.listIssuingCas({ issuingCaType: 0 });
  if (cas.status !== 200) throw new Error(JSON.stringify(cas));
  const refused = await postern.createDevice({ common_name: '' });
  const gone = await postern.deleteDevice(created.data.id);

  const { length } = devices.data;
  const { permissions } = role.data;
  const { issuing_ca_type_display: type, has_crl: hasCrl } = cas.data[0]!;
  console.log(JSON.stringify({ length, serial: changed.data.serial_number, reason: revoked.data.revocation_reason,
    permissions, type, hasCrl, refused: [refused.status, refused.data], gone: gone.status }));
}

await main();
`;

test('a TypeScript client that oazapfts generates compiles and works against a running service', async () => {
  const document = await fetch(`${server.baseUrl}/api/schema/?format=json`, {
    tls: { rejectUnauthorized: false },
  });
  writeFileSync(join(directory, 'openapi.json'), await document.text());
  const generator = 'node_modules/.bin/oazapfts';
  run(generator, join(directory, 'openapi.json'), join(directory, 'client.ts'));
  writeFileSync(join(directory, 'program.ts'), program);
  const options = [
    '--ignoreConfig',
    '--strict',
    '--noEmit',
    '--skipLibCheck',
    '--allowImportingTsExtensions',
  ];
  const target = ['--target', 'es2022', '--module', 'esnext', '--moduleResolution', 'bundler'];
  run('node_modules/.bin/tsc', ...options, ...target, '--types', 'bun-types', join(directory, 'program.ts'));

  const child = Bun.spawnSync([process.execPath, join(directory, 'program.ts')], {
    env: {
      ...process.env,
      PASSWORD: adminPassword,
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
      BASE_URL: server.baseUrl,
    },
  });
  expect([child.exitCode, child.exitCode === 0 ? '' : child.stderr.toString()]).toEqual([0, '']);
  expect(JSON.parse(child.stdout.toString())).toEqual({
    length: 1,
    serial: 'SN-1',
    reason: 'superseded',
    permissions: ['devices.read', 'cas.read'],
    type: 'Auto-Generated Root',
    hasCrl: expect.any(Boolean),
    refused: [400, { common_name: ['this field may not be blank'] }],
    gone: 204,
  });
}, 120_000);
