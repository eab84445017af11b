import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Fault } from '#core/fault.ts';
import type { Evidence } from '#core/requester/evidence.ts';
import { type Installation, installation, password, request } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';

// Evidence of protocols that protect their messages. What a credential permits is tested in
// credentials.test.ts.

let site: Installation;
let secret: string;
let estPassword: string;
const target = { protocol: 'cmp', domain: undefined, profile: undefined } as const;
const address = '192.0.2.7';

beforeAll(async () => {
  site = await installation();
  const { device, password: own } = await site.device('pump-1');
  const config = await site.gateway.noOnboardingConfigs.read(site.admin, device.noOnboardingConfig!);
  secret = config.cmpSharedSecret!;
  estPassword = own;
});
afterAll(() => site[Symbol.asyncDispose]());

const admitted = async (evidence: Evidence): Promise<string> => {
  try {
    return (await site.gateway.admit(evidence, target)).credential;
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
};

describe('a MAC', () => {
  const mac = (reference: string, verify: (given: Uint8Array) => boolean | Promise<boolean>): Evidence => ({
    kind: 'mac',
    reference,
    verify,
    secure: true,
    address,
  });

  test('is verified with the secret of the device, immediately or later', async () => {
    const right = (given: Uint8Array) => Buffer.from(given).toString() === secret;
    expect(await admitted(mac('pump-1', right))).toBe('password');
    expect(await admitted(mac('pump-1', async (given) => right(given)))).toBe('password');
    expect(await admitted(mac('pump-1', () => false))).toBe('unauthenticated');
  });

  test('of an unknown device is verified with a random secret and rejected', async () => {
    const given: string[] = [];
    const remember = (one: Uint8Array) => given.push(Buffer.from(one).toString('hex')) > 0;
    expect(await admitted(mac('nobody', remember))).toBe('unauthenticated');
    expect(await admitted(mac('nobody', remember))).toBe('unauthenticated');
    expect(given).toHaveLength(2);
    expect(given[0]).not.toBe(given[1]);
  });

  test('is verified with the shared secret, and password and shared secret are not interchangeable', async () => {
    expect(await admitted(mac('pump-1', (given) => Buffer.from(given).toString() === estPassword))).toBe(
      'unauthenticated',
    );
    expect(await admitted(password('pump-1', secret))).toBe('unauthenticated');
  });
});

test('a signature by a key without digitalSignature is rejected, but the same certificate in a TLS handshake is accepted', async () => {
  const { id: profile } = await site.gateway.profiles.create(site.admin, {
    uniqueName: 'encryption',
    profile: {
      validity: { duration: 'P1Y' },
      subject: { CN: {} },
      extensions: { keyUsage: { fixed: ['keyEncipherment'], unfit: 'drop' } },
    },
  });
  const { records } = await site.gateway.domains.list(site.admin, { limit: 1 });
  const [domain] = records;
  await site.gateway.domains.update(site.admin, domain!.id, {
    profiles: [...domain!.profiles, { profile, alias: null }],
  });
  const certificate = await site.enrol(
    password('pump-1', estPassword),
    { profile: 'encryption' },
    request(testKey('rsa-2048'), 'CN=pump-1'),
  );
  expect(await admitted({ kind: 'signature', certificates: [certificate], address })).toBe('unauthenticated');
  expect(await admitted({ kind: 'certificate', certificates: [certificate], address })).toBe(
    'issuedCertificate',
  );
});
