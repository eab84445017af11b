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

/** Packs `directory` under its own name into `file`, a `.tar.gz`. */
export async function pack(directory: string, file: string, epoch: number): Promise<void> {
  const tar = file.replace(/\.gz$/, '');
  const folder = ['-C', dirname(directory), basename(directory)];
  await run(['tar', ...reproducible(epoch), '-cf', tar, ...folder], { env: { LC_ALL: 'C' } });
  await run(['gzip', '-n', '-6', '-f', tar]);
}
