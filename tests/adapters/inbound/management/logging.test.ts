import { expect, test } from 'bun:test';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiOf } from '#tests/fixtures/api.ts';
import { installation } from '#tests/fixtures/installation.ts';

const rotated = 'postern-20260601T115959000Z.log';

async function withLogs() {
  const site = await installation();
  writeFileSync(join(site.logDirectory, 'postern.log'), '{"event":"now"}\n');
  writeFileSync(join(site.logDirectory, rotated), '{"event":"before"}\n');
  writeFileSync(join(site.logDirectory, 'notes.txt'), 'somebody else’s');
  writeFileSync(join(site.logDirectory, '..', 'secret.log'), 'beside it');
  return { site, api: await apiOf(site), [Symbol.asyncDispose]: () => site[Symbol.asyncDispose]() };
}

test('log files are listed, oldest first, without other files in the directory', async () => {
  await using logs = await withLogs();
  const { status, body } = await logs.api.get('/api/logging/list_files/');
  expect(status).toBe(200);
  expect(body).toEqual([
    { name: rotated, size: 19, modified: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}$/) },
    { name: 'postern.log', size: 16, modified: expect.any(String) },
  ]);
});

test('a log file is returned as JSON with its text, or as the file', async () => {
  await using logs = await withLogs();
  const path = `/api/logging/download/${rotated}/`;
  const { body } = await logs.api.get(path);
  expect(body).toEqual({
    name: rotated,
    size: 19,
    modified: expect.any(String),
    content: '{"event":"before"}\n',
  });
  // The defaults of browsers' HTTP libraries, and a preference for JSON.
  for (const accept of ['application/json, text/plain, */*', 'text/plain;q=0.5, application/json', '*/*']) {
    expect((await logs.api.get(path, { accept })).body).toEqual(body);
  }
  for (const [accept, type] of [
    ['text/plain', 'text/plain'],
    ['application/octet-stream', 'application/octet-stream'],
    ['application/json;q=0.5, Text/Plain', 'text/plain'],
  ] as const) {
    const { headers, text } = await logs.api.get(path, { accept });
    expect([headers['content-type'], headers['content-disposition'], text]).toEqual([
      type,
      `attachment; filename="${rotated}"`,
      '{"event":"before"}\n',
    ]);
  }
});

test.each([
  'notes.txt',
  '..%2Fsecret.log',
  '%2e%2e%2fsecret.log',
  '..',
  'postern.log%00.txt',
  'postern-20260601T115959000Z.log%2F..%2Fpostern.log',
  '%ff',
  '%',
  'POSTERN.LOG',
])('%s is not a log file', async (name) => {
  await using logs = await withLogs();
  for (const [method, path] of [
    ['GET', `/api/logging/download/${name}/`],
    ['DELETE', `/api/logging/delete/${name}/`],
  ] as const) {
    expect((await logs.api.call(method, path)).status).toBe(404);
  }
  expect((await logs.api.get('/api/logging/list_files/')).body).toHaveLength(2);
  expect(existsSync(join(logs.site.logDirectory, '..', 'secret.log'))).toBe(true);
});

test('a deleted log file is gone, and the audit trail names the account', async () => {
  await using logs = await withLogs();
  const path = `/api/logging/delete/${rotated}/`;
  expect((await logs.api.remove(path)).status).toBe(204);
  expect((await logs.api.remove(path)).status).toBe(404);
  const [event] = await logs.site.audit('log.delete');
  expect([event?.actor.name, event?.object]).toEqual(['admin', `log:${rotated}`]);
});

test('an unreadable log directory is reported as unavailable', async () => {
  await using site = await installation();
  const api = await apiOf(site);
  (await import('node:fs')).rmSync(site.logDirectory, { recursive: true });
  const { status, body, headers } = await api.get('/api/logging/list_files/');
  expect([status, body, headers['retry-after']]).toEqual([
    503,
    { detail: 'the log directory cannot be read', code: 'unavailable' },
    '5',
  ]);
});
