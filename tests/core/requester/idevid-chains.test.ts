import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Fault, type FaultCode } from '#core/fault.ts';
import { basicConstraintsExtension, keyUsageExtension } from '#core/x509/extensions/usage.ts';
import { holder, type Installation, installation } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import {
  idevid,
  type MakerCa,
  type MakerOrder,
  makerCa,
  never,
  register,
  trust,
} from '#tests/fixtures/manufacturer.ts';

let site: Installation;
const past = { notBefore: Date.UTC(2020, 0, 1), notAfter: Date.UTC(2026, 4, 1) };
const future = { notBefore: Date.UTC(2026, 6, 1), notAfter: Date.UTC(2036, 0, 1) };

const root = makerCa('CN=Acme Root,O=Acme');
const issuing = makerCa('CN=Acme Issuing,O=Acme', root);
const bareRoot = makerCa('CN=Bare Root', undefined, { bare: true });
const bareIssuing = makerCa('CN=Bare Issuing', bareRoot, { bare: true, notAfter: never });
const eternalRoot = makerCa('CN=Eternal Root', undefined, { notAfter: never });
/** Roots with a chain of CAs: nine certificates with the device, and one more. */
const line: MakerCa[] = [makerCa('CN=Line 0')];
for (let n = 1; n <= 9; n++) line.push(makerCa(`CN=Line ${n}`, line[n - 1]));
/** Two CAs that certified a lower one; the certificate of one of them has expired. */
const former = makerCa('CN=Former Root', undefined);
const present = makerCa('CN=Present Root', undefined);
const crossed = makerCa('CN=Crossed', former, past);
const crossedAgain = makerCa('CN=Crossed', present);
const shortest = makerCa('CN=Short Root', undefined, {
  extensions: [basicConstraintsExtension({ ca: true, pathLength: 0 }), keyUsageExtension(['keyCertSign'])],
});
const belowShortest = makerCa('CN=Below Short', shortest);
const elsewhere = makerCa('CN=Elsewhere Root');
const generic = makerCa('CN=Generic Root');
const strange = makerCa('CN=Strange Root');
const expired = makerCa('CN=Expired Root', undefined, past);

beforeAll(async () => {
  site = await installation();
  const { gateway, admin } = site;
  const other = await gateway.domains.create(admin, { uniqueName: 'other' });
  await register(site, 'acme', await trust(site, 'acme', root.certificate), '(AC|HW)-\\d+');
  await register(site, 'bare', await trust(site, 'bare', bareRoot.certificate, eternalRoot.certificate));
  await register(site, 'line', await trust(site, 'line', line[0]!.certificate));
  await register(site, 'former', await trust(site, 'former', former.certificate));
  await register(site, 'present', await trust(site, 'present', present.certificate));
  await register(site, 'complete', await trust(site, 'complete', shortest.certificate, expired.certificate));
  await register(site, 'elsewhere', await trust(site, 'elsewhere', elsewhere.certificate), '.*', other.id);
  await trust(site, 'unused', strange.certificate);
  await gateway.truststores.create(admin, {
    uniqueName: 'generic',
    intendedUsage: 2,
    certificates: [generic.certificate],
  });
});
afterAll(() => site[Symbol.asyncDispose]());

let devices = 0;
/** Presents an IDevID by `issuer` with other certificates; returns the fault code, or the domain. */
async function comes(
  issuer: MakerCa,
  sent: readonly Uint8Array[] = [],
  order: MakerOrder & { subject?: string; domain?: string } = {},
): Promise<FaultCode | string> {
  const number = ++devices;
  const subject = order.subject ?? `serialNumber=AC-${number}`;
  const certificate = idevid(testKey('p-256', `device ${number}`), issuer, subject, order);
  const target = { protocol: 'est', domain: order.domain, profile: undefined } as const;
  try {
    return (await site.gateway.admit(holder(certificate, ...sent), target)).domain.uniqueName;
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
}

const chain = (...cas: readonly MakerCa[]) => cas.map(({ certificate }) => certificate);

describe('an IDevID', () => {
  const refused = 'unauthenticated';
  const rows: [what: string, answer: () => Promise<string>, expected: string][] = [
    ['by the root itself', () => comes(root), 'default'],
    ['by an intermediate CA that is sent', () => comes(issuing, chain(issuing)), 'default'],
    ['the root sent too', () => comes(issuing, chain(issuing, root)), 'default'],
    [
      'what has nothing to do with it sent too',
      () => comes(issuing, [...chain(strange, generic, issuing), new Uint8Array([1])]),
      'default',
    ],
    ['the intermediate CA not sent', () => comes(issuing), refused],
    [
      'without key identifiers in the whole chain',
      () => comes(bareIssuing, chain(bareIssuing), { bare: true }),
      'default',
    ],
    ['that never expires', () => comes(eternalRoot, [], { notAfter: never }), 'default'],
    [
      'that never expires, by a CA that does, without key identifiers',
      () => comes(root, [], { notAfter: never, bare: true }),
      'default',
    ],
    ['of ten certificates', () => comes(line[8]!, chain(...line.slice(1, 9).reverse())), 'default'],
    ['of eleven certificates', () => comes(line[9]!, chain(...line.slice(1, 10).reverse())), refused],
    [
      'by a cross-certified CA, over the certificate that still holds',
      () => comes(crossed, chain(crossed, crossedAgain)),
      'default',
    ],
    ['the same, in the other order', () => comes(crossed, chain(crossedAgain, crossed)), 'default'],
    ['by a cross-certified CA, over the one that has expired', () => comes(crossed, chain(crossed)), refused],
    ['below a CA that allows no other below it', () => comes(belowShortest, chain(belowShortest)), refused],
    ['that has expired', () => comes(root, [], past), refused],
    ['that is not valid yet', () => comes(root, [], future), refused],
    ['by a root that has expired', () => comes(expired, [], { notAfter: never }), refused],
    ['by a root that no truststore holds', () => comes(makerCa('CN=Nobody')), refused],
    [
      'by a root with the name of one that is trusted, and another key',
      () => comes({ ...root, key: testKey('p-256', 'impostor') }),
      refused,
    ],
    ['by a truststore that no registration uses', () => comes(strange), refused],
    ['by a truststore that is not for IDevIDs', () => comes(generic), refused],
    [
      'by a device',
      () =>
        comes({ ...issuing, certificate: idevid(issuing.key, root, issuing.name) }, [
          idevid(issuing.key, root, issuing.name),
        ]),
      refused,
    ],
    [
      'that is a CA',
      () => comes(root, [], { extensions: [basicConstraintsExtension({ ca: true })] }),
      refused,
    ],
    [
      'whose key may not sign messages',
      () => comes(root, [], { extensions: [keyUsageExtension(['keyEncipherment'])] }),
      refused,
    ],
    ['of which nothing says what its key may do', () => comes(root, [], { extensions: [] }), 'default'],
    ['without a serial number', () => comes(root, [], { subject: 'CN=pump' }), refused],
    [
      'with a serial number that no pattern matches as a whole',
      () => comes(root, [], { subject: 'serialNumber=XAC-1' }),
      'forbidden',
    ],
    ['accepted by another domain when none is named', () => comes(elsewhere), 'other'],
    [
      'accepted by another domain when that is named',
      () => comes(elsewhere, [], { domain: 'other' }),
      'other',
    ],
    [
      'accepted by another domain than the named one',
      () => comes(elsewhere, [], { domain: 'default' }),
      refused,
    ],
  ];
  test.each(rows)('%s', async (_what, answer, expected) => {
    const before = (await site.gateway.devices.list(site.admin, { limit: 1000 })).records.length;
    expect(await answer()).toBe(expected);
    const after = (await site.gateway.devices.list(site.admin, { limit: 1000 })).records.length;
    expect(after - before).toBe(expected === refused || expected === 'forbidden' ? 0 : 1);
  });

  test('is accepted with an intermediate CA that only the truststore has', async () => {
    const maker = makerCa('CN=Complete Root');
    const below = makerCa('CN=Complete Issuing', maker);
    await register(site, 'both', await trust(site, 'both', below.certificate, maker.certificate));
    expect(await comes(below)).toBe('default');
  });

  test('is accepted when the truststore has it as an anchor', async () => {
    const own = idevid(testKey('p-256', 'pinned'), strange, 'serialNumber=PIN-1');
    await register(site, 'pinned', await trust(site, 'pinned', own));
    const target = { protocol: 'rest', domain: undefined, profile: undefined } as const;
    expect((await site.gateway.admit(holder(own), target)).device?.commonName).toBe('PIN-1');
  });
});

test('uses the oldest of several matching registrations', async () => {
  const maker = makerCa('CN=Twice Root');
  const truststore = await trust(site, 'twice', maker.certificate);
  const other = (await site.gateway.domains.list(site.admin, { limit: 9 })).records.find(
    ({ uniqueName }) => uniqueName === 'other',
  )!;
  const older = await register(site, 'twice, older', truststore, '.*', other.id);
  await register(site, 'twice, exactly', truststore, 'AC-\\d+', 1);
  expect(await comes(maker)).toBe('other');
  await site.gateway.devidRegistrations.remove(site.admin, older);
  expect(await comes(maker)).toBe('default');
});
