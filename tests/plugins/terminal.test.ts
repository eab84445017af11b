import { expect, test } from 'bun:test';
import { progressOf } from '#plugins/cli/terminal.ts';

function output(isTTY: boolean) {
  const written: string[] = [];
  let time = 0;
  const progress = progressOf('restoring', { isTTY, write: (text) => written.push(text) }, () => time);
  return {
    written,
    progress,
    after(milliseconds: number, done: number, total?: number) {
      time += milliseconds;
      progress.at(done, total);
    },
  };
}

test('progress on a terminal is one line that is updated and removed at the end', () => {
  const { written, progress, after } = output(true);
  after(100, 1e6, 4e6);
  after(100, 2e6, 4e6);
  after(50, 3e6, 4e6);
  after(200, 4e6, 4e6);
  progress.end();
  expect(written).toEqual([
    '\r\u001b[Krestoring: 2.0 MB of 4.0 MB (50 %)',
    '\r\u001b[Krestoring: 4.0 MB of 4.0 MB (100 %)',
    '\r\u001b[K',
  ]);
});

test('progress elsewhere is a line every ten seconds, and nothing for short work', () => {
  const { written, progress, after } = output(false);
  for (let n = 1; n <= 25; n++) after(1000, n * 1e6);
  progress.end();
  expect(written).toEqual(['restoring: 10.0 MB\n', 'restoring: 20.0 MB\n']);
});
