import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { disksOf } from '#adapters/outbound/system/platform.ts';
import { apiOf } from './fixtures/api.ts';
import { installation } from './fixtures/installation.ts';

const root = join(import.meta.dir, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Returns the metrics that a text names, without the suffixes of histograms. */
const metricsIn = (text: string): readonly string[] =>
  [...new Set(text.match(/\b(?:postern|process)_[a-z_]+/g))].map((name) =>
    name.replace(/_(?:bucket|sum|count)$/, ''),
  );

/** Returns the metrics that /metrics has. */
async function exposed(): Promise<ReadonlySet<string>> {
  await using site = await installation();
  const { text } = await (await apiOf(site)).get('/metrics');
  return new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name!));
}

describe('the files for monitoring', () => {
  const files = [
    'deploy/prometheus/postern.rules.yml',
    'deploy/prometheus/postern.test.yml',
    'deploy/grafana/postern.json',
  ].filter((path) => existsSync(join(root, path)));

  test.each(files)('%s names metrics that exist', async (path) => {
    const named = metricsIn(read(path)).filter((name) => !name.endsWith('_'));
    const known = await exposed();
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  test('a metric that does not exist is found', async () => {
    const known = await exposed();
    expect(metricsIn('rate(postern_made_up_total[5m])').filter((name) => known.has(name))).toEqual([]);
  });

  test('test every alert, and the guide lists every alert', () => {
    const alerts = [...read('deploy/prometheus/postern.rules.yml').matchAll(/alert: (\w+)/g)].map(
      ([, name]) => name!,
    );
    const tests = read('deploy/prometheus/postern.test.yml');
    expect(alerts.length).toBeGreaterThanOrEqual(6);
    for (const alert of alerts) {
      const fires = new RegExp(`alertname: ${alert}\\n +exp_alerts:\\n`).test(tests);
      const rests = tests.includes(`alertname: ${alert}, exp_alerts: []`);
      const listed = read('docs/how-to/monitor.md').includes(`\`${alert}\``);
      expect({ alert, fires, rests, listed }).toEqual({ alert, fires: true, rests: true, listed: true });
    }
  });
});

test('the disks of directories have their free space and size, and a missing directory is left out', async () => {
  const [disk, ...others] = await disksOf({ data: root, log: join(root, 'no such directory') });
  expect(others).toEqual([]);
  expect(disk!.name).toBe('data');
  expect(disk!.size).toBeGreaterThan(disk!.free);
});
