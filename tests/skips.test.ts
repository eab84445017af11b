import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { account, expectedSkips, skipsIn } from './skips.ts';

/** As Bun 1.4.5 writes it, with one test that ran. */
const reportOf = (...skipped: readonly { file: string; name: string }[]): string => `<testsuites skipped="2">
  <testsuite name="e2e" file="tests/e2e/hsm.test.ts" tests="3">
    <testcase name="runs" classname="e2e" time="0.1" file="tests/e2e/hsm.test.ts" line="2" assertions="1" />
    ${skipped
      .map(
        ({ file, name }) =>
          `<testcase name="${name}" classname="e2e" time="0" file="${file}" line="2" assertions="0">
      <skipped />
    </testcase>`,
      )
      .join('\n')}
  </testsuite>
</testsuites>`;
const hsm = { file: 'tests/e2e/hsm.test.ts', name: 'signs &quot;x&quot;' };

test('skipped tests are found in a report, with their names', () => {
  expect(skipsIn(reportOf(hsm, { ...hsm, name: 'another' }))).toEqual([
    { file: hsm.file, name: 'signs "x"' },
    { file: hsm.file, name: 'another' },
  ]);
  expect(skipsIn(reportOf())).toEqual([]);
});

test('skipped tests are listed by file, with each reason once', () => {
  const skips = skipsIn(reportOf(hsm, { ...hsm, name: 'another' }));
  expect(
    account([...skips, ...expectedSkips], ['SoftHSM is not installed', 'SoftHSM is not installed']),
  ).toEqual({
    lines: [
      ...expectedSkips.map(({ file, name, why }) => `skipped: ${file}: ${name} (${why})`),
      'skipped: tests/e2e/hsm.test.ts: 2 tests',
      'because SoftHSM is not installed',
    ],
    unexpected: 2,
  });
});

test.each([
  ['true', reportOf(hsm), 1],
  ['true', reportOf(...expectedSkips), 0],
  ['', reportOf(hsm), 0],
])('with CI=%j, a skip that nobody expects decides about the run', async (ci, report, status) => {
  const directory = mkdtempSync(join(tmpdir(), 'postern-skips-'));
  try {
    const file = join(directory, 'results.xml');
    writeFileSync(file, report);
    const run = Bun.spawn([process.execPath, join(import.meta.dir, 'report-skips.ts'), file, ''], {
      env: { ...process.env, CI: ci },
      stdout: 'pipe',
    });
    expect(await run.stdout.text()).toContain('skipped: tests/');
    expect(await run.exited).toBe(status);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
