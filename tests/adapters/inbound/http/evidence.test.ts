import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { peerOf, SocketPeer, TrustedProxies } from '#adapters/inbound/http/evidence.ts';
import { Fault } from '#core/fault.ts';
import { formatIpAddress, parseIpAddress } from '#core/x509/ip-address.ts';
import { runs } from '#tests/property.ts';

const proxies = new TrustedProxies(['10.0.0.0/8', '192.0.2.7', 'fd00::/8']);
const proxy = new SocketPeer('10.1.2.3');
const stranger = new SocketPeer('198.51.100.1');

const item = (...octets: number[]): string => `:${Buffer.from(octets).toString('base64')}:`;
const chainOf = (count: number): string => Array.from({ length: count }, () => item(1)).join(',');
const bytes = (count: number): string => `:${Buffer.alloc(count, 1).toString('base64')}:`;

describe('an address range contains its addresses', () => {
  test.each([
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['10.1.2.3', '10.1.2.3', true],
    ['10.1.2.3', '10.1.2.4', false],
    ['0.0.0.0/0', '203.0.113.9', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['fd00::/8', 'fdab::1', true],
    ['fd00::/8', 'fe80::1', false],
    ['::1', '::1', true],
  ])('%s and %s: %p', (range, address, inside) => {
    expect(new TrustedProxies([range]).has(address)).toBe(inside);
  });

  test.each(['', 'proxy', '10.0.0.0/33', 'fd00::/129', '10.0.0/8', '10.0.0.1/', '10.0.0.1/-1', ' 10.0.0.1'])(
    '%p is not a range',
    (range) => {
      expect(() => new TrustedProxies([range])).toThrow(Fault);
    },
  );
});

describe('the address of a socket has one form', () => {
  test.each([
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:0201', '192.0.2.1'],
    ['192.0.2.1', '192.0.2.1'],
    ['2001:DB8:0:0:0::1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    [undefined, ''],
  ])('%p is %p', (socket, address) => {
    expect(new SocketPeer(socket).address).toBe(address);
  });
});

describe('X-Forwarded-For from a trusted proxy gives the right-most address that is not a proxy', () => {
  test.each([
    ['198.51.100.9', '198.51.100.9'],
    ['203.0.113.1, 198.51.100.9', '198.51.100.9'],
    ['198.51.100.9, 10.0.0.1,192.0.2.7', '198.51.100.9'],
    ['198.51.100.9, fd00::5', '198.51.100.9'],
    ['::ffff:198.51.100.9', '198.51.100.9'],
    ['2001:DB8::1', '2001:db8::1'],
    ['10.0.0.9, 10.0.0.1', '10.0.0.9'],
    ['198.51.100.9:50123', '198.51.100.9'],
    ['203.0.113.1:1, 198.51.100.9:65535, 10.0.0.1:443', '198.51.100.9'],
    ['[2001:db8::1]:50123', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['::ffff:1f:f:1f:1.2.3.4', '::ffff:1f:f:1f:102:304'],
  ])('%s: %s', (via, address) => {
    expect(peerOf(proxy, { 'x-forwarded-for': via }, proxies).address).toBe(address);
  });

  test.each([
    ...['', 'unknown', '198.51.100.9,', '1.2.3', '198.51.100.9:', '198.51.100.9:x', '198.51.100.9:123456'],
    ...['[2001:db8::1', '[2001:db8::1]x', '[2001:db8::1]:', '[]', '[198.51.100.9:80', '2001:db8::1]:80'],
  ])('%p is rejected', (via) => {
    expect(() => peerOf(proxy, { 'x-forwarded-for': via }, proxies)).toThrow(Fault);
  });

  test('in the form of RFC 5952, for any form of an IPv6 address', () => {
    const group = fc.oneof(
      fc.constant('0'),
      fc.nat(0xffff).map((n) => n.toString(16)),
    );
    const tail = fc.oneof(
      fc.tuple(group, group).map((pair) => pair.join(':')),
      fc.ipV4(),
    );
    const full = fc.tuple(fc.array(group, { minLength: 6, maxLength: 6 }), tail);
    const short = fc.tuple(fc.array(group, { maxLength: 3 }), fc.array(group, { maxLength: 2 }), tail);
    const written = fc.oneof(
      full.map(([groups, end]) => [...groups, end].join(':')),
      short.map(([before, after, end]) => `${before.join(':')}::${[...after, end].join(':')}`),
    );
    fc.assert(
      fc.property(written, (address) => {
        const octets = parseIpAddress(address);
        const mapped = octets.subarray(0, 12).toHex() === '00000000000000000000ffff';
        const expected = formatIpAddress(mapped ? octets.subarray(12) : octets);
        expect(peerOf(proxy, { 'x-forwarded-for': address }, new TrustedProxies(['10.1.2.3'])).address).toBe(
          expected,
        );
      }),
      runs(1_000),
    );
  });
});

describe('Client-Cert and Client-Cert-Chain from a trusted proxy', () => {
  test('give the chain, leaf first', () => {
    const headers = { 'client-cert': item(1), 'client-cert-chain': `${item(2, 2)}, ${item(3)}` };
    expect(peerOf(proxy, headers, proxies).certificates.map((der) => [...der])).toEqual([[1], [2, 2], [3]]);
  });

  test('may give the leaf only', () => {
    expect(peerOf(proxy, { 'client-cert': item(1, 2) }, proxies).certificates).toHaveLength(1);
  });

  test('may be missing: then there is no certificate, whatever the proxy itself presented', () => {
    expect(peerOf(proxy, {}, proxies).certificates).toEqual([]);
  });

  test('may be an empty byte sequence, as from Caddy: then there is no certificate', () => {
    expect(peerOf(proxy, { 'client-cert': '::' }, proxies).certificates).toEqual([]);
  });

  test('may give ten certificates', () => {
    const chain = chainOf(9);
    expect(
      peerOf(proxy, { 'client-cert': item(1), 'client-cert-chain': chain }, proxies).certificates,
    ).toHaveLength(10);
  });

  test.each<[what: string, headers: Record<string, string | undefined>]>([
    ['empty', { 'client-cert': '' }],
    ['an empty byte sequence with a chain', { 'client-cert': '::', 'client-cert-chain': item(1) }],
    ['a chain with an empty byte sequence', { 'client-cert': item(1), 'client-cert-chain': '::' }],
    ['without colons', { 'client-cert': 'AQID' }],
    ['cut off', { 'client-cert': ':AQID' }],
    ['two items', { 'client-cert': `${item(1)}, ${item(2)}` }],
    ['with parameters', { 'client-cert': `${item(1)};a=1` }],
    ['base64url', { 'client-cert': ':-_-_:' }],
    ['with bits left over', { 'client-cert': ':AR==:' }],
    ['without padding', { 'client-cert': ':AQ:' }],
    ['with too much padding', { 'client-cert': ':AQID====:' }],
    ['with a space inside', { 'client-cert': ':AQ ID:' }],
    ['a chain without its leaf', { 'client-cert-chain': item(1) }],
    ['an empty chain', { 'client-cert': item(1), 'client-cert-chain': '' }],
    ['a chain with a gap', { 'client-cert': item(1), 'client-cert-chain': `${item(2)},,${item(3)}` }],
    ['eleven certificates', { 'client-cert': item(1), 'client-cert-chain': chainOf(10) }],
    ['more than 16 KiB', { 'client-cert': bytes(8_192), 'client-cert-chain': bytes(8_193) }],
  ])('are rejected when they are %s', (_what, headers) => {
    expect(() => peerOf(proxy, headers, proxies)).toThrow(Fault);
  });

  test('with arbitrary values give a peer or a Fault malformed', () => {
    const characters = fc.constantFrom(...':ABab01+/=, ;');
    const field = fc.option(fc.string({ unit: characters, maxLength: 40 }), { nil: undefined });
    fc.assert(
      fc.property(field, field, field, (leaf, chain, via) => {
        try {
          peerOf(proxy, { 'client-cert': leaf, 'client-cert-chain': chain, 'x-forwarded-for': via }, proxies);
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
          expect((error as Fault).code).toBe('malformed');
        }
      }),
      runs(500),
    );
  });
});

describe('from other peers', () => {
  const headers = (): Record<string, string | undefined> => ({
    'client-cert': item(1),
    'client-cert-chain': 'rubbish',
    'x-forwarded-for': '203.0.113.1',
    accept: '*/*',
  });

  test.each([
    ['a stranger', proxies],
    ['a peer where no proxy is trusted', new TrustedProxies([])],
  ])('these fields are ignored: %s', (_who, trusted) => {
    expect(peerOf(stranger, headers(), trusted)).toBe(stranger);
  });

  test.each([stranger, proxy])('and removed, also from a proxy', (socket) => {
    const seen = { ...headers(), 'client-cert-chain': item(2) };
    peerOf(socket, seen, proxies);
    expect(Object.keys(seen)).toEqual(['accept']);
  });
});
