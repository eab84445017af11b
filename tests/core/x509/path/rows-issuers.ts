import { buildCrl } from '#core/x509/crl.ts';
import { basicConstraintsExtension, keyUsageExtension } from '#core/x509/extensions/usage.ts';
import { oid } from '#core/x509/oids.ts';
import { certify, noon, type Order, party, signWith } from './certify.ts';
import { device, four, lower, middle, type Row, root, row, three } from './row.ts';

const loose = { ...basicConstraintsExtension({ ca: true }), critical: false };
const version1 = { raw: { version: 0, extensions: [] } } satisfies Order;

const basicConstraints: Row[] = [
  row('the CA has no basic constraints', three({ middle: { without: [oid.basicConstraints] } }), [
    'notACa',
    'invalid CA certificate',
  ]),
  row(
    'the CA is none by its basic constraints',
    three({ middle: { ca: false, with: [keyUsageExtension(['keyCertSign'])] } }),
    ['notACa', 'invalid CA certificate'],
  ),
  row('the basic constraints of the CA are not critical', three({ middle: { with: [loose] } }), [
    'ok',
    'Basic Constraints of CA cert not marked critical',
    '§4.2.1.9 binds CAs, §6.1.4 (k) only looks at the value',
  ]),
  row('the CA has a certificate of version 1', three({ middle: version1 }), [
    'notACa',
    'invalid CA certificate',
  ]),
  row('the anchor has a certificate of version 1', three({ root: version1 }), [
    'notACa',
    'invalid CA certificate',
  ]),
  row('the anchor has no basic constraints', three({ root: { without: [oid.basicConstraints] } }), [
    'notACa',
    'invalid CA certificate',
  ]),
  row(
    'a device plays CA',
    {
      leaf: certify(party('CN=device-2'), device),
      intermediates: [certify(device, middle), certify(middle, root, { ca: true })],
      anchors: [certify(root, root, { ca: true })],
    },
    ['notACa', 'invalid CA certificate'],
  ),
  row('the leaf is a CA', three({ leaf: { ca: true } }), ['ok', 'ok']),
  row(
    'basic constraints that cannot be read',
    three({
      middle: { with: [{ oid: oid.basicConstraints, critical: true, value: Uint8Array.of(0x30, 1) }] },
    }),
    ['malformed', 'unable to get local issuer certificate'],
  ),
];

const rollover = party('CN=Issuing CA,O=Plant');
/** A new key of `middle` certifies its old key: a self-issued certificate. */
const selfIssued = (orders: { root?: Order; rollover?: Order; leaf?: Order } = {}) => ({
  leaf: certify(device, middle, orders.leaf),
  intermediates: [
    certify(middle, rollover, { ca: true, ...orders.rollover }),
    certify(rollover, root, { ca: true }),
  ],
  anchors: [certify(root, root, { ca: true, ...orders.root })],
});

const pathLength: Row[] = [
  row('path length 0 allows leaves', three({ middle: { pathLength: 0 } }), ['ok', 'ok']),
  row('path length 0 allows no CA below', four({ middle: { pathLength: 0 } }), [
    'pathTooLong',
    'path length constraint exceeded',
  ]),
  row('path length 0 of the anchor allows no CA below', three({ root: { pathLength: 0 } }), [
    'pathTooLong',
    'path length constraint exceeded',
  ]),
  row('path length 1 of the anchor allows one CA below', three({ root: { pathLength: 1 } }), ['ok', 'ok']),
  row('path length 1 of the anchor does not allow two', four({ root: { pathLength: 1 } }), [
    'pathTooLong',
    'path length constraint exceeded',
  ]),
  row(
    'a lower CA cannot raise the path length',
    four({ root: { pathLength: 1 }, middle: { pathLength: 5 } }),
    ['pathTooLong', 'path length constraint exceeded'],
  ),
  row('self-issued certificates do not count for the path length', selfIssued({ root: { pathLength: 1 } }), [
    'ok',
    'ok',
  ]),
  row('path length 0 and a leaf that is a CA', three({ middle: { pathLength: 0 }, leaf: { ca: true } }), [
    'ok',
    'ok',
  ]),
  row(
    'a path length in the certificate of an end entity',
    three({ leaf: { with: [{ ...basicConstraintsExtension({ ca: false, pathLength: 0 }) }] } }),
    ['ok', 'Path length invalid for non-CA cert', '§4.2.1.9 binds CAs; nothing is issued below the leaf'],
  ),
  row(
    'a negative path length',
    three({
      middle: {
        with: [
          {
            oid: oid.basicConstraints,
            critical: true,
            value: Uint8Array.of(0x30, 6, 1, 1, 0xff, 2, 1, 0xff),
          },
        ],
      },
    }),
    ['malformed', 'unable to get local issuer certificate'],
  ),
];

const keyUsage: Row[] = [
  row('the CA may not sign certificates', three({ middle: { with: [keyUsageExtension(['cRLSign'])] } }), [
    'keyUsage',
    'invalid CA certificate',
  ]),
  row('the anchor may not sign certificates', three({ root: { with: [keyUsageExtension(['cRLSign'])] } }), [
    'keyUsage',
    'invalid CA certificate',
  ]),
  row(
    'the CA may sign certificates and no CRLs',
    three({ middle: { with: [keyUsageExtension(['keyCertSign'])] } }),
    ['ok', 'ok'],
  ),
  row('the CA has no key usage', three({ middle: { without: [oid.keyUsage] } }), [
    'ok',
    'CA cert does not include key usage extension',
    '§4.2.1.3 binds CAs, §6.1.4 (n) only looks at one that is there',
  ]),
  row(
    'the leaf has a key usage of CAs and is none',
    three({ leaf: { with: [keyUsageExtension(['keyCertSign'])] } }),
    [
      'ok',
      'Key usage keyCertSign invalid for non-CA cert',
      '§4.2.1.9 binds CAs; nothing is issued below the leaf',
    ],
  ),
];

const other = party('CN=Other Root,O=Plant');
const bridge = party('CN=Bridge CA,O=Plant');
const rootDer = certify(root, root, { ca: true });
const otherDer = certify(other, other, { ca: true });
const middleDer = certify(middle, root, { ca: true });
const lowerDer = certify(lower, middle, { ca: true });
const belowLower = certify(device, lower);
const belowMiddle = certify(device, middle);
const newRoot = party('CN=Root CA,O=Plant');
/** Returns a chain of CAs, leaf first, with `count` certificates in total. */
function long(certificates: number) {
  const parties = Array.from({ length: certificates }, (_, i) => party(`CN=CA ${i}`));
  const ders = parties.map((one, i) => certify(one, parties[i + 1] ?? one, { ca: i > 0 }));
  return { leaf: ders[0]!, intermediates: ders.slice(1, -1), anchors: ders.slice(-1) };
}
const expired = { notAfter: noon - 1000 };

const topology: Row[] = [
  row(
    'the CAs in between come in any order',
    { leaf: belowLower, intermediates: [lowerDer, rootDer, middleDer], anchors: [rootDer] },
    ['ok', 'ok'],
  ),
  row(
    'certificates that do not belong to the path are passed over',
    {
      leaf: belowLower,
      intermediates: [otherDer, lowerDer, belowMiddle, middleDer],
      anchors: [otherDer, rootDer],
    },
    ['ok', 'ok'],
  ),
  row('a CA in between is missing', { leaf: belowLower, intermediates: [middleDer], anchors: [rootDer] }, [
    'unknownIssuer',
    'unable to get local issuer certificate',
  ]),
  row(
    'the root is not an anchor',
    { leaf: belowMiddle, intermediates: [middleDer, rootDer], anchors: [otherDer] },
    ['unknownIssuer', 'self-signed certificate in certificate chain'],
  ),
  row('there is no anchor', { leaf: belowMiddle, intermediates: [middleDer, rootDer], anchors: [] }, [
    'unknownIssuer',
    'self-signed certificate in certificate chain',
  ]),
  row(
    'a CA in between is itself an anchor',
    { leaf: belowLower, intermediates: [lowerDer], anchors: [middleDer] },
    ['ok', 'ok'],
  ),
  row(
    'such an anchor has expired',
    { leaf: belowMiddle, intermediates: [], anchors: [certify(middle, root, { ca: true, ...expired })] },
    ['expired', 'certificate has expired'],
  ),
  row('the leaf is itself an anchor', { leaf: belowMiddle, intermediates: [], anchors: [belowMiddle] }, [
    'ok',
    'ok',
  ]),
  row(
    'the leaf is an anchor that has expired',
    (() => {
      const leaf = certify(device, middle, expired);
      return { leaf, intermediates: [], anchors: [leaf] };
    })(),
    ['expired', 'certificate has expired'],
  ),
  row(
    'the leaf is an anchor that signs itself',
    (() => {
      const leaf = certify(device, device);
      return { leaf, intermediates: [], anchors: [leaf] };
    })(),
    ['ok', 'ok'],
  ),
  row(
    'the leaf differs from the anchor of the same key',
    { leaf: certify(device, device), intermediates: [], anchors: [certify(device, device)] },
    ['unknownIssuer', 'self-signed certificate'],
  ),
  row('the leaf is the root', { leaf: rootDer, intermediates: [], anchors: [rootDer] }, ['ok', 'ok']),
  row(
    'two CAs of one name and different keys',
    {
      leaf: belowMiddle,
      intermediates: [certify(rollover, root, { ca: true }), middleDer],
      anchors: [rootDer],
    },
    ['ok', 'ok'],
  ),
  row(
    'two CAs of one name and no key identifiers',
    {
      leaf: certify(device, middle, { without: [oid.authorityKeyIdentifier] }),
      intermediates: [certify(rollover, root, { ca: true }), middleDer],
      anchors: [rootDer],
    },
    [
      'ok',
      'Missing Authority Key Identifier',
      'OpenSSL takes the first of the name, and IDevIDs without key identifiers exist',
    ],
  ),
  row(
    'two anchors of one name',
    {
      leaf: belowMiddle,
      intermediates: [middleDer],
      anchors: [certify(newRoot, newRoot, { ca: true }), rootDer],
    },
    ['ok', 'ok'],
  ),
  row(
    'an expired CA stands beside its renewal',
    {
      leaf: belowMiddle,
      intermediates: [certify(middle, root, { ca: true, ...expired }), middleDer],
      anchors: [rootDer],
    },
    ['ok', 'ok'],
  ),
  row(
    'an expired anchor stands beside its renewal',
    {
      leaf: belowMiddle,
      intermediates: [middleDer],
      anchors: [certify(root, root, { ca: true, ...expired }), rootDer],
    },
    ['ok', 'ok'],
  ),
  row(
    'a cross-certificate leads to another anchor',
    {
      leaf: belowMiddle,
      intermediates: [middleDer, certify(root, other, { ca: true })],
      anchors: [otherDer],
    },
    ['ok', 'ok'],
  ),
  row(
    'a CA is certified by two roots, one of them an anchor',
    {
      leaf: belowMiddle,
      intermediates: [certify(middle, other, { ca: true }), middleDer],
      anchors: [rootDer],
    },
    [
      'ok',
      'unable to get local issuer certificate',
      'OpenSSL goes with the first issuer that fits and never turns back',
    ],
  ),
  row(
    'the first of two ways has an expired CA, the second holds',
    {
      leaf: belowMiddle,
      intermediates: [certify(middle, other, { ca: true, pathLength: 0, ...expired }), middleDer],
      anchors: [otherDer, rootDer],
    },
    ['ok', 'ok'],
  ),
  row(
    'the shorter of two ways breaks a rule, the longer holds',
    {
      leaf: belowMiddle,
      intermediates: [
        certify(middle, other, { ca: true, without: [oid.basicConstraints] }),
        certify(middle, bridge, { ca: true }),
        certify(bridge, root, { ca: true }),
      ],
      anchors: [otherDer, rootDer],
    },
    ['ok', 'invalid CA certificate', 'OpenSSL goes with the first issuer that fits and never turns back'],
  ),
  row(
    'two CAs certify each other and a root one of them',
    {
      leaf: belowMiddle,
      intermediates: [
        certify(middle, bridge, { ca: true }),
        certify(bridge, middle, { ca: true }),
        middleDer,
      ],
      anchors: [rootDer],
    },
    ['ok', 'ok'],
  ),
  row(
    'two CAs certify each other and nobody else does',
    {
      leaf: belowMiddle,
      intermediates: [certify(middle, bridge, { ca: true }), certify(bridge, middle, { ca: true })],
      anchors: [rootDer],
    },
    ['unknownIssuer', 'unable to get local issuer certificate'],
  ),
  row('a new key of a CA certifies the old one (self-issued)', selfIssued(), ['ok', 'ok']),
  row(
    'an old key of the root certifies the new one (self-issued)',
    {
      leaf: certify(device, newRoot),
      intermediates: [certify(newRoot, root, { ca: true })],
      anchors: [rootDer],
    },
    ['ok', 'ok'],
  ),
  row('ten certificates', long(10), ['ok', 'ok']),
  row('eleven certificates', long(11), ['tooMuchWork', 'ok', 'ten are the most that Postern goes along']),
];

const serial = (n: number) => Uint8Array.of(0x41, n, 2, 3, 4, 5, 6, 7, 8);

/** Returns a CRL of this issuer (DER). */
async function crl(by: typeof root, revoked: readonly Uint8Array[]): Promise<Uint8Array> {
  const unsigned = await buildCrl({
    signatureAlgorithm: by.key.algorithm,
    issuer: by.name,
    thisUpdate: noon - 1000,
    nextUpdate: noon + 1_000_000,
    number: 1n,
    authorityKeyIdentifier: by.key.identifier,
    revoked: revoked.map((one) => ({ serial: one, revokedAt: noon - 1000 })),
  });
  return unsigned.signed(signWith(by.key, unsigned.tbs));
}

async function revocation(
  rule: string,
  which: readonly number[],
  verdict: Parameters<typeof row>[2],
): Promise<Row> {
  const chain = four({
    root: { serial: serial(0) },
    middle: { serial: serial(1) },
    lower: { serial: serial(2) },
    leaf: { serial: serial(3) },
  });
  const issuers = [root, root, middle, lower];
  const crls = await Promise.all(
    [root, middle, lower].map((by) => crl(by, which.filter((n) => issuers[n] === by).map(serial))),
  );
  return row(rule, chain, verdict, { revoked: which.map(serial), crls });
}

const revocations = [
  await revocation('nothing is revoked', [], ['ok', 'ok']),
  await revocation('the leaf is revoked', [3], ['revoked', 'certificate revoked']),
  await revocation('the lower CA is revoked', [2], ['revoked', 'certificate revoked']),
  await revocation('the upper CA is revoked', [1], ['revoked', 'certificate revoked']),
  await revocation(
    'the anchor revokes itself',
    [0],
    ['ok', 'certificate revoked', 'nobody stands above an anchor; it is distrusted by taking it out'],
  ),
];

export const rowsOfIssuers: readonly Row[] = [
  ...basicConstraints,
  ...pathLength,
  ...keyUsage,
  ...topology,
  ...revocations,
];
