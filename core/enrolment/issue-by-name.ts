import { createHash } from 'node:crypto';
import { atField, Fault } from '../fault.ts';
import type { Deferral } from '../issuance/enrolment-request.ts';
import type { Actor } from '../records/audit-event.ts';
import type { KeyType } from '../x509/algorithm.ts';
import { attribute, buildName, commonName } from '../x509/name.ts';
import { verifyPkcs10 } from '../x509/request.ts';
import { keptKeyStore } from './central-key.ts';
import { certify, clear, evaluate, type PipelineDependencies } from './pipeline.ts';
import type { IssuancePlan } from './plan.ts';
import { planForAccount } from './plan-for-account.ts';

export interface CertificateInput {
  /** The common name of the certificate's subject when it is issued; from then on the inventory name. */
  readonly commonName: string;
  /** Default: the default domain. */
  readonly domain?: number;
  /** Default: `tls_client`, where the domain offers it. */
  readonly profile?: number;
  /** A PKCS#10 request, DER. Without one, the key is made here and kept until it is collected. */
  readonly csr?: Uint8Array;
  /** The type of a key that is made here; default: P-256. */
  readonly keyType?: KeyType;
}

/**
 * Issues a certificate that an administrator requests without a device. Returns the id of the certificate, or the deferral while
 * the request is pending; the same request repeated later gets the certificate. Faults: malformed with `field`, forbidden,
 * unavailable.
 */
export async function issueByName(
  context: PipelineDependencies,
  input: CertificateInput,
  actor: Actor,
): Promise<number | Deferral> {
  const configuration = await context.configuration.current();
  const { csr } = input;
  if (csr) {
    if (input.keyType) {
      const detail = 'keyType and csr cannot be combined: the request contains the key';
      throw new Fault('malformed', detail, { field: 'keyType' });
    }
    try {
      const request = verifyPkcs10(csr);
      const name = commonName(request.subject);
      return await issuePlanned(
        context,
        planForAccount(context, configuration, input, actor, { request }, name),
        input,
        { kind: 'pkcs10', der: csr },
      );
    } catch (error) {
      throw atField(error, 'csr');
    }
  }
  keptKeyStore(context);
  try {
    const name = certifiedName(input.commonName);
    const subject = buildName([[attribute('CN', name)]]);
    const wanted = { subject, extensions: [], type: input.keyType ?? 'p-256' } as const;
    const plan = planForAccount(context, configuration, input, actor, { wanted }, name);
    return await issuePlanned(context, plan, input, null);
  } catch (error) {
    const aboutKey = error instanceof Fault && error.code === 'badAlgorithm';
    throw atField(error, aboutKey ? 'keyType' : 'commonName');
  }
}

async function issuePlanned(
  context: PipelineDependencies,
  plan: IssuancePlan,
  { commonName: inventoryName }: CertificateInput,
  request: { readonly kind: 'pkcs10'; readonly der: Uint8Array } | null,
): Promise<number | Deferral> {
  const evaluation = await evaluate(context, plan);
  const clearance = await clear(context, evaluation, { request, continues: false, remembers: true });
  if (clearance.kind === 'pending') return clearance;
  if (clearance.kind === 'alreadyIssued') return clearance.certificate.id;
  const { approval } = clearance;
  const certified = await certify(context, evaluation, { approval, operation: 'enrol', inventoryName });
  return certified.kind === 'pending' ? certified : certified.issued.id;
}

/** ub-common-name, RFC 5280 appendix A.1. */
const longestCommonName = 64;

/** The common name for an inventory name. Two long names with the same beginning get different common names. */
function certifiedName(inventoryName: string): string {
  const characters = [...inventoryName];
  if (characters.length <= longestCommonName) return inventoryName;
  const digest = createHash('sha256').update(inventoryName).digest('hex').slice(0, 16);
  return `${characters.slice(0, longestCommonName - digest.length - 1).join('')}-${digest}`;
}
