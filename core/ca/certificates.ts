import { demand, type Principal } from '../accounts/principal.ts';
import type { Context } from '../context.ts';
import { Fault } from '../fault.ts';
import { type Resource, resource, updateWrites } from '../resource.ts';
import type { Crls } from './crls.ts';
import { type Revocation, revocationWrites } from './revocation.ts';
import type { StoredCertificate } from './stored-certificate.ts';

export interface CertificateInput {
  readonly commonName: string;
}

export interface Certificates
  extends Omit<Resource<'certificate', CertificateInput, StoredCertificate>, 'create'> {
  /** With a new CRL. Faults: notFound, conflict. */
  revoke(principal: Principal, id: number, revocation: Revocation): Promise<StoredCertificate>;
}

const inLists = ['good', 'hold', 'revoked'] as const;

export function certificates(context: Context, crls: Crls): Certificates {
  const collection = resource<'certificate', CertificateInput, StoredCertificate>(context, {
    kind: 'certificate',
    noun: 'certificate',
    reads: 'certificates.read',
    writes: 'certificates.write',
    visible: ({ hidden, status }) => !hidden && (inLists as readonly string[]).includes(status),
    shown: [
      { field: 'hidden', is: 'equal', value: false },
      { field: 'status', is: 'oneOf', value: inLists },
    ],
    view: (record) => record,
    summary: ({ serialNumber, subject }) => ({ serialNumber, subject }),
    create: async () => {
      throw new Fault('unsupported', 'certificates are issued, not created');
    },
    update: async ({ id }, changes) => updateWrites('certificate', id, changes),
    // A CRL must not forget: the record stays, out of sight.
    remove: async ({ id }) => [{ op: 'update', kind: 'certificate', id, set: { hidden: true } }],
  });
  return {
    ...collection,
    async revoke(principal, id, revocation) {
      demand(principal, 'certificates.revoke');
      const record = await context.store.get('certificate', id);
      if (!record) throw new Fault('notFound', 'there is no such certificate');
      await context.store.commit(revocationWrites(context, principal.actor, record, revocation));
      // The revocation holds whether or not its CRL can be made at once: maintenance makes it up.
      await crls.generate(record.ca, principal.actor).catch((error) => {
        context.log.error('no CRL after a revocation', error, { certificate: id });
      });
      return (await context.store.get('certificate', id))!;
    },
  };
}
