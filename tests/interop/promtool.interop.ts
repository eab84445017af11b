import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { apiOf } from '#tests/fixtures/api.ts';
import { installation } from '#tests/fixtures/installation.ts';
import { debianTool } from './install.ts';

const rules = join(import.meta.dir, '../../deploy/prometheus');
const promtool = await debianTool('promtool', 'prometheus');

describe.skipIf(!promtool)('promtool', () => {
  function run(words: readonly string[], input = '') {
    const { exitCode, stdout, stderr } = Bun.spawnSync([promtool!, ...words], {
      cwd: rules,
      stdin: Buffer.from(input),
    });
    return { status: exitCode, output: `${stdout}${stderr}` };
  }

  test('accepts the alert rules', () => {
    expect(run(['check', 'rules', 'postern.rules.yml'])).toMatchObject({ status: 0 });
  });

  test('runs the tests of the alert rules', () => {
    const { status, output } = run(['test', 'rules', 'postern.test.yml']);
    expect({ status, output }).toEqual({ status: 0, output: expect.stringContaining('SUCCESS') });
  });

  test('parses every expression of the dashboard', async () => {
    const dashboard = await Bun.file(join(rules, '../grafana/postern.json')).json();
    const expressions: string[] = dashboard.panels.flatMap(({ targets }: { targets: { expr: string }[] }) =>
      targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m')),
    );
    expect(expressions.length).toBeGreaterThan(10);
    const check = (all: readonly string[]) => {
      const file = join(mkdtempSync(join(tmpdir(), 'postern-promtool-')), 'rules.json');
      const recorded = all.map((expr, n) => ({ record: `r:${n}`, expr }));
      // YAML contains JSON.
      writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: recorded }] }));
      const result = run(['check', 'rules', file]);
      rmSync(dirname(file), { recursive: true });
      return result;
    };
    expect(check(expressions)).toMatchObject({ status: 0 });
    expect(check(['sum(']).status).not.toBe(0);
  });

  test('reads the metrics', async () => {
    await using site = await installation();
    const { text } = await (await apiOf(site)).get('/metrics');
    expect(run(['check', 'metrics'], text)).toEqual({ status: 0, output: '' });
    expect(run(['check', 'metrics'], `${text}postern_healthy{part= 1\n`).status).not.toBe(0);
  });
});
