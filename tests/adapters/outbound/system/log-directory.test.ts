import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLogDirectory } from '#adapters/outbound/system/log-directory.ts';
import { openLogFile } from '#adapters/outbound/system/log-file.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'postern-logs-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('it lists the log files, rotated ones first, and no others', async () => {
  for (const text of ['one', 'two']) {
    // Longer than a file may be, so that the earlier lines are rotated.
    const log = await openLogFile({ directory, level: 'info', stderr: false, maxBytes: 100, maxFiles: 3 });
    log.info(text, { filler: 'x'.repeat(100) });
    await log.close();
  }
  writeFileSync(join(directory, 'postern.log.bak'), '');
  mkdirSync(join(directory, 'postern-20260101T000000000Z.log'));
  const files = await openLogDirectory(directory).list();
  expect(files.map(({ name }) => name.replace(/\d{8}T\d{9}/, 'TIME'))).toEqual([
    'postern-TIMEZ.log',
    'postern.log',
  ]);
  expect(files.every(({ size, modified }) => size > 0 && modified > 0)).toBe(true);
});

test('it reads at most the requested length from the end of a file', async () => {
  writeFileSync(join(directory, 'postern.log'), 'one\ntwo\n');
  const logs = openLogDirectory(directory);
  expect(Buffer.from(await logs.read('postern.log', 100)).toString()).toBe('one\ntwo\n');
  expect(Buffer.from(await logs.read('postern.log', 4)).toString()).toBe('two\n');
});

test.each(['../secret', 'postern.log/../../secret', '/etc/passwd', '', '.', 'postern-x.log'])(
  'there is no file called %j',
  async (name) => {
    writeFileSync(join(directory, 'postern.log'), '');
    const logs = openLogDirectory(directory);
    await expect(logs.read(name, 100)).rejects.toMatchObject({ code: 'notFound' });
    await expect(logs.remove(name)).rejects.toMatchObject({ code: 'notFound' });
  },
);

test('a link with the name of a log file is not followed', async () => {
  writeFileSync(join(directory, 'secret'), 'secret');
  symlinkSync(join(directory, 'secret'), join(directory, 'postern.log'));
  const logs = openLogDirectory(directory);
  expect(await logs.list()).toEqual([]);
  await expect(logs.read('postern.log', 100)).rejects.toMatchObject({ code: 'notFound' });
});

test('a directory that was removed is reported as unavailable', async () => {
  rmSync(directory, { recursive: true });
  await expect(openLogDirectory(directory).list()).rejects.toMatchObject({ code: 'unavailable' });
});
