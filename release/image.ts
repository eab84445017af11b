import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tar } from './archive.ts';
import { need, run } from './command.ts';
import type { Platform } from './program.ts';
import { root, type Source } from './source.ts';

/** The account in the image: no root, and the number that Kubernetes checks with `runAsNonRoot`. */
const account = 65_532;
/** Of the C library: what Bun and the compiled pkcs11js link to, and what looks up names of hosts. */
const libraries = [
  'libc.so.6',
  'libm.so.6',
  'libdl.so.2',
  'libpthread.so.0',
  'librt.so.1',
  'libresolv.so.2',
  'libnss_dns.so.2',
  'libnss_files.so.2',
];

const environment: Readonly<Record<string, string>> = {
  PATH: '/usr/bin',
  HOME: '/tmp',
  POSTERN_DATA: '/var/lib/postern',
  BUN_OPTIONS: '--config=/usr/lib/postern/bunfig.toml --no-env-file',
  BUN_JSC_useWarmUpMarkedBlocks: '0',
  MIMALLOC_PURGE_DELAY: '10000',
};

/**
 * Writes the OCI image of `program` to `dist/NAME-oci.tar`: no base image and no registry, only the program and the C library of this
 * machine. `work` is an empty directory.
 */
export async function buildImage(
  source: Source,
  platform: Platform,
  program: string,
  work: string,
  dist: string,
): Promise<void> {
  need('buildah', 'buildah');
  const tree = join(work, 'tree');
  await writeTree(platform, program, tree);
  const name = `postern-${source.version}-linux-${platform.cpu}-oci`;
  const storage = [
    '--root',
    join(work, 'storage'),
    '--runroot',
    join(work, 'run'),
    '--storage-driver',
    'vfs',
  ];
  const buildah = async (...args: string[]): Promise<string> =>
    (await run(['buildah', ...storage, ...args])).trim();
  const container = await buildah('from', 'scratch');
  await buildah('add', '--quiet', '--chown', '0:0', container, tree, '/');
  // Writable: the data. /tmp is a mount wherever the root is read-only.
  const data = join(work, 'data');
  await mkdir(data, { mode: 0o700 });
  await buildah(
    'add',
    '--quiet',
    '--chown',
    `${account}:${account}`,
    '--chmod',
    '0700',
    container,
    data,
    '/var/lib/postern',
  );
  const settings = ['--os', 'linux', '--arch', platform.debian, '--user', `${account}:${account}`];
  const labels = [
    `org.opencontainers.image.version=${source.version}`,
    `org.opencontainers.image.revision=${source.commit}`,
  ];
  await buildah(
    'config',
    ...settings,
    ...Object.entries(environment).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    ...labels.flatMap((label) => ['--label', label]),
    ...[
      '--port',
      '8443',
      '--port',
      '8080',
      '--volume',
      '/var/lib/postern',
      '--workingdir',
      '/var/lib/postern',
    ],
    ...['--stop-signal', 'SIGTERM', '--entrypoint', '["/usr/bin/postern"]', '--cmd', 'serve'],
    container,
  );
  const time = ['--timestamp', String(source.epoch), '--format', 'oci', '--quiet'];
  await buildah('commit', ...time, container, `localhost/postern:${source.version}`);
  const layout = join(work, name);
  await buildah(
    'push',
    '--quiet',
    `localhost/postern:${source.version}`,
    `oci:${layout}:postern:${source.version}`,
  );
  await tar(layout, '.', join(dist, `${name}.tar`), source.epoch);
}

async function writeTree(platform: Platform, program: string, tree: string): Promise<void> {
  const place = (path: string): string => join(tree, path);
  const library = `usr/lib/${platform.machine}-linux-gnu`;
  for (const folder of ['usr/bin', library, 'etc', 'tmp', platform.loader.split('/')[1]!]) {
    await mkdir(place(folder), { recursive: true });
  }
  await run(['cp', '-a', program, place('usr/lib/postern')]);
  for (const name of libraries)
    await cp(join(platform.library, name), place(`${library}/${name}`), { dereference: true });
  await cp(join(platform.library, platform.loader.split('/').at(-1)!), place(platform.loader), {
    dereference: true,
  });
  const machine = platform.cpu === 'x64' ? 'x64' : 'aarch64';
  await symlink(`../lib/postern/node_modules/@oven/bun-linux-${machine}/bin/bun`, place('usr/bin/bun'));
  for (const script of ['postern', 'postern-health']) {
    await cp(join(root, 'release/image', script), place(`usr/bin/${script}`));
  }
  await writeFile(
    place('etc/passwd'),
    `postern:x:${account}:${account}:Postern:/var/lib/postern:/nonexistent\n`,
  );
  await writeFile(place('etc/group'), `postern:x:${account}:\n`);
  await writeFile(place('etc/nsswitch.conf'), 'hosts: files dns\n');
  await writeFile(place('etc/ld.so.conf'), `/${library}\n`);
}
