import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { need, run } from './command.ts';
import { type Component, installed } from './components.ts';
import { thirdParty } from './licences.ts';
import { exportSource, type Source } from './source.ts';

/** A machine that releases are built for, as each tool names it. */
export interface Platform {
  /** In names of archives, and what npm calls the processor. */
  readonly cpu: 'x64' | 'arm64';
  /** As `uname -m` prints it. */
  readonly machine: string;
  readonly debian: string;
  /** The C++ compiler for it, and the package of Debian that has the compiler. */
  readonly compiler: readonly [command: string, from: string];
  /** Where Debian keeps the C library for it. */
  readonly library: string;
  readonly loader: string;
}

const compiler = (machine: string, debian: string): readonly [string, string] =>
  process.arch === debian.replace('amd64', 'x64')
    ? ['g++', 'g++']
    : [`${machine}-linux-gnu-g++`, `g++-${machine.replace('_', '-')}-linux-gnu`];

const library = (machine: string): string =>
  [`/usr/lib/${machine}-linux-gnu`, `/usr/${machine}-linux-gnu/lib`].find((path) =>
    existsSync(join(path, 'libc.so.6')),
  ) ?? '';

const platform = (cpu: Platform['cpu'], machine: string, debian: string, loader: string): Platform => ({
  cpu,
  machine,
  debian,
  compiler: compiler(machine, debian),
  library: library(machine),
  loader,
});

export const platforms: readonly Platform[] = [
  platform('x64', 'x86_64', 'amd64', '/lib64/ld-linux-x86-64.so.2'),
  platform('arm64', 'aarch64', 'arm64', '/lib/ld-linux-aarch64.so.1'),
];

/**
 * Left out: the compiler and the native part of a package that only development and installation use, and the package
 * that installs Bun where install scripts may run. Bun itself is `@oven/bun-*`.
 */
const unused = ['.bin', 'bun', 'typescript', '@typescript', 'cpu-features', 'buildcheck', 'nan', '@scarf'];

/**
 * Writes the self-contained program for `platform` into `directory` and returns its packages: the sources of the
 * commit, production packages with the integrity that package-lock.json states, and `pkcs11js` compiled.
 */
export async function stageProgram(
  source: Source,
  platform: Platform,
  directory: string,
): Promise<readonly Component[]> {
  await mkdir(directory, { recursive: true });
  await exportSource(source, directory);
  // npm checks each package against the integrity in the lock file. No script of a package runs.
  const target = ['--os=linux', `--cpu=${platform.cpu}`, '--libc=glibc'];
  const quiet = ['--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'];
  await run(['npm', 'ci', ...quiet, ...target], { cwd: directory });
  const packages = join(directory, 'node_modules');
  for (const name of unused) await rm(join(packages, name), { recursive: true, force: true });
  // Settings of the editors and tools of those who made the packages.
  await run(['find', packages, '-mindepth', '2', '-name', '.*', '-prune', '-exec', 'rm', '-r', '{}', '+']);
  await compilePkcs11(platform, join(packages, 'pkcs11js'));
  const components = await installed(directory);
  await rm(join(packages, '.package-lock.json'));
  await writeFile(join(directory, 'THIRD-PARTY.txt'), await thirdParty(directory, components));
  // Its presence tells the launcher that nothing has to be installed.
  const { version, commit } = source;
  await writeFile(join(directory, 'RELEASE'), `postern ${version} ${platform.machine} ${commit}\n`);
  return components;
}

/**
 * Compiles the native part of `pkcs11js`: the sources and settings of its binding.gyp, without node-gyp, which cannot
 * cross-compile reproducibly. The C++ library is linked in; of the system, only the C library is needed.
 */
async function compilePkcs11({ compiler: [compiler, from] }: Platform, directory: string): Promise<void> {
  need(compiler, from);
  const gyp = await readFile(join(directory, 'binding.gyp'), 'utf8');
  const sources = [...gyp.matchAll(/"(src\/[\w-]+\.cpp)"/g)].map(([, path]) => path!);
  const headers = join(
    dirname(dirname(process.env.npm_node_execpath ?? Bun.which('node') ?? '')),
    'include/node',
  );
  if (sources.length === 0) throw new Error('binding.gyp of pkcs11js names no sources');
  if (!existsSync(join(headers, 'node_api.h'))) throw new Error(`${headers}: no headers of Node.js`);
  const output = join(directory, 'build/Release/pkcs11.node');
  await mkdir(dirname(output), { recursive: true });
  const defines = ['NAPI_DISABLE_CPP_EXCEPTIONS', 'NODE_GYP_MODULE_NAME=pkcs11', 'BUILDING_NODE_EXTENSION'];
  const flags = [
    '-shared',
    '-fPIC',
    '-O2',
    '-std=gnu++17',
    '-fno-rtti',
    '-fno-exceptions',
    `-ffile-prefix-map=${directory}=.`,
  ];
  const link = ['-static-libstdc++', '-static-libgcc', '-s', '-Wl,--build-id=none', '-Wl,-z,relro,-z,now'];
  const include = ['-Iincludes', `-I${headers}`];
  await run(
    [compiler, ...flags, ...defines.map((one) => `-D${one}`), ...include, ...link, '-o', output, ...sources],
    {
      cwd: directory,
    },
  );
  for (const part of ['src', 'includes', 'binding.gyp']) await rm(join(directory, part), { recursive: true });
}
