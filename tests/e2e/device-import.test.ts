import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { systemClock } from '#adapters/outbound/system/platform.ts';
import { adminPassword, type Server, shell, startServer } from '#tests/fixtures/server.ts';

const count = 10_000;

interface Progress {
  readonly id: number;
  readonly state: string;
  readonly done: number;
  readonly created: number;
  readonly refused: number;
}

const tls = { rejectUnauthorized: false };

/** Of one sign-in, which costs more than many questions; a restart does not end it. */
let token: string | undefined;

async function signIn(server: Server): Promise<string> {
  const answer = await fetch(`${server.baseUrl}/api/token/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password: adminPassword }),
    tls,
  });
  return ((await answer.json()) as { access: string }).access;
}

async function call(server: Server, path: string, init: RequestInit = {}): Promise<Progress> {
  token ??= await signIn(server);
  const headers = { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) };
  const response = await fetch(`${server.baseUrl}${path}`, { ...init, headers, tls });
  return (await response.json()) as Progress;
}

async function until(server: Server, id: number, isThere: (now: Progress) => boolean): Promise<Progress> {
  for (;;) {
    const now = await call(server, `/api/device-imports/${id}/`);
    if (isThere(now)) return now;
    await Bun.sleep(50);
  }
}

test('an import of devices that was killed continues at the next start, and creates each device once', async () => {
  await using server = await startServer();
  const lines = Array.from({ length: count }, (_, n) => `pump-${n},SN-${n}`);
  const csv = `common_name,serial_number\n${lines.join('\n')}\npump-0,again\n`;
  const headers = { 'content-type': 'text/csv' };
  const { id } = await call(server, '/api/devices/import/', { method: 'POST', headers, body: csv });
  const { done } = await until(server, id, (now) => now.done > 0);
  await server.kill();
  expect(done).toBeLessThan(count);
  await server.start();
  const ended = await until(server, id, ({ state }) => state === 'done');
  expect(ended).toMatchObject({ done: count + 1, created: count, refused: 1 });

  // The device's commands work.
  const [name] = [`pump-${count - 1}`];
  const { commands } = (await call(
    server,
    `/api/devices/${await idOf(server, name)}/commands/`,
  )) as never as {
    commands: Record<string, string>;
  };
  for (const line of ['key', 'ca', 'est', 'est_renew', 'cmp', 'cmp_renew', 'rest_renew']) {
    const { status, stderr } = shell(server.directory, commands[line]!);
    expect([line, status, status === 0 ? '' : stderr]).toEqual([line, 0, '']);
  }

  writeFileSync(join(server.directory, 'more.csv'), 'common_name\nmore-1\nmore-2\n');
  expect(server.cli('device', 'import', join(server.directory, 'more.csv'))).toContain(
    '2 of 2 devices created',
  );

  await server.stop();
  const store = await openSqliteStore({
    path: join(server.directory, 'data', 'postern.db'),
    clock: systemClock,
  });
  try {
    expect(await store.count('device', [], 2 * count)).toBe(count + 2);
    expect(await store.count('noOnboardingConfig', [], 2 * count)).toBe(count + 2);
    const created = [{ field: 'action', is: 'equal', value: 'device.create' } as const];
    expect(await store.count('auditEvent', created, 2 * count)).toBe(count + 2);
  } finally {
    await store.close();
  }
}, 120_000);

async function idOf(server: Server, name: string): Promise<number> {
  const found = (await call(server, `/api/devices/?search=${name}`)) as never as { id: number }[];
  return found[0]!.id;
}
