import { audit, systemActor } from '../audit/record.ts';
import type { LoadedCa, WithConfiguration } from '../configuration/configuration.ts';
import { readCa } from '../configuration/load-record.ts';
import { sameBytes } from '../der/bytes.ts';
import { Fault } from '../fault.ts';
import type { Issuer } from '../ports/issuer.ts';
import type { Ports } from '../ports/ports.ts';
import { type Certificate, fingerprint } from '../x509/certificate.ts';
import { factsOf, proven, readCertificate } from '../x509/facts.ts';
import { formatDistinguishedName, sameName } from '../x509/name.ts';
import { validatePath } from '../x509/path.ts';
import type { WithCircuits } from './circuits.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'issuers' | 'store'>, WithCircuits, WithConfiguration {}

/** Returns the upstream CA with this name. Faults: unavailable when it is no longer configured. */
export function issuerNamed({ issuers }: Pick<Ports, 'issuers'>, name: string): Issuer {
  const issuer = issuers.get(name);
  if (!issuer) throw new Fault('unavailable', `no issuer named "${name}" is configured`);
  return issuer;
}

/** Asks an upstream CA for its CA certificates, the issuing one first. Faults: those of the issuer; malformed. */
export async function upstreamChain(context: Dependencies, name: string): Promise<readonly Certificate[]> {
  const issuer = issuerNamed(context, name);
  const chain = (await context.circuits.watch(name, () => issuer.chain())).map(readCertificate);
  const [first, ...above] = chain;
  if (!first) throw new Fault('malformed', `the upstream CA "${name}" returned no CA certificate`);
  if (!factsOf(first).basicConstraints?.ca)
    throw new Fault(
      'malformed',
      `the upstream CA "${name}" returned a certificate that is not a CA certificate`,
    );
  if (above.length === 0) return chain;
  const path = validatePath(first, {
    time: context.clock.now(),
    intermediates: above,
    anchors: chain.slice(-1),
  });
  if (!path.ok)
    throw new Fault('malformed', `the CA certificates of the upstream CA "${name}": ${path.detail}`);
  return path.chain;
}

/**
 * Updates the record of a CA with the present certificates of its upstream CA. A CA with another name is another CA, which only the
 * operator can adopt. Faults: those of `upstreamChain`; conflict for another name or a concurrent update.
 */
export async function refreshChain(context: Dependencies, { record, certificate }: LoadedCa): Promise<void> {
  const chain = await upstreamChain(context, record.issuer ?? '');
  const [first, ...above] = chain;
  if (!first || !sameName(first.subject, certificate.subject)) {
    const subject = first && formatDistinguishedName(first.subject);
    throw new Fault('conflict', `the upstream CA of "${record.uniqueName}" now has the name ${subject}`, {
      hint: 'create a new issuing CA for it and assign it to the domains',
    });
  }
  const known = [record.certificate, ...record.chain];
  if (known.length === chain.length && known.every((der, n) => sameBytes(der, chain[n]!.der))) return;
  const set = { certificate: first.der, chain: above.map(({ der }) => der), updatedAt: context.clock.now() };
  proven('certificate', () => readCa(set, record.key !== null));
  await context.store.commit([
    { op: 'update', kind: 'issuingCa', id: record.id, where: { updatedAt: record.updatedAt }, set },
    audit(context, systemActor, {
      action: 'issuingCa.rollover',
      object: `issuingCa:${record.id}`,
      detail: { fingerprint: fingerprint(first.der), before: fingerprint(record.certificate) },
    }),
  ]);
  context.configuration.expire();
}
