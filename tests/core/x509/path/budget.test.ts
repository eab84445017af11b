import { describe, expect, test } from 'bun:test';
import type { Certificate } from '#core/x509/certificate.ts';
import type { Extension } from '#core/x509/extension.ts';
import { subjectAltNameExtension } from '#core/x509/extensions/identity.ts';
import { nameConstraintsExtension } from '#core/x509/extensions/name-constraints.ts';
import { certificatePoliciesExtension, policyMappingsExtension } from '#core/x509/extensions/policies.ts';
import { oid } from '#core/x509/oids.ts';
import { Budget, mostSignatureChecks } from '#core/x509/path/budget.ts';
import { PathBuilder } from '#core/x509/path/build.ts';
import { Refusal } from '#core/x509/path/failure.ts';
import { validate } from '#core/x509/path/validate.ts';
import { validatePath } from '#core/x509/path.ts';
import { certificate, ecKey, noon, party } from './certify.ts';
import { device, root } from './row.ts';

class CountingBudget extends Budget {
  signatureChecks = 0;
  work = 0;

  override signatureCheck(): void {
    super.signatureCheck();
    this.signatureChecks++;
  }

  override steps(count: number): void {
    super.steps(count);
    this.work += count;
  }
}

/** Validates every path that is found, and returns the work. */
function exhaust(leaf: Certificate, intermediates: readonly Certificate[], anchors: readonly Certificate[]) {
  const budget = new CountingBudget();
  const attempt = (): void => {
    for (const path of new PathBuilder(anchors, intermediates, noon, budget).pathsFrom([leaf])) {
      validate(path, { time: noon }, budget);
    }
  };
  try {
    attempt();
  } catch (error) {
    expect(error).toBeInstanceOf(Refusal);
  }
  return budget;
}

const noKeyIdentifiers = { without: [oid.authorityKeyIdentifier, oid.subjectKeyIdentifier] };
const rootCertificate = certificate(root, root, { ca: true });

describe('the work of path validation is bounded', () => {
  const namesakes = Array.from({ length: 150 }, () => party('CN=Namesake'));

  test('when many CAs have the name of the issuer', () => {
    const cas = namesakes.map((one) => certificate(one, root, { ca: true, ...noKeyIdentifiers }));
    const leaf = certificate(device, party('CN=Namesake'), noKeyIdentifiers);
    expect(exhaust(leaf, cas, [rootCertificate]).signatureChecks).toBe(mostSignatureChecks);
    const options = { intermediates: cas, anchors: [rootCertificate], time: noon };
    expect(validatePath(leaf, options)).toMatchObject({ ok: false, reason: 'tooMuchWork' });
  });

  test('when many CAs have the name of the issuer, and key identifiers save most of it', () => {
    const cas = namesakes.map((one) => certificate(one, root, { ca: true }));
    const leaf = certificate(device, namesakes[149]!);
    const budget = new CountingBudget();
    const [path] = new PathBuilder([rootCertificate], cas, noon, budget).pathsFrom([leaf]);
    expect(path).toEqual([leaf, cas[149]!, rootCertificate]);
    expect(budget.signatureChecks).toBe(2);
  });

  test('when all CAs certify each other', () => {
    const cas = Array.from({ length: 9 }, (_, i) => party(`CN=CA ${i}`));
    const web = cas.flatMap((a) => cas.filter((b) => b !== a).map((b) => certificate(a, b, { ca: true })));
    const leaf = certificate(device, cas[0]!);
    const { signatureChecks, work } = exhaust(leaf, web, [rootCertificate]);
    expect(signatureChecks).toBeLessThanOrEqual(1 + web.length);
    expect(work).toBeGreaterThan(10_000);
    const options = { intermediates: web, anchors: [rootCertificate], time: noon };
    expect(validatePath(leaf, options)).toMatchObject({ ok: false, reason: 'tooMuchWork' });
  });

  test('when all CAs have one name and certify each other', () => {
    const cas = Array.from({ length: 12 }, () => party('CN=CA'));
    const web = cas.flatMap((a) =>
      cas.filter((b) => b !== a).map((b) => certificate(a, b, { ca: true, ...noKeyIdentifiers })),
    );
    const leaf = certificate(device, cas[0]!, noKeyIdentifiers);
    expect(exhaust(leaf, web, [rootCertificate]).signatureChecks).toBeLessThanOrEqual(mostSignatureChecks);
    const options = { intermediates: web, anchors: [rootCertificate], time: noon };
    expect(validatePath(leaf, options)).toMatchObject({ ok: false, reason: 'tooMuchWork' });
  });

  test('when one CA has a hundred certificates', () => {
    const ca = party('CN=CA');
    const copies = Array.from({ length: 100 }, () => certificate(ca, root, { ca: true }));
    const leaf = certificate(device, ca);
    const { signatureChecks } = exhaust(leaf, copies, [
      certificate(party('CN=Root CA,O=Plant'), root, { ca: true }),
    ]);
    expect(signatureChecks).toBeLessThanOrEqual(mostSignatureChecks);
    const one = new CountingBudget();
    const paths = [
      ...new PathBuilder([], [...copies.slice(0, 1), ...copies.slice(0, 1)], noon, one).pathsFrom([leaf]),
    ];
    expect(paths).toEqual([]);
    expect(one.signatureChecks).toBe(1);
  });

  test('when a chain has the maximum of names and constraints', () => {
    const many = Array.from({ length: 256 }, (_, i) => ({ kind: 'dns' as const, value: `n${i}.example` }));
    const constraints: Extension = nameConstraintsExtension({ permitted: many, excluded: [] });
    const cas = Array.from({ length: 4 }, (_, i) => party(`CN=CA ${i}`));
    const chain = cas.map((one, i) =>
      certificate(one, cas[i + 1] ?? root, { ca: true, with: [constraints] }),
    );
    const leaf = certificate(device, cas[0]!, { with: [subjectAltNameExtension(many)] });
    const options = { intermediates: chain, anchors: [rootCertificate], time: noon };
    expect(validatePath(leaf, options)).toMatchObject({ ok: false, reason: 'tooMuchWork' });
  });

  test('when every CA maps all policies to all others', () => {
    const policies = Array.from({ length: 8 }, (_, i) => `1.2.3.${i}`);
    const all = policies.flatMap((a) =>
      policies.map((b) => ({ issuerDomainPolicy: a, subjectDomainPolicy: b })),
    );
    const extensions = [
      certificatePoliciesExtension(policies.map((one) => ({ oid: one }))),
      policyMappingsExtension(all),
    ];
    const cas = Array.from({ length: 8 }, (_, i) => party(`CN=CA ${i}`));
    const chain = cas.map((one, i) => certificate(one, cas[i + 1] ?? root, { ca: true, with: extensions }));
    const leaf = certificate(device, cas[0]!, { with: extensions.slice(0, 1) });
    const options = { intermediates: chain, anchors: [rootCertificate], time: noon };
    expect(validatePath(leaf, options)).toMatchObject({ ok: true, policies });
    expect(exhaust(leaf, chain, [rootCertificate]).work).toBeLessThan(20_000);
  });

  test('for a chain of any length', () => {
    const cas = Array.from({ length: 40 }, (_, i) => party(`CN=CA ${i}`, ecKey()));
    const chain = cas.map((one, i) => certificate(one, cas[i + 1] ?? root, { ca: true }));
    const leaf = certificate(device, cas[0]!);
    expect(exhaust(leaf, chain, [rootCertificate]).signatureChecks).toBe(9);
    const options = { intermediates: chain, anchors: [rootCertificate], time: noon };
    expect(validatePath(leaf, options)).toMatchObject({ ok: false, reason: 'tooMuchWork' });
  });
});
