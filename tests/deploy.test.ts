import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { disksOf } from '#adapters/outbound/system/platform.ts';
import { apiOf } from './fixtures/api.ts';
import { installation } from './fixtures/installation.ts';

const closed = { additionalProperties: false } as const;
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
  ];

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

describe('the dashboard', () => {
  const dashboard = JSON.parse(read('deploy/grafana/postern.json'));

  test('has the fields that Grafana imports, in the schema that it knows', async () => {
    const text = Type.String({ minLength: 1 });
    const place = Type.Integer({ minimum: 0, maximum: 1000 });
    const datasource = Type.Object({
      type: Type.Literal('prometheus'),
      uid: Type.RegExp(/^\$\{datasource\}$/),
    });
    const target = Type.Object({ refId: text, expr: text, legendFormat: text, datasource }, closed);
    const panel = Type.Object(
      {
        id: Type.Integer({ minimum: 1 }),
        type: Type.Union([Type.Literal('timeseries'), Type.Literal('stat'), Type.Literal('bargauge')]),
        title: text,
        description: text,
        datasource,
        gridPos: Type.Object({ x: place, y: place, w: place, h: place }, closed),
        fieldConfig: Type.Object({
          defaults: Type.Object({ unit: text }),
          overrides: Type.Array(Type.Any()),
        }),
        options: Type.Object({}),
        targets: Type.Array(target, { minItems: 1 }),
      },
      closed,
    );
    const schema = Type.Object({
      uid: text,
      title: text,
      schemaVersion: Type.Integer({ minimum: 36, maximum: 41 }),
      templating: Type.Object({ list: Type.Array(Type.Object({ name: text, type: text })) }),
      panels: Type.Array(panel, { minItems: 10 }),
    });
    expect([...Value.Errors(schema, dashboard)].map(({ path, message }) => `${path}: ${message}`)).toEqual(
      [],
    );
  });

  test('has panels with ids of their own that do not overlap, and uses no unknown variable', () => {
    const cells = new Set<string>();
    const ids = new Set<number>();
    for (const { id, gridPos } of dashboard.panels) {
      expect(ids.has(id)).toBe(false);
      ids.add(id);
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(cells.has(`${x} ${y}`)).toBe(false);
          cells.add(`${x} ${y}`);
        }
    }
    const known = dashboard.templating.list.map(({ name }: { name: string }) => name);
    const used = [...JSON.stringify(dashboard).matchAll(/\$\{?(\w+)/g)].map(([, name]) => name);
    expect(new Set(used)).toEqual(new Set([...known, '__rate_interval']));
  });
});

test('the disks of directories have their free space and size, and a missing directory is left out', async () => {
  const [disk, ...others] = await disksOf({ data: root, log: join(root, 'no such directory') });
  expect(others).toEqual([]);
  expect(disk!.name).toBe('data');
  expect(disk!.size).toBeGreaterThan(disk!.free);
});
