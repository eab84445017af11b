import { basename, dirname } from 'node:path';
import { run } from './command.ts';

/** tar's options for an archive that depends on nothing but the names, modes and contents of its files. */
const reproducible = (epoch: number): readonly string[] => [
  '--format=gnu',
  '--sort=name',
  '--owner=0',
  '--group=0',
  '--numeric-owner',
  `--mtime=@${epoch}`,
  '--mode=u=rwX,go=rX',
];

/** Packs what is at `path` inside `directory` into `file`, a tar archive. */
export async function tar(directory: string, path: string, file: string, epoch: number): Promise<void> {
  await run(['tar', ...reproducible(epoch), '-cf', file, '-C', directory, path], { env: { LC_ALL: 'C' } });
}

/** Packs `directory` under its own name into `file`, a `.tar.gz`. */
export async function pack(directory: string, file: string, epoch: number): Promise<void> {
  const plain = file.replace(/\.gz$/, '');
  await tar(dirname(directory), basename(directory), plain, epoch);
  await run(['gzip', '-n', '-6', '-f', plain]);
}
