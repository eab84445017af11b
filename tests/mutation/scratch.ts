import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Mutant } from './mutants.ts';
import type { Tree } from './reach.ts';

export type Outcome = 'passed' | 'failed' | 'timeout';

/** In memory if possible, because tests write databases. */
const place = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
/** Limit for a test file without a mutant, in seconds of processor time. */
const ample = 300;

/** A copy of the work tree. Mutants are written to the copy, never to the work tree itself. */
export class Scratch implements Tree, Disposable {
  readonly directory = mkdtempSync(join(place, 'postern-mutation-'));
  readonly #run = mkdtempSync(join(place, 'postern-mutation-run-'));
  #child: Bun.Subprocess | undefined;

  constructor(root: string, files: readonly string[]) {
    for (const file of files) {
      mkdirSync(dirname(join(this.directory, file)), { recursive: true });
      cpSync(join(root, file), join(this.directory, file));
    }
    symlinkSync(join(root, 'node_modules'), join(this.directory, 'node_modules'));
  }

  read(file: string): string {
    return readFileSync(join(this.directory, file), 'utf8');
  }

  /** Runs a test file with a mutant; `usual` is the processor time in seconds without it. */
  async judge(mutant: Mutant, test: string, usual: number): Promise<Outcome> {
    const path = join(this.directory, mutant.file);
    const source = readFileSync(path, 'utf8');
    writeFileSync(path, source.slice(0, mutant.start) + mutant.replacement + source.slice(mutant.end));
    try {
      const { outcome } = await this.#test([`./${test}`], Math.ceil(5 * usual) + 15);
      return outcome;
    } finally {
      writeFileSync(path, source);
    }
  }

  /** Runs a test file without a mutant and records which lines it executes. */
  async measure(test: string): ReturnType<Tree['measure']> {
    const directory = join(this.#run, 'coverage');
    const { outcome, seconds } = await this.#test(
      ['--coverage', '--coverage-reporter=lcov', `--coverage-dir=${directory}`, `./${test}`],
      ample,
    );
    const report = join(directory, 'lcov.info');
    const lcov = existsSync(report) ? readFileSync(report, 'utf8') : '';
    rmSync(directory, { recursive: true, force: true });
    return { passes: outcome === 'passed', seconds, lcov };
  }

  /** Limits the processor time: other load on the machine must not look like an endless loop. */
  async #test(args: readonly string[], limit: number): Promise<{ outcome: Outcome; seconds: number }> {
    const child = Bun.spawn(
      [
        ...['sh', '-c', 'ulimit -t "$0"; exec "$@"', String(limit)],
        ...[process.execPath, 'test', '--no-orphans', '--bail', '--timeout=120000', ...args],
      ],
      {
        cwd: this.directory,
        env: { ...process.env, POSTERN_TEST_RUN: this.#run, CI: '' },
        stdout: 'ignore',
        stderr: 'ignore',
        stdin: 'ignore',
      },
    );
    this.#child = child;
    // A process that waits forever uses no processor time.
    const timer = setTimeout(() => child.kill('SIGKILL'), 600_000);
    const status = await child.exited;
    clearTimeout(timer);
    const seconds = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6;
    const isKilled = child.signalCode === 'SIGKILL' || child.signalCode === 'SIGXCPU';
    return { outcome: isKilled ? 'timeout' : status === 0 ? 'passed' : 'failed', seconds };
  }

  [Symbol.dispose](): void {
    this.#child?.kill('SIGKILL');
    for (const directory of [this.directory, this.#run]) rmSync(directory, { recursive: true, force: true });
  }
}
