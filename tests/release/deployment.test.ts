import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { YAML } from 'bun';
import { packDeployments } from '#release/deployment.ts';
import { root } from '#release/source.ts';
import { shell } from '#tests/fixtures/server.ts';

const here = mkdtempSync(join(tmpdir(), 'postern-deployment-test-'));
afterAll(() => rmSync(here, { recursive: true, force: true }));

test('the chart and the compose files carry the version of the release', async () => {
  mkdirSync(join(here, 'work'));
  mkdirSync(join(here, 'dist'));
  await packDeployments(
    { version: '1.2.3', commit: 'c0ffee', epoch: 1_700_000_000 },
    join(here, 'work'),
    join(here, 'dist'),
  );
  const { stdout } = shell(here, 'tar -xOzf dist/postern-chart-1.2.3.tar.gz postern/Chart.yaml');
  expect(YAML.parse(stdout)).toMatchObject({ name: 'postern', version: '1.2.3', appVersion: '1.2.3' });
  const { stdout: files } = shell(here, 'tar -tzf dist/postern-compose-1.2.3.tar.gz');
  expect(files).toContain('postern-compose/compose.yaml');
});

test('the gateway of the compose file has a read-only root, no capabilities and a health check', () => {
  const text = readFileSync(join(root, 'release/compose/compose.yaml'), 'utf8');
  const { services } = YAML.parse(text) as { services: { gateway: unknown } };
  expect(services.gateway).toMatchObject({
    read_only: true,
    cap_drop: ['ALL'],
    healthcheck: { test: ['CMD', '/usr/bin/postern-health'] },
  });
});

test('the configuration of the compose file is valid', () => {
  const file = join(root, 'release/compose/postern.toml');
  const env =
    'POSTERN_PASSPHRASE="a long passphrase" DATABASE_URL=postgres://postern:x@database:5432/postern';
  const check = `${env} ${root}/postern check --data ${here}/data --config ${file}`;
  expect(shell(here, check)).toMatchObject({ status: 0 });
});
