import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { sameBytes } from '#core/der/bytes.ts';
import { type Certificate, parseCertificate } from '#core/x509/certificate.ts';
import { subjectAltNameExtension } from '#core/x509/extensions/identity.ts';
import { nameConstraintsExtension } from '#core/x509/extensions/name-constraints.ts';
import { keyUsageExtension } from '#core/x509/extensions/usage.ts';
import { oid } from '#core/x509/oids.ts';
import { validatePath } from '#core/x509/path.ts';
import { runs } from '#tests/property.ts';
import { certify, noon, party } from './certify.ts';

/** Five CAs with three names, so that a name alone decides nothing, and a device. */
const parties = [
  ...Array.from({ length: 5 }, (_, i) => party(`CN=CA ${i % 3}`)),
  party('CN=Device'),
] as const;
const device = parties.length - 1;

/** A certificate as the oracle sees it. Subject, issuer and signer are indexes of the parties. */
interface Link {
  readonly subject: number;
  readonly issuer: number;
  /** Index of the party that signs: the issuer or another. */
  readonly signer: number;
  readonly hints: 'right' | 'wrong' | 'none';
  readonly valid: boolean;
  readonly ca: boolean;
  readonly pathLength: number | undefined;
  readonly keyUsage: 'keyCertSign' | 'cRLSign' | 'none';
  readonly unknownCritical: boolean;
  readonly revoked: boolean;
  readonly host: 'x.a.example' | 'x.b.example' | undefined;
  readonly permitted: 'a.example' | 'b.example' | undefined;
  readonly excluded: 'a.example' | undefined;
}

const nameOf = (which: number): number => (which === device ? -1 : which % 3);
const selfIssued = (link: Link): boolean => nameOf(link.subject) === nameOf(link.issuer);

// The oracle tries all paths, and applies each rule of RFC 5280 §6 separately and without state.

const issued = (above: Link, below: Link): boolean =>
  nameOf(above.subject) === nameOf(below.issuer) && above.subject === below.signer;

function* allPaths(
  path: readonly Link[],
  pool: readonly Link[],
  anchors: readonly Link[],
): Generator<readonly Link[]> {
  const last = path.at(-1)!;
  if (anchors.includes(last)) yield path;
  for (const link of pool) {
    if (issued(link, last) && path.every((other) => other.subject !== link.subject)) {
      yield* allPaths([...path, link], pool, anchors);
    }
  }
}

const within = (host: string, domain: string): boolean => host.endsWith(`.${domain}`);

const rules: Readonly<Record<string, (path: readonly Link[]) => boolean>> = {
  validity: (path) => path.every((one) => one.valid),
  extensions: (path) => path.every((one) => !one.unknownCritical),
  revocation: (path) => path.slice(0, -1).every((one) => !one.revoked),
  basicConstraints: (path) => path.slice(1).every((one) => one.ca),
  keyUsage: (path) => path.slice(1).every((one) => one.keyUsage !== 'cRLSign'),
  pathLength: (path) =>
    path.every(
      ({ ca, pathLength }, i) =>
        i === 0 || !ca || path.slice(1, i).filter((one) => !selfIssued(one)).length <= (pathLength ?? i),
    ),
  nameConstraints: (path) =>
    path.every(({ permitted, excluded }, i) =>
      path
        .slice(0, i)
        .filter((one, j) => j === 0 || !selfIssued(one))
        .every(
          ({ host }) =>
            !host || ((!permitted || within(host, permitted)) && !(excluded && within(host, excluded))),
        ),
    ),
};

const year = 365 * 24 * 3600 * 1000;
const made = new Map<string, Certificate>();

function certificateOf(link: Link): Certificate {
  const text = JSON.stringify(link);
  let certificate = made.get(text);
  if (!certificate) {
    certificate = parseCertificate(make(link));
    if (made.size > 10_000) made.clear();
    made.set(text, certificate);
  }
  return certificate;
}

function make(link: Link): Uint8Array {
  const subject = parties[link.subject]!;
  const issuer = parties[link.issuer]!;
  const { key } = parties[link.signer]!;
  const named = link.hints === 'wrong' ? device : link.issuer;
  const { permitted, excluded } = link;
  return certify(
    subject,
    { name: issuer.name, key: { ...key, identifier: parties[named]!.key.identifier } },
    {
      ca: link.ca,
      ...(link.ca && link.pathLength !== undefined && { pathLength: link.pathLength }),
      ...(!link.valid && { notAfter: noon - year / 2 }),
      without: [
        ...(link.hints === 'none' ? [oid.authorityKeyIdentifier] : []),
        ...(link.keyUsage === 'none' ? [oid.keyUsage] : []),
      ],
      with: [
        ...(link.keyUsage === 'none' ? [] : [keyUsageExtension([link.keyUsage])]),
        ...(link.unknownCritical
          ? [{ oid: '1.3.6.1.4.1.99999.1', critical: true, value: Uint8Array.of(5, 0) }]
          : []),
        ...(link.host ? [subjectAltNameExtension([{ kind: 'dns', value: link.host }])] : []),
        ...(permitted || excluded
          ? [
              nameConstraintsExtension({
                permitted: permitted ? [{ kind: 'dns', value: permitted }] : [],
                excluded: excluded ? [{ kind: 'dns', value: excluded }] : [],
              }),
            ]
          : []),
      ],
    },
  );
}

/** Mostly valid; otherwise no path would ever be accepted. */
const mostly = <T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof(
    { weight: 9, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );

const linkOf = (subject: fc.Arbitrary<number>, ca: boolean): fc.Arbitrary<Link> =>
  fc
    .record({
      subject,
      issuer: fc.nat(device - 1),
      other: mostly<number | undefined>(undefined, 0, 1, 2, 3, 4),
      hints: fc.constantFrom('right', 'wrong', 'none'),
      valid: mostly(true, false),
      ca: mostly(ca, !ca),
      pathLength: mostly<number | undefined>(undefined, 0, 1, 2),
      keyUsage: mostly<Link['keyUsage']>('keyCertSign', 'cRLSign', 'none'),
      unknownCritical: mostly(false, true),
      revoked: mostly(false, true),
      host: mostly<Link['host']>(undefined, 'x.a.example', 'x.b.example'),
      permitted: mostly<Link['permitted']>(undefined, 'a.example', 'b.example'),
      excluded: mostly<Link['excluded']>(undefined, 'a.example'),
    })
    .map(({ other, ...link }) => ({ ...link, signer: other ?? link.issuer }));

const webs = fc.record({
  leaf: fc.oneof(linkOf(fc.constant(device), false), linkOf(fc.nat(device - 1), true)),
  intermediates: fc.array(linkOf(fc.nat(device - 1), true), { maxLength: 8 }),
  anchors: fc.array(linkOf(fc.nat(device - 1), true), { maxLength: 3 }),
  leafIsAnchor: mostly(false, true),
});

test('a path through random CAs is accepted exactly when one path obeys every rule', () => {
  let accepted = 0;
  const property = fc.property(webs, ({ leaf, intermediates, anchors, leafIsAnchor }) => {
    const trusted = leafIsAnchor ? [...anchors, leaf] : anchors;
    const all = [leaf, ...intermediates, ...trusted];
    const certificates = new Map(all.map((link) => [link, certificateOf(link)]));
    const of = (link: Link): Certificate => certificates.get(link)!;
    // A certificate counts once, even if it was drawn twice.
    const same = (a: Link, b: Link): boolean => sameBytes(of(a).der, of(b).der);
    const isTrusted = all.filter((link) => trusted.some((one) => same(one, link)));
    const revoked = all.filter((link) => link.revoked);

    const paths = [...allPaths([leaf], [...intermediates, ...trusted], isTrusted)];
    const good = paths.filter((path) => Object.values(rules).every((holds) => holds(path)));
    const result = validatePath(of(leaf), {
      intermediates: intermediates.map(of),
      anchors: trusted.map(of),
      time: noon,
      isRevoked: (one) => revoked.some((link) => sameBytes(of(link).der, one.der)),
    });

    expect(result.ok).toBe(good.length > 0);
    if (result.ok) {
      accepted++;
      const text = (chain: readonly Certificate[]) => chain.map((one) => one.serialNumber).join();
      expect(good.map((path) => text(path.map(of)))).toContain(text(result.chain));
    } else {
      const nowhere = result.reason === 'unknownIssuer' || result.reason === 'badSignature';
      expect(nowhere).toBe(paths.length === 0);
    }
  });
  const settings = runs(400);
  fc.assert(property, settings);
  expect(accepted).toBeGreaterThan(settings.numRuns / 20);
});
