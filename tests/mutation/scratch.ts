import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Mutant } from './mutants.ts';

export type Verdict = 'noticed' | 'timeout' | 'survived';

/** A copy of the work tree that mutants are put into, so that the work tree itself is never changed. */
export class Scratch implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'postern-mutation-'));
  readonly #run = mkdtempSync(join(tmpdir(), 'postern-mutation-run-'));
  #child: Bun.Subprocess | undefined;

  constructor(root: string, files: readonly string[]) {
    for (const file of files) {
      mkdirSync(dirname(join(this.directory, file)), { recursive: true });
      cpSync(join(root, file), join(this.directory, file));
    }
    symlinkSync(join(root, 'node_modules'), join(this.directory, 'node_modules'));
  }

  async judge(mutant: Mutant, tests: readonly string[], patience: number): Promise<Verdict> {
    const path = join(this.directory, mutant.file);
    const source = readFileSync(path, 'utf8');
    writeFileSync(path, source.slice(0, mutant.start) + mutant.replacement + source.slice(mutant.end));
    try {
      const outcome = await this.#test(tests, patience);
      return outcome === 'timeout' ? 'timeout' : outcome === 'passed' ? 'survived' : 'noticed';
    } finally {
      writeFileSync(path, source);
    }
  }

  /** Whether the tests pass in the copy as it is. */
  async passes(tests: readonly string[]): Promise<boolean> {
    return (await this.#test(tests, 600_000)) === 'passed';
  }

  async #test(tests: readonly string[], patience: number): Promise<'passed' | 'failed' | 'timeout'> {
    if (tests.length === 0) return 'passed';
    const files = tests.map((file) => `./${file}`);
    const child = Bun.spawn(
      [process.execPath, 'test', '--no-orphans', '--bail', '--timeout=60000', ...files],
      {
        cwd: this.directory,
        env: { ...process.env, POSTERN_TEST_RUN: this.#run, CI: '' },
        stdout: 'ignore',
        stderr: 'ignore',
        stdin: 'ignore',
      },
    );
    this.#child = child;
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill('SIGKILL');
    }, patience);
    const status = await child.exited;
    clearTimeout(timer);
    if (late) return 'timeout';
    return status === 0 ? 'passed' : 'failed';
  }

  [Symbol.dispose](): void {
    this.#child?.kill('SIGKILL');
    for (const directory of [this.directory, this.#run]) rmSync(directory, { recursive: true, force: true });
  }
}
