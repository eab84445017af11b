import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { adminPassword, type Server, startServer } from '#tests/fixtures/server.ts';
import { pythonEnvironment } from './install.ts';

const environment = await pythonEnvironment('openapi-python-client==0.29.1');

/** A program as somebody writes it who has nothing but the OpenAPI document. */
const program = `
import importlib, json, os, pkgutil
import client
for module in pkgutil.walk_packages(client.__path__, 'client.'):
    importlib.import_module(module.name)

from client import AuthenticatedClient, Client
from client.api.certificates import create_certificate, revoke_certificate
from client.api.devices import change_device, create_device, delete_device, list_devices
from client.api.issuing_cas import list_issuing_cas
from client.api.accounts import create_role
from client.api.token import sign_in
from client.models import (CertificateInput, DeviceChanges, DeviceInput, FieldErrors, Login, RevocationInput, RoleInput)
from client import models

url = os.environ['BASE_URL']
pair = sign_in.sync(client=Client(base_url=url, verify_ssl=False), body=Login(
    username='admin', password=os.environ['PASSWORD']))
api = AuthenticatedClient(base_url=url, verify_ssl=False, token=pair.access)

device = create_device.sync(client=api, body=DeviceInput(common_name='pump-1'))
changed = change_device.sync(device.id, client=api, body=DeviceChanges(serial_number='SN-1'))
devices = list_devices.sync(client=api, search='pump')
issued = create_certificate.sync(client=api, body=CertificateInput(common_name='terminal'))
revoked = revoke_certificate.sync(issued.id, client=api, body=RevocationInput.from_dict({'reason': 'superseded'}))
role = create_role.sync(client=api, body=RoleInput.from_dict({'unique_name': 'watch', 'permissions': ['cas.read']}))
cas = list_issuing_cas.sync(client=api)
refused = create_device.sync_detailed(client=api, body=DeviceInput(common_name=''))
gone = delete_device.sync_detailed(device.id, client=api)
print(json.dumps({
    'devices': len(devices), 'serial': changed.serial_number, 'reason': revoked.revocation_reason,
    'permissions': [str(getattr(one, 'value', one)) for one in role.permissions], 'cas': len(cas),
    'refused': [refused.status_code, refused.parsed.to_dict()], 'gone': gone.status_code,
}))
`;

describe.skipIf(!environment)('a Python client that openapi-python-client generates', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer();
  }, 60_000);
  afterAll(() => server?.[Symbol.asyncDispose]());

  const run = (command: string, ...args: readonly string[]) => {
    const { exitCode, stdout, stderr } = Bun.spawnSync([join(environment!, 'bin', command), ...args], {
      cwd: server.directory,
      env: {
        ...process.env,
        PATH: `${environment}/bin:${process.env.PATH}`,
        BASE_URL: server.baseUrl,
        PASSWORD: adminPassword,
      },
    });
    const output = `${stdout}${stderr}`;
    expect({ command, exitCode, output: exitCode === 0 ? '' : output }).toEqual({
      command,
      exitCode: 0,
      output: '',
    });
    return { output, stdout: stdout.toString() };
  };

  test('has every operation, imports and works against a running service', async () => {
    const document = await fetch(`${server.baseUrl}/api/schema/?format=json`, {
      tls: { rejectUnauthorized: false },
    });
    const text = await document.text();
    writeFileSync(join(server.directory, 'openapi.json'), text);
    const generated = run(
      'openapi-python-client',
      ...['generate', '--path', 'openapi.json', '--meta', 'none', '--output-path', 'client'],
    );
    expect(generated.output).not.toContain('Endpoint will not be generated');
    writeFileSync(join(server.directory, 'program.py'), program);
    const { stdout } = run('python3', 'program.py');
    expect(JSON.parse(stdout)).toEqual({
      devices: 1,
      serial: 'SN-1',
      reason: 'superseded',
      permissions: ['cas.read'],
      cas: 2,
      refused: [400, { common_name: ['this field may not be blank'] }],
      gone: 204,
    });
  }, 300_000);
});
