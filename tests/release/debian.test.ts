import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageDebian } from '#release/debian.ts';
import { platforms } from '#release/program.ts';
import { root } from '#release/source.ts';
import { shell } from '#tests/fixtures/server.ts';

const here = mkdtempSync(join(tmpdir(), 'postern-debian-test-'));
afterAll(() => rmSync(here, { recursive: true, force: true }));

/** A package around a program of one file. */
async function build(name: string): Promise<string> {
  const place = (path: string): string => join(here, name, path);
  for (const folder of ['program', 'work', 'dist']) mkdirSync(place(folder), { recursive: true });
  writeFileSync(place('program/postern'), '#!/bin/sh\n', { mode: 0o755 });
  writeFileSync(place('program/THIRD-PARTY.txt'), 'x 1.0.0, MIT\n');
  const source = { version: '1.2.3', commit: 'c0ffee', epoch: 1_700_000_000 };
  await packageDebian(source, platforms[0]!, place('program'), place('work'), place('dist'));
  return place('dist/postern_1.2.3_amd64.deb');
}

test.skipIf(Bun.which('dpkg-deb') === null)(
  'a Debian package built twice is equal, and keeps its configuration',
  async () => {
    const [one, other] = [await build('a'), await build('b')];
    expect(readFileSync(one).equals(readFileSync(other))).toBe(true);
    const { stdout: contents } = shell(here, `dpkg-deb --contents ${one}`);
    expect(contents).toMatch(/^drwx------ root\/root .* \.\/etc\/postern\/secrets\/$/m);
    expect(contents).toMatch(/^-rwxr-xr-x root\/root .* 2023-11-14 22:13 \.\/usr\/lib\/postern\/postern$/m);
    expect(shell(here, `dpkg-deb --info ${one} conffiles`).stdout).toBe('/etc/postern/postern.toml\n');
    expect(shell(here, `dpkg-deb --field ${one} Version`).stdout).toBe('1.2.3\n');
    for (const script of ['postinst', 'prerm', 'postrm']) {
      expect(shell(here, `dpkg-deb --info ${one} ${script} | sh -n`)).toMatchObject({ status: 0 });
    }
  },
);

const unit = join(root, 'release/debian/postern.service');

test.skipIf(Bun.which('systemd-analyze') === null)('the exposure of the unit is at most 2.0', () => {
  const { stdout } = shell(here, `systemd-analyze security --offline=true --no-pager ${unit}`);
  const [, exposure] = /Overall exposure level for postern.service: ([\d.]+)/.exec(stdout)!;
  expect(Number(exposure)).toBeLessThanOrEqual(2);
});

test('the configuration of the package is valid', () => {
  const file = join(root, 'release/debian/postern.toml');
  expect(shell(here, `${root}/postern check --data ${here}/data --config ${file}`)).toMatchObject({
    status: 0,
  });
});

test('POSTERN_DATA and POSTERN_CONFIG are the defaults of --data and --config', () => {
  const file = join(here, 'other.toml');
  writeFileSync(file, '[server]\nbase_url = "https://pki.example:8443"\n');
  const check = (options = '') =>
    JSON.parse(
      shell(here, `POSTERN_DATA=${here}/x POSTERN_CONFIG=${file} ${root}/postern check --json ${options}`)
        .stdout,
    );
  expect(check()).toMatchObject({ file, data: join(here, 'x'), base_url: 'https://pki.example:8443' });
  expect(check(`--data ${here}/y`)).toMatchObject({ file, data: join(here, 'y') });
});

test('with NOTIFY_SOCKET set, systemd hears that the service is ready, and nothing is sent without it', () => {
  const bin = join(here, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'systemd-notify'), `#!/bin/sh\necho "$*" >> ${here}/notified\n`, { mode: 0o755 });
  const code = `import { tellSystemd } from '${root}/plugins/host/lifecycle.ts'; tellSystemd();`;
  const tell = (socket: string) =>
    shell(here, `NOTIFY_SOCKET=${socket} PATH=${bin}:$PATH '${process.execPath}' -e "${code}"`);
  expect(tell('')).toMatchObject({ status: 0, stderr: '' });
  expect(shell(here, 'cat notified').status).not.toBe(0);
  expect(tell('/run/notify')).toMatchObject({ status: 0, stderr: '' });
  expect(readFileSync(join(here, 'notified'), 'utf8')).toBe('--ready\n');
});
