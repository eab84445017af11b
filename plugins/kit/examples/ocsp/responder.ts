import { createHash } from 'node:crypto';
import { type Authority, Fault, type Gateway, type Responder, type RevocationStatus } from 'postern';
import { type CertificateId, hashes, type OcspRequest, readOcspRequest } from './request.ts';
import { type Period, type Statement, signedResponse } from './response.ts';

export interface ResponderOptions {
  /** From thisUpdate to nextUpdate, in milliseconds. */
  readonly validity: number;
  /** The number of signed responses kept in memory. */
  readonly mostKept: number;
}

export interface OcspAnswer extends Period {
  /** OCSPResponse, DER. */
  readonly der: Uint8Array;
  /** True without a nonce: the response can be sent to other clients with the same request. */
  readonly reusable: boolean;
}

interface Kept {
  readonly answer: OcspAnswer;
  readonly responder: Responder;
  /** The status in the response, as JSON. */
  readonly status: string;
}

/**
 * Returns a function that responds to OCSP requests (DER). Signed responses are kept, because signing costs the most. The status is
 * looked up for each request, so a kept response is never used after a revocation. The function throws Fault `malformed`,
 * `notFound` (the CA is not one of this service) or `unavailable`.
 */
export function createResponder(
  { revocationStatuses, now }: Pick<Gateway, 'revocationStatuses' | 'now'>,
  { validity, mostKept }: ResponderOptions,
): (request: Uint8Array) => Promise<OcspAnswer> {
  const authorityOf = createIndex();
  const kept = new Map<string, Kept>();

  async function statement(
    ca: number,
    authorities: readonly Authority[],
    id: CertificateId,
  ): Promise<Statement> {
    // A responder is authorised by one CA (RFC 6960 §4.2.2.2), so certificates of other CAs are unknown to it.
    const own = authorityOf(authorities, id) === ca;
    const status: RevocationStatus = own ? await revocationStatuses.of(ca, id.serial) : { kind: 'unknown' };
    return { id: id.der, status };
  }

  async function sign(
    responder: Responder,
    statements: readonly Statement[],
    { nonce }: OcspRequest,
  ): Promise<OcspAnswer> {
    // GeneralizedTime has no fractions of a second (RFC 5280 §4.1.2.5.2).
    const thisUpdate = Math.floor(now() / 1000) * 1000;
    const nextUpdate = Math.min(thisUpdate + validity, responder.notAfter);
    const period = { thisUpdate, nextUpdate };
    const der = await signedResponse(responder, statements, period, nonce);
    return { der, reusable: nonce === undefined, ...period };
  }

  return async (bytes) => {
    const request = readOcspRequest(bytes);
    const authorities = await revocationStatuses.authorities();
    const ca = request.ids.map((id) => authorityOf(authorities, id)).find((id) => id !== undefined);
    if (ca === undefined) throw new Fault('notFound', 'the request names no CA of this service');
    const responder = await revocationStatuses.responder(ca);
    const statements: Statement[] = [];
    for (const id of request.ids) statements.push(await statement(ca, authorities, id));
    const [first, ...more] = statements;
    if (!first || more.length > 0 || request.nonce) return sign(responder, statements, request);

    const name = Buffer.from(first.id).toString('base64');
    const status = JSON.stringify(first.status);
    const known = kept.get(name);
    if (known?.status === status && known.responder === responder && isFresh(known.answer, now())) {
      return known.answer;
    }
    const answer = await sign(responder, statements, request);
    // Clients can request any serial number: only responses about issued certificates are kept.
    if (first.status.kind === 'unknown') return answer;
    kept.delete(name);
    kept.set(name, { answer, responder, status });
    if (kept.size > mostKept) kept.delete(kept.keys().next().value!);
    return answer;
  };
}

/** Whether at least half of the validity is left for the client. */
const isFresh = ({ thisUpdate, nextUpdate }: Period, now: number): boolean =>
  now >= thisUpdate && now < (thisUpdate + nextUpdate) / 2;

/** Finds CAs by the hashes of their name and key. */
function createIndex(): (authorities: readonly Authority[], id: CertificateId) => number | undefined {
  let indexed: readonly Authority[] | undefined;
  const index = new Map<string, number>();
  const entry = (hash: string, nameHash: Uint8Array, keyHash: Uint8Array): string =>
    `${hash} ${Buffer.from(nameHash).toString('hex')} ${Buffer.from(keyHash).toString('hex')}`;
  return (authorities, { hash, nameHash, keyHash }) => {
    if (indexed !== authorities) {
      index.clear();
      for (const { id, name, publicKey } of authorities) {
        for (const by of hashes.values()) {
          const digest = (bytes: Uint8Array): Uint8Array => createHash(by).update(bytes).digest();
          index.set(entry(by, digest(name), digest(publicKey)), id);
        }
      }
      indexed = authorities;
    }
    return hash === undefined ? undefined : index.get(entry(hash, nameHash, keyHash));
  };
}
