import { expect, test } from 'bun:test';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { request } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { adminPassword, type Server, startServer } from '#tests/fixtures/server.ts';
import { isSigned, receiver } from '#tests/fixtures/webhook-receiver.ts';

const tls = { rejectUnauthorized: false };

async function api(
  server: Server,
): Promise<(path: string, body: unknown) => Promise<Record<string, string>>> {
  const post = async (path: string, body: unknown, token?: string) => {
    const response = await fetch(`${server.baseUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
      tls,
    });
    return (await response.json()) as Record<string, string>;
  };
  const { access } = await post('/api/token/', { username: 'admin', password: adminPassword });
  return (path, body) => post(path, body, access);
}

test('a service that was killed between certificate and webhook message sends the message after its restart', async () => {
  await using there = await receiver();
  await using server = await startServer();
  const { signing_secret: secret } = await (await api(server))('/api/webhooks/', {
    unique_name: 'tickets',
    url: there.url,
    events: ['certificate.issued'],
  });
  // Until it is killed, nobody takes what it tells.
  there.answer = () => {};
  const { username, password } = server.device('pump-1');
  const csr = Buffer.from(request(testKey('p-256', 'webhook'), 'CN=pump-1')).toString('base64');
  // What this process knows of webhooks is at most a second old.
  await Bun.sleep(1100);
  const response = await fetch(`${server.baseUrl}/rest/default/enroll`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
    },
    body: JSON.stringify({ csr }),
    tls,
  });
  expect(response.status).toBe(200);
  await server.kill();
  const before = there.received.length;
  there.answer = (response) => response.writeHead(204).end();
  await server.start();
  await there.until(before + 1);
  const [message] = there.received;
  expect(message!.told).toMatchObject({ type: 'certificate.issued', data: { common_name: 'pump-1' } });
  expect(isSigned(message!, secret!)).toBe(true);
  expect(new Set(there.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);

  // The lines of the page, as a receiver would run them.
  const page = readFileSync(resolve(import.meta.dir, '../../docs/how-to/webhooks.md'), 'utf8');
  const [, lines] = /^```python\n(.*?)^```/ms.exec(page)!;
  const script = `
import base64, hashlib, hmac, os, sys
secret = os.environ["SECRET"]
headers = {"webhook-" + name.lower(): os.environ[name] for name in ("ID", "TIMESTAMP", "SIGNATURE")}
body = sys.stdin.buffer.read()
${lines}
print(good)`;
  const header = (name: string) => String(message!.headers[`webhook-${name}`]);
  const env = {
    SECRET: secret!,
    ID: header('id'),
    TIMESTAMP: header('timestamp'),
    SIGNATURE: header('signature'),
  };
  const checked = execFileSync('python3', ['-c', script], {
    input: message!.body,
    env: { ...process.env, ...env },
  });
  expect(checked.toString().trim()).toBe('True');
}, 60_000);
