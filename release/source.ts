import { join } from 'node:path';
import { run } from './command.ts';

export const root = join(import.meta.dir, '..');

/** The commit that a release is built from. */
export interface Source {
  /** `version` of package.json: the only place that has it. */
  readonly version: string;
  /** The commit's id, in full. */
  readonly commit: string;
  /** SOURCE_DATE_EPOCH: the committer's date in seconds since 1970. Every file of the release carries it. */
  readonly epoch: number;
}

/** What of a clone goes into a release. Tests, benchmarks and the configuration of development tools stay out. */
const parts = [
  'postern',
  'package.json',
  'package-lock.json',
  'bunfig.toml',
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'core',
  'adapters',
  'plugins',
  'docs',
];

/** Describes the commit that is checked out. Changes that are not committed are no part of a release. */
export async function describeSource(): Promise<Source> {
  const git = async (...args: string[]): Promise<string> =>
    (await run(['git', ...args], { cwd: root })).trim();
  const { version } = JSON.parse(await git('show', 'HEAD:package.json'));
  const [commit = '', seconds = ''] = (await git('log', '-1', '--format=%H %ct')).split(' ');
  return { version, commit, epoch: Number(seconds) };
}

/** Writes the files of the commit into `directory`, which must exist. */
export async function exportSource({ commit }: Source, directory: string): Promise<void> {
  const archive = join(directory, 'source.tar');
  await run(['git', 'archive', '--format=tar', `--output=${archive}`, commit, '--', ...parts], { cwd: root });
  await run(['tar', '-xf', archive, '-C', directory]);
  await run(['rm', archive]);
}
