import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Fault } from '#core/fault.ts';
import type { BackupLocation, Backups } from '#core/ports/backups.ts';
import { type Api, apiAs, apiOf } from '#tests/fixtures/api.ts';
import { type Installation, installation } from '#tests/fixtures/installation.ts';

/** Records the backups that the service requests, and ends them as the test says. */
const asked: BackupLocation[] = [];
let outcome: (alive: (octets: number) => Promise<void>) => Promise<void> = async () => {};
const backups: Backups = {
  async run(location, alive) {
    asked.push(location);
    await outcome(alive);
    return { name: 'postern-20260601T120000.000Z.backup', size: 4711, finishedAt: Date.UTC(2026, 5, 1, 12) };
  },
};

let site: Installation;
let api: Api;
beforeAll(async () => {
  site = await installation({ backups });
  api = await apiOf(site);
});
afterAll(() => site[Symbol.asyncDispose]());

const directory = '/srv/backups';

describe('/api/backups/', () => {
  test('an option names its creator, and can be replaced, changed and deleted', async () => {
    const made = await api.post('/api/backups/', { remote_directory: `  ${directory} ` });
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: made.body.id,
        remote_directory: directory,
        user: 'admin',
        created_at: '2026-06-01T12:00:00.000',
        last_run_at: null,
        last_result: null,
      },
    ]);
    const path = `/api/backups/${made.body.id}/`;
    const sftp = 'sftp://backup@vault.example:2222/srv/postern';
    expect((await api.put(path, { ...made.body, remote_directory: sftp })).body.remote_directory).toBe(sftp);
    expect((await api.patch(path, { remote_directory: directory })).body.remote_directory).toBe(directory);
    expect((await api.remove(path)).status).toBe(204);
    expect((await api.get(path)).status).toBe(404);
  });

  test('the list can be filtered by creator', async () => {
    await using own = await installation({ backups });
    const api = await apiOf(own);
    await own.gateway.accounts.createUser('second', 'the second password', 'Admin', own.admin.actor);
    const second = await api.as('second', 'the second password');
    await api.post('/api/backups/', { remote_directory: '/srv/a' });
    await second.post('/api/backups/', { remote_directory: '/srv/b' });
    const directories = async (query: string): Promise<string[]> =>
      (await api.get(`/api/backups/?${query}`)).body.map(
        (one: { remote_directory: string }) => one.remote_directory,
      );
    expect(await directories('user=second')).toEqual(['/srv/b']);
    expect(await directories('user=admin')).toEqual(['/srv/a']);
    expect(await directories('user=nobody')).toEqual([]);
    expect(await directories('ordering=remote_directory')).toEqual(['/srv/a', '/srv/b']);
    expect(await directories('search=SRV/B')).toEqual(['/srv/b']);
  });

  const refused: [string, unknown][] = [
    ['nothing', {}],
    ['an empty directory', { remote_directory: ' ' }],
    ['513 characters', { remote_directory: `/${'x'.repeat(512)}` }],
    ['a control character', { remote_directory: '/srv/\u0007' }],
    ['a password in a URL', { remote_directory: 'sftp://me:secret@vault.example/srv' }],
    ['a URL without a user', { remote_directory: 'sftp://vault.example/srv' }],
    ['a query', { remote_directory: 'sftp://me@vault.example/srv?x=1' }],
    ['another protocol', { remote_directory: 'https://vault.example/srv' }],
    ['a NUL in a path', { remote_directory: 'sftp://me@vault.example/srv%00' }],
    ['what is no text', { remote_directory: 7 }],
    ['a relative path', { remote_directory: 'var/backups' }],
    ['a path relative to the directory above', { remote_directory: '../backups' }],
  ];
  test.each(refused)('%s is rejected', async (_, body) => {
    const answer = await api.post('/api/backups/', body);
    expect([answer.status, Object.keys(answer.body)]).toEqual([400, ['remote_directory']]);
    expect(answer.text).not.toContain('secret');
  });

  test('an absolute path cannot be changed to a relative one', async () => {
    const { body } = await api.post('/api/backups/', { remote_directory: '/srv/c' });
    const changed = await api.patch(`/api/backups/${body.id}/`, { remote_directory: 'c' });
    expect([changed.status, changed.body]).toEqual([
      400,
      { remote_directory: ['a path on this machine must be absolute: start it with /'] },
    ]);
  });

  test('only accounts that may write backups can create and run them', async () => {
    const { body } = await api.post('/api/backups/', { remote_directory: directory });
    const auditor = await apiAs(site, 'Auditor');
    expect((await auditor.get(`/api/backups/${body.id}/`)).status).toBe(200);
    expect((await auditor.post('/api/backups/', { remote_directory: directory })).status).toBe(403);
    expect((await auditor.post(`/api/backups/${body.id}/run/`)).status).toBe(403);
  });
});

describe('POST /api/backups/{id}/run/', () => {
  const made = async (): Promise<number> =>
    (await api.post('/api/backups/', { remote_directory: 'sftp://me@[::1]:2222/srv/x%20y' })).body.id;

  test('returns the file and the run of the option', async () => {
    const id = await made();
    const { status, body } = await api.post(`/api/backups/${id}/run/`);
    const file = 'postern-20260601T120000.000Z.backup';
    expect([status, body]).toEqual([200, { id, file, size: 4711, finished_at: '2026-06-01T12:00:00.000' }]);
    expect(asked.at(-1)).toEqual({ kind: 'sftp', host: '::1', port: 2222, user: 'me', path: '/srv/x y' });
    const option = await api.get(`/api/backups/${id}/`);
    expect(option.body).toMatchObject({
      last_run_at: '2026-06-01T12:00:00.000',
      last_result: `success: ${file}`,
    });
    const event = (await site.audit('backup.run')).at(-1)!;
    expect([event.object, event.outcome, event.detail]).toEqual([
      `backup:${id}`,
      'success',
      { file, size: 4711 },
    ]);
  });

  const failures: [string, Fault, number][] = [
    ['409', new Fault('conflict', 'no passphrase'), 409],
    ['503', new Fault('unavailable', 'the disk is full'), 503],
  ];
  test.each(failures)('a failure with %s is returned and recorded', async (_, fault, expected) => {
    const id = await made();
    outcome = () => Promise.reject(fault);
    const { status, body } = await api.post(`/api/backups/${id}/run/`);
    outcome = async () => {};
    expect([status, body]).toEqual([expected, { detail: fault.detail, code: fault.id }]);
    expect((await api.get(`/api/backups/${id}/`)).body.last_result).toBe(`failed: ${fault.detail}`);
    expect((await site.audit('backup.run')).at(-1)!.outcome).toBe('failed');
  });

  test('only one backup runs at a time', async () => {
    const id = await made();
    const begun = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    outcome = () => {
      begun.resolve();
      return held.promise;
    };
    const first = api.post(`/api/backups/${id}/run/`);
    await begun.promise;
    const second = await api.post(`/api/backups/${id}/run/`);
    held.resolve();
    outcome = async () => {};
    expect([second.status, second.body]).toEqual([
      409,
      { detail: 'another backup is running', code: 'backup_running' },
    ]);
    expect((await first).status).toBe(200);
    expect((await api.post(`/api/backups/${id}/run/`)).status).toBe(200);
  });

  test('an unknown option gives 404', async () => {
    expect((await api.post('/api/backups/999999/run/')).status).toBe(404);
  });
});

test('a long backup logs its progress, and is cancelled at shutdown', async () => {
  await using own = await installation({ backups });
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  outcome = async (alive) => {
    for (let octets = 0; ; octets += 1000) {
      await alive(octets);
      own.clock.advance(5000);
      if (octets === 4000) begin();
      await new Promise(setImmediate);
    }
  };
  const write = () => own.gateway.backups.write(own.admin, '/srv/x', undefined);
  const broken = write().catch((error) => error);
  await begun;
  await own.gateway.backups.stop();
  expect(await broken).toMatchObject({ code: 'unavailable', detail: 'the service is stopping' });
  const told = own.log.entries.filter(({ event }) => event === 'a backup is being written');
  expect(told.slice(0, 2).map(({ fields }) => fields)).toEqual([{ octets: 2000 }, { octets: 4000 }]);
  const [event] = await own.audit('backup.run');
  expect(event).toMatchObject({ outcome: 'failed', detail: { why: 'the service is stopping' } });
  // The lease is free: another instance can start.
  expect(await own.store.lease('backup', 'another', 10)).toBe(true);
  outcome = async () => {};
});
