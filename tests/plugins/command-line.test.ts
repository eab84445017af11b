import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const launcher = join(import.meta.dir, '../../postern');

function postern(args: readonly string[], env: Record<string, string> = {}): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([launcher, ...args], {
    env: { ...process.env, ...env },
  });
  if (exitCode !== 0) throw new Error(stderr.toString());
  return stdout.toString();
}

describe('completion', () => {
  const script = postern(['completion', 'bash']);

  /** What bash offers after these words. */
  function completed(...words: readonly string[]): string[] {
    const { stdout, stderr } = Bun.spawnSync(
      [
        'bash',
        '-c',
        `${script}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _postern; printf '%s\\n' "\${COMPREPLY[@]}"`,
        'bash',
        'postern',
        ...words,
      ],
      {},
    );
    expect(stderr.toString()).toBe('');
    return stdout.toString().split('\n').filter(Boolean);
  }

  test.each([
    [['chec'], ['check']],
    [['devi'], ['device']],
    [['device', 'b'], ['block']],
    [['device', 'add', 'pump', '--dom'], ['--domain']],
    [['check', '--ex'], ['--explain']],
    [['completion', '--'], ['--help']],
  ])('bash completes %j', (words, expected) => {
    expect(completed(...words)).toEqual(expected);
  });

  test('every command is offered', () => {
    const groups = [...postern(['--help']).matchAll(/^ {2}([a-z-]+)/gm)].map(([, word]) => word!);
    expect(completed('')).toEqual(expect.arrayContaining(groups));
  });

  test('an unknown shell is rejected', () => {
    expect(() => postern(['completion', 'csh'])).toThrow('SHELL must be one of bash, zsh, fish');
  });

  test.each(['zsh', 'fish'])('the script for %s names every option of a command', (shell) => {
    const text = postern(['completion', shell]);
    for (const option of ['domain', 'json', 'data', 'config']) expect(text).toContain(option);
  });
});

test('the manual page has every command, and nothing in it is a stray troff request', () => {
  const page = postern(['manual']);
  const commands = [...postern(['--help']).matchAll(/^ {2}([a-z]+(?: [a-z]+)?)/gm)].map(([, name]) => name!);
  expect(commands.length).toBeGreaterThan(25);
  for (const command of commands) expect(page).toContain(`.SS "postern ${command.replaceAll('-', '\\-')}`);
  const requests = [...page.matchAll(/^\.(\S+)/gm)].map(([, name]) => name!);
  expect([...new Set(requests)].sort()).toEqual(['B', 'BI', 'I', 'PP', 'SH', 'SS', 'TH', 'TP', 'fi', 'nf']);
});

describe('check --explain', () => {
  const directory = mkdtempSync(join(tmpdir(), 'postern-explain-'));
  const file = join(directory, 'postern.toml');
  writeFileSync(
    file,
    `[server]
base_url = "https://pki.example"
[store]
plugin = "postgres"
url = "postgres://postern:hunter2@db.example/postern"
[backup]
passphrase = "correct horse battery"
[keys.hsm]
plugin = "pkcs11"
library = "/usr/lib/softhsm/libsofthsm2.so"
pin = "\${PIN}"
`,
  );
  const explained = postern(['check', '--explain', '--config', file, '--https-port', '9443'], {
    PIN: '123456',
  });
  rmSync(directory, { recursive: true });
  const lines = explained.split('\n').map((line) => line.replace(/ +#/, ' #'));

  test.each([
    'https_port = 9443 # command line',
    'http_port = 8080 # default',
    'base_url = "https://pki.example" # file',
    '# public_url = # not set',
    'url = "postgres://postern:********@db.example/postern" # file',
    'passphrase = "********" # file',
    `pin = "$\{PIN}" # file`,
    '[inbound.est]',
  ])('prints %s', (line) => {
    expect(lines).toContain(line);
  });

  test('prints no secret', () => {
    for (const secret of ['hunter2', 'correct horse', '123456']) expect(explained).not.toContain(secret);
  });

  test('prints TOML', () => {
    expect(Bun.TOML.parse(explained)).toMatchObject({
      server: { https_port: 9443 },
      keys: { hsm: { plugin: 'pkcs11' } },
    });
  });
});
