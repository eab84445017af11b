import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { basename, join } from 'node:path';

/** Holds downloads and built tools from one run to the next. */
const cache = process.env.POSTERN_INTEROP_CACHE ?? join(tmpdir(), 'postern-interop');

/**
 * Returns what `install` returns. If the machine cannot install it, the tests that need it are skipped: `install`
 * then gives undefined. Under continuous integration that is an error.
 */
async function orSkip<T>(what: string, install: () => Promise<T>): Promise<T | undefined> {
  try {
    return await install();
  } catch (error) {
    if (process.env.CI === 'true') throw error;
    console.warn(`${what} cannot be installed, its tests are skipped: ${(error as Error).message}`);
    return undefined;
  }
}

async function run(command: readonly string[], env: Record<string, string> = {}): Promise<void> {
  const child = Bun.spawn([...command], {
    env: { ...process.env, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0) throw new Error(`${command[0]}: ${`${out}${errors}`.trim().slice(-2_000)}`);
}

/** Installs `packages` of Debian unless `tool` is on the PATH. */
async function debian(tool: string, ...packages: readonly string[]): Promise<void> {
  if (Bun.which(tool) !== null) return;
  const apt = ['apt-get', '-q', '-o', 'DPkg::Lock::Timeout=300'];
  await run([...apt, 'update']);
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  await run([...apt, '-y', 'install', '--no-install-recommends', ...packages], env);
}

/** Builds a command of a Go module, `example.org/tool/cmd/tool@v1.2.3`, and returns the path of the binary. */
export const goCommand = (command: string): Promise<string | undefined> =>
  orSkip(command, async () => {
    const [path = '', version = ''] = command.split('@');
    const directory = join(cache, 'go', `${basename(path)}-${version}`);
    const binary = join(directory, basename(path));
    if (existsSync(binary)) return binary;
    await debian('go', 'golang-go', 'ca-certificates');
    await run(['go', 'install', command], { GOBIN: directory, GOFLAGS: '-modcacherw' });
    return binary;
  });

/** Downloads the dependencies that a `pom.xml` names and returns them as a class path. */
export const javaLibraries = (pom: string): Promise<string | undefined> =>
  orSkip(pom, async () => {
    await debian('javac', 'default-jdk-headless');
    await debian('mvn', 'maven');
    const hash = Bun.hash(await Bun.file(pom).text()).toString(16);
    const directory = join(cache, 'java', hash);
    const done = join(directory, 'complete');
    if (!existsSync(done)) {
      mkdirSync(directory, { recursive: true });
      const repository = `-Dmaven.repo.local=${join(cache, 'maven')}`;
      const copy = ['dependency:copy-dependencies', `-DoutputDirectory=${directory}`];
      await run(['mvn', '-B', '-q', repository, '-f', pom, ...copy]);
      await Bun.write(done, '');
    }
    return join(directory, '*');
  });

/** The archive of Debian that this machine installs from. */
function debianArchive(): string {
  const targets = [
    'apt-get',
    'indextargets',
    '--format',
    '$(REPO_URI)',
    'Origin: Debian',
    'Created-By: Packages',
  ];
  const archives = Bun.spawnSync(targets).stdout.toString().split('\n');
  const archive = archives.find((uri) => /\/debian\/?$/.test(uri));
  if (archive === undefined) throw new Error('apt has no archive of Debian: run apt-get update');
  return archive;
}

/**
 * Unpacks the OpenSSL of a later release of Debian beside that of this machine, and returns a command that runs it. Nothing is installed: its
 * C library comes along.
 */
export const laterOpenssl = (release: string): Promise<string | undefined> =>
  orSkip(`OpenSSL of Debian ${release}`, async () => {
    const directory = join(cache, `openssl-${release}`);
    const command = join(directory, 'openssl');
    if (existsSync(command)) return command;
    for (const one of ['lists/partial', 'archives/partial', 'root']) {
      mkdirSync(join(directory, one), { recursive: true });
    }
    const keyring = `/usr/share/keyrings/debian-archive-${release}-stable.gpg`;
    const source = `deb [signed-by=${keyring}] ${debianArchive()} ${release} main\n`;
    await Bun.write(join(directory, 'sources.list'), source);
    await Bun.write(join(directory, 'status'), '');
    const settings = {
      'Dir::State::Lists': join(directory, 'lists'),
      'Dir::State::Status': join(directory, 'status'),
      'Dir::Cache': directory,
      'Dir::Etc::SourceList': join(directory, 'sources.list'),
      'Dir::Etc::SourceParts': '-',
      'APT::Sandbox::User': userInfo().username,
    };
    const apt = [
      'apt-get',
      ...Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]),
    ];
    await run([...apt, 'update']);
    const packages = 'openssl libssl3t64 libc6 zlib1g libzstd1';
    const root = join(directory, 'root');
    const unpack = `cd '${root}' && "$@" download ${packages} && for f in *.deb; do dpkg -x "$f" .; done`;
    await run(['sh', '-euc', unpack, 'sh', ...apt]);
    const [libraries] = [...new Bun.Glob('usr/lib/*/libssl.so.3').scanSync(root)].map((one) =>
      join(root, one, '..'),
    );
    if (!libraries) throw new Error('libssl is not where it should be');
    const [loader] = [...new Bun.Glob('usr/lib/*/ld-linux*').scanSync(root)].map((one) => join(root, one));
    const line = `exec '${loader}' --library-path '${libraries}' '${root}/usr/bin/openssl' "$@"`;
    await Bun.write(
      command,
      `#!/bin/sh\nOPENSSL_MODULES='${libraries}/ossl-modules'\nexport OPENSSL_MODULES\n${line}\n`,
    );
    chmodSync(command, 0o755);
    return command;
  });

/** Installs packages of PyPI, `name==1.2.3`, into an environment of their own and returns its directory. */
export const pythonEnvironment = (...packages: readonly string[]): Promise<string | undefined> =>
  orSkip(packages.join(' '), async () => {
    const directory = join(cache, 'python', Bun.hash(packages.join(' ')).toString(16));
    const done = join(directory, 'complete');
    if (!existsSync(done)) {
      await debian('python3', 'python3', 'python3-venv');
      await run(['python3', '-m', 'venv', directory]);
      await run([join(directory, 'bin/pip'), '-q', 'install', ...packages]);
      await Bun.write(done, '');
    }
    return directory;
  });

/** Returns the path of a command that `packages` of Debian contain. */
export const debianTool = (tool: string, ...packages: readonly string[]): Promise<string | undefined> =>
  orSkip(tool, async () => {
    await debian(tool, ...packages);
    const path = Bun.which(tool);
    if (path === null) throw new Error(`${packages.join(', ')} has no ${tool}`);
    return path;
  });
