import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dir, '../..');

/** Makes a clone with a package `x` and a Bun that prints its arguments; `npm` installs only that and prints so. */
let clone: string;
let bin: string;

const lock = (version: string, extra = ''): string =>
  `{\n  "packages": {\n    "node_modules/x": {\n      "version": "${version}",\n      "license": "MIT"\n    }${extra}\n  }\n}\n`;
const optional = `,\n    "node_modules/y": {\n      "version": "1.0.0",\n      "optional": true\n    }`;
const forDevelopment = `,\n    "node_modules/z": {\n      "version": "1.0.0",\n      "dev": true\n    }`;

beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'postern-launcher-'));
  bin = join(clone, 'bin');
  mkdirSync(bin);
  cpSync(join(root, 'postern'), join(clone, 'postern'));
  mkdirSync(join(clone, 'plugins'));
  cpSync(join(root, 'plugins/cli/packages.sh'), join(clone, 'plugins/cli/packages.sh'));
  writeFileSync(join(clone, 'package-lock.json'), lock('1.0.0'));
  script('bin/bun.template', 'shift 2; echo "bun $PWD $*"; case "$*" in *wait*) exec sleep 30 ;; esac');
  script(
    'bin/npm',
    `[ "$1" = config ] && exit
     echo "$*" >> npm.log
     sleep 0.3
     rm -rf node_modules
     mkdir -p node_modules/bun/bin
     cp bin/bun.template node_modules/bun/bin/bun.exe
     cp package-lock.json node_modules/.package-lock.json`,
  );
});
afterEach(() => rmSync(clone, { recursive: true, force: true }));

function script(path: string, text: string): void {
  writeFileSync(join(clone, path), `#!/bin/sh\n${text}\n`);
  chmodSync(join(clone, path), 0o755);
}

function installed(text: string): void {
  mkdirSync(join(clone, 'node_modules/bun/bin'), { recursive: true });
  cpSync(join(bin, 'bun.template'), join(clone, 'node_modules/bun/bin/bun.exe'));
  writeFileSync(join(clone, 'node_modules/.package-lock.json'), text);
}

const npmCalls = (): string[] => {
  const log = join(clone, 'npm.log');
  return existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
};

function start(launcher = join(clone, 'postern'), args = ['serve', 'a b'], cwd = '/') {
  return Bun.spawn([launcher, ...args], {
    cwd,
    env: { PATH: `${bin}:/usr/bin:/bin` },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
}

async function output(started: ReturnType<typeof start>) {
  const [stdout, stderr] = await Promise.all([started.stdout.text(), started.stderr.text()]);
  return { status: await started.exited, stdout, stderr };
}

const called = () => `bun / ${clone}/plugins/cli/main.ts serve a b\n`;

describe('a clone whose packages match the lock file', () => {
  const rows: readonly [what: string, wanted: string, there: string][] = [
    ['the same', lock('1.0.0'), lock('1.0.0')],
    ['an optional package left out', lock('1.0.0', optional), lock('1.0.0')],
    ['a package for development left out', lock('1.0.0', forDevelopment), lock('1.0.0')],
  ];
  test.each(rows)('%s: nothing is installed', async (_, wanted, there) => {
    writeFileSync(join(clone, 'package-lock.json'), wanted);
    installed(there);
    expect(await output(start())).toEqual({ status: 0, stdout: called(), stderr: '' });
    expect(npmCalls()).toEqual([]);
  });

  test('is found through links, from any directory', async () => {
    installed(lock('1.0.0'));
    mkdirSync(join(clone, 'usr/bin'), { recursive: true });
    symlinkSync('../postern', join(clone, 'usr/postern'));
    symlinkSync('../postern', join(clone, 'usr/bin/postern'));
    expect((await output(start(join(clone, 'usr/bin/postern')))).stdout).toBe(called());
  });

  test('may be read-only', async () => {
    installed(lock('1.0.0'));
    // Root may write anyway: nothing may be there afterwards.
    const before = Bun.spawnSync(['find', clone]).stdout.toString();
    chmodSync(clone, 0o555);
    expect((await output(start())).stdout).toBe(called());
    chmodSync(clone, 0o755);
    expect(Bun.spawnSync(['find', clone]).stdout.toString()).toBe(before);
  });

  test('uses the binary of the platform package when install scripts were disabled', async () => {
    installed(lock('1.0.0'));
    rmSync(join(clone, 'node_modules/bun'), { recursive: true });
    mkdirSync(join(clone, 'node_modules/@oven/bun-linux-x64/bin'), { recursive: true });
    cpSync(join(bin, 'bun.template'), join(clone, 'node_modules/@oven/bun-linux-x64/bin/bun'));
    expect((await output(start())).stdout).toBe(called());
    expect(npmCalls()).toEqual([]);
  });

  test('forwards signals to Bun', async () => {
    installed(lock('1.0.0'));
    const started = start(undefined, ['wait']);
    const reader = started.stdout.getReader();
    await reader.read();
    started.kill('SIGTERM');
    expect(await started.exited).toBe(143);
  });

  test('runs Bun as the process that npm starts, which forwards signals only to that', async () => {
    installed(lock('1.0.0'));
    script('node_modules/bun/bin/bun.exe', 'echo $$');
    const { scripts } = await Bun.file(join(root, 'package.json')).json();
    const { pid, stdout } = start('/bin/sh', ['-c', scripts.start], clone);
    expect(await stdout.text()).toBe(`${pid}\n`);
  });
});

describe('a clone whose packages do not match', () => {
  const rows: readonly [what: string, wanted: string, there: string | undefined, call: string][] = [
    ['none', lock('1.0.0'), undefined, 'ci --omit=dev --no-audit --no-fund'],
    ['another version', lock('2.0.0'), lock('1.0.0'), 'ci --omit=dev --no-audit --no-fund'],
    [
      'one is missing',
      lock('1.0.0', optional.replace('optional', 'peer')),
      lock('1.0.0'),
      'ci --omit=dev --no-audit --no-fund',
    ],
    [
      'another version where somebody develops',
      lock('2.0.0'),
      lock('1.0.0', forDevelopment),
      'ci --include=dev --no-audit --no-fund',
    ],
  ];
  test.each(rows)('%s: npm installs the packages of the lock file', async (_, wanted, there, call) => {
    writeFileSync(join(clone, 'package-lock.json'), wanted);
    if (there !== undefined) installed(there);
    expect(await output(start())).toEqual({
      status: 0,
      stdout: called(),
      stderr: 'postern: installing packages\n',
    });
    expect(npmCalls()).toEqual([call]);
    expect(existsSync(join(clone, '.installing.lock'))).toBe(false);
    expect((await output(start())).stderr).toBe('');
  });

  test('is installed by one of several concurrent starts while the others wait', async () => {
    const results = await Promise.all([start(), start(), start()].map(output));
    expect(results.map(({ status, stdout }) => [status, stdout])).toEqual(Array(3).fill([0, called()]));
    expect(npmCalls()).toHaveLength(1);
  });

  test('ignores the lock of a start that died', async () => {
    const gone = Bun.spawnSync(['true']).pid;
    symlinkSync(`${gone}`, join(clone, '.installing.lock'));
    const results = await Promise.all([start(), start(), start()].map(output));
    expect(results.map(({ status, stdout }) => [status, stdout])).toEqual(Array(3).fill([0, called()]));
    expect(npmCalls()).toHaveLength(1);
    expect(readdirSync(clone).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  test('takes a lock that is released while it is checked', async () => {
    script('bin/ln', `rm ${join(bin, 'ln')}; exit 1`);
    expect(await output(start())).toMatchObject({ status: 0, stdout: called() });
  });

  test('reports a directory that is not writable', async () => {
    chmodSync(clone, 0o555);
    // Root may write anywhere.
    const asNobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
    const [launcher, ...args] = [...(process.getuid!() === 0 ? asNobody : []), join(clone, 'postern')];
    const { status, stderr } = await output(start(launcher, args));
    chmodSync(clone, 0o755);
    expect(status).toBe(1);
    expect(stderr).toContain('is not writable: cannot install packages');
    expect(npmCalls()).toEqual([]);
  });

  test('stops and frees the lock when npm fails', async () => {
    script('bin/npm', '[ "$1" = config ] || { echo "npm error no network" >&2; exit 3; }');
    const { status, stdout, stderr } = await output(start());
    expect({ status, stdout }).toEqual({ status: 3, stdout: '' });
    expect(stderr).toContain('npm error no network');
    expect(existsSync(join(clone, '.installing.lock'))).toBe(false);
  });

  test('keeps linked packages', async () => {
    installed(lock('0.9.0'));
    Bun.spawnSync(['mv', 'node_modules', 'shared'], { cwd: clone });
    symlinkSync('shared', join(clone, 'node_modules'));
    const { status, stderr } = await output(start());
    expect(status).toBe(1);
    expect(stderr).toContain('is a symbolic link: not installing packages');
    expect(existsSync(join(clone, 'shared/bun/bin/bun.exe'))).toBe(true);
  });

  test('is installed by a Bun on the machine when npm is missing', async () => {
    rmSync(join(bin, 'npm'));
    for (const tool of ['awk', 'cp', 'dirname', 'grep', 'ln', 'mkdir', 'readlink', 'rm', 'sh', 'sleep']) {
      symlinkSync(Bun.which(tool)!, join(bin, tool));
    }
    script(
      'bin/bun',
      `[ "$*" = 'install --no-save --production' ] || exit 9
       mkdir -p node_modules/bun/bin && cp bin/bun.template node_modules/bun/bin/bun.exe`,
    );
    const alone = () =>
      Bun.spawnSync([join(clone, 'postern'), 'serve', 'a b'], { cwd: '/', env: { PATH: bin } });
    expect(alone().stdout.toString()).toBe(called());
    // The second start finds matching packages.
    expect(alone().stderr.toString()).toBe('');
    rmSync(join(clone, 'node_modules'), { recursive: true });
    rmSync(join(bin, 'bun'));
    const { exitCode, stderr } = alone();
    expect(exitCode).toBe(1);
    expect(stderr.toString()).toContain('neither npm nor bun is installed');
  });
});

describe('a release, which has the file RELEASE', () => {
  const machine = Bun.spawnSync(['uname', '-m']).stdout.toString().trim();
  const release = (of: string): void =>
    writeFileSync(join(clone, 'RELEASE'), `postern 1.0.0 ${of} 0123abc\n`);

  test('starts with the Bun that it contains and installs nothing, whatever the lock file says', async () => {
    installed(lock('1.0.0'));
    writeFileSync(join(clone, 'package-lock.json'), lock('2.0.0'));
    release(machine);
    expect(await output(start())).toMatchObject({ status: 0, stdout: called(), stderr: '' });
    expect(npmCalls()).toEqual([]);
  });

  test('for another machine says which archive to unpack', async () => {
    installed(lock('1.0.0'));
    release('riscv64');
    const { status, stderr } = await output(start());
    expect(status).toBe(1);
    expect(stderr).toContain(`for riscv64, but this machine is ${machine}`);
  });

  test('without Bun is incomplete, and installs nothing', async () => {
    release(machine);
    const { status, stderr } = await output(start());
    expect(status).toBe(1);
    expect(stderr).toContain('Bun is missing');
    expect(npmCalls()).toEqual([]);
  });
});
