import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Listener } from '#adapters/inbound/http/listener.ts';
import { bodyOf, connectPlain, connectSecure, mount, open, request, talk, text } from './fixture.ts';

let listener: Listener;
let proxied: Listener;
let directory: string;

beforeAll(async () => {
  const mounts = [mount('/', ({ peer }) => text(`binding ${peer.channelBinding?.()?.toHex() ?? 'none'};`))];
  listener = await open(mounts);
  proxied = await open(mounts, { trustedProxies: ['127.0.0.1'] });
  directory = mkdtempSync(join(tmpdir(), 'postern-binding-'));
});
afterAll(async () => {
  await listener.close(0);
  await proxied.close(0);
  rmSync(directory, { recursive: true });
});

/** Runs OpenSSL's client; returns its complete output with the response. */
async function openssl(...options: readonly string[]): Promise<string> {
  const client = Bun.spawn(
    ['openssl', 's_client', '-connect', `127.0.0.1:${listener.httpsPort}`, '-ign_eof', '-msg', ...options],
    { cwd: directory, stdin: Buffer.from(request('GET /')), stdout: 'pipe', stderr: 'ignore' },
  );
  return client.stdout.text();
}

/** Returns the verify_data of the first Finished message of TLS 1.2 from the output of `-msg`. */
function firstFinished(printed: string): string {
  const [, octets] = /, Finished\s+14 00 00 0c ((?:[0-9a-f]{2} ?){12})/.exec(printed)!;
  return octets!.replaceAll(' ', '');
}
const bindingIn = (printed: string): string => /binding ([0-9a-f]+|none);/.exec(printed)![1]!;

describe('the channel binding of a connection', () => {
  test('over TLS 1.2 is the first Finished message (RFC 5929 §3.1), which the client sends', async () => {
    const printed = await openssl('-tls1_2');
    expect(printed).toContain('New, TLSv1.2');
    expect(bindingIn(printed)).toBe(firstFinished(printed));
  });

  test('over TLS 1.2 with a resumed session is the first Finished message, which the server sends', async () => {
    const first = await openssl('-tls1_2', '-sess_out', 'session');
    expect(first).toContain('New, TLSv1.2');
    const printed = await openssl('-tls1_2', '-sess_in', 'session');
    expect(printed).toContain('Reused, TLSv1.2');
    expect(bindingIn(printed)).toBe(firstFinished(printed));
  });

  test('over TLS 1.3 is the exporter value (RFC 9266), also for a resumed session', async () => {
    const exporter = ['-keymatexport', 'EXPORTER-Channel-Binding', '-keymatexportlen', '32'];
    const seen = new Set<string>();
    for (const session of ['-sess_out', '-sess_in']) {
      const printed = await openssl('-tls1_3', ...exporter, session, 'session13');
      const [, exported] = /Keying material: ([0-9A-F]{64})/.exec(printed)!;
      expect(bindingIn(printed)).toBe(exported!.toLowerCase());
      seen.add(exported!);
    }
    expect(seen.size).toBe(2);
  });

  test('is unknown when a trusted proxy terminates TLS', async () => {
    const response = await talk(connectSecure(proxied.httpsPort), request('GET /'));
    expect(bodyOf(response)).toBe('binding none;');
  });

  test('does not exist without TLS', async () => {
    expect(bodyOf(await talk(connectPlain(listener.httpPort!), request('GET /')))).toBe('binding none;');
  });
});
