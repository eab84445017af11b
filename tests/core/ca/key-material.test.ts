import { describe, expect, test } from 'bun:test';
import { checkMaterial } from '#core/ca/key-material.ts';
import { basicConstraintsExtension, keyUsageExtension } from '#core/x509/extensions/usage.ts';
import { certify, noon, type Order, party } from '../x509/path/certify.ts';

const [root, issuing, lower, device] = ['Root', 'Issuing', 'Line', 'device'].map((name) =>
  party(`CN=${name}`),
);
if (!root || !issuing || !lower || !device) throw new Error('no parties');

const anchor = certify(root, root, { ca: true });
const ca = (order: Order = {}) => certify(issuing, root, { ca: true, ...order });
const check = (
  of: 'ca' | 'endEntity',
  certificate: Uint8Array,
  chain: readonly Uint8Array[],
  time = noon,
) => {
  try {
    return checkMaterial({ privateKey: undefined, certificate, chain }, time, of).chain;
  } catch (error) {
    const { code, field } = error as { code: string; field: string };
    return [code, field];
  }
};

describe('the certificate of an external CA', () => {
  const below = certify(lower, issuing, { ca: true });
  const stranger = certify(party('CN=Other'), party('CN=Nobody'), { ca: true });

  test('is accepted with its chain in any order, without unrelated certificates', () => {
    expect(check('ca', below, [anchor, stranger, ca()])).toHaveLength(2);
    expect(check('ca', anchor, [])).toEqual([]);
    expect(check('ca', ca(), [anchor])).toEqual([anchor]);
  });

  test('is accepted with twenty more certificates, not with one more', () => {
    const many = (count: number) => [...new Array<Uint8Array>(count - 1).fill(stranger), anchor];
    expect(check('ca', ca(), many(20))).toEqual([anchor]);
    expect(check('ca', ca(), many(21))).toEqual(['malformed', 'certificateChain']);
  });

  test.each<[what: string, certificate: Uint8Array, chain: readonly Uint8Array[], field: string]>([
    ['without its root', ca(), [], 'certificateChain'],
    ['of a device', certify(device, root), [anchor], 'certificate'],
    [
      'that may not sign certificates',
      ca({ with: [keyUsageExtension(['cRLSign'])] }),
      [anchor],
      'certificate',
    ],
    ['that may not sign CRLs', ca({ with: [keyUsageExtension(['keyCertSign'])] }), [anchor], 'certificate'],
    [
      'below a CA that allows no CA',
      below,
      [ca({ with: [basicConstraintsExtension({ ca: true, pathLength: 0 })] }), anchor],
      'certificateChain',
    ],
    ['of another root', ca(), [certify(party('CN=Root'), root, { ca: true })], 'certificateChain'],
    ['that is no DER', Uint8Array.of(1), [anchor], 'certificate'],
    ['with a chain that is no DER', ca(), [Uint8Array.of(1)], 'certificateChain'],
  ])('%s is malformed', (_what, certificate, chain, field) => {
    expect(check('ca', certificate, chain)).toEqual(['malformed', field]);
  });

  test('that has expired is malformed', () => {
    const years = 50 * 365 * 24 * 3_600_000;
    expect(check('ca', ca(), [anchor], noon + years)).toEqual(['malformed', 'certificate']);
    expect(check('ca', ca(), [anchor], noon - years)).toEqual(['malformed', 'certificate']);
  });
});

describe('the certificate of an external key', () => {
  const own = certify(device, issuing);

  test('needs no root and no usage of a CA', () => {
    expect(check('endEntity', own, [])).toEqual([]);
    const above = ca();
    expect(check('endEntity', own, [above])).toEqual([above]);
    expect(check('endEntity', own, [above, anchor])).toEqual([above, anchor]);
  });

  test('ends at a self-signed CA', () => {
    const selfSigned = certify(issuing, issuing, { ca: true });
    expect(check('endEntity', own, [selfSigned, anchor])).toEqual([selfSigned]);
  });
});
