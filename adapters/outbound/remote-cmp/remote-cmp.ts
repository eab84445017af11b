import { hash } from 'node:crypto';
import type { PkiBody } from '#adapters/wire/cmp/body.ts';
import { infoTypes } from '#adapters/wire/cmp/info-types.ts';
import type { PkiMessage } from '#adapters/wire/cmp/message.ts';
import { findValue } from '#adapters/wire/cmp/typed-value.ts';
import { der } from '#core/der/builder.ts';
import { Fault, toFault } from '#core/fault.ts';
import type { Issuer, IssuerAnswer, IssuerDescription, Order } from '#core/ports/issuer.ts';
import type { Clock, Entropy, Log, Vault } from '#core/ports/platform.ts';
import { signatureHash } from '#core/x509/algorithm.ts';
import { orderCaChain } from '#core/x509/ca-chain.ts';
import { type Certificate, fingerprint, parseCertificate } from '#core/x509/certificate.ts';
import type { RevocationReason } from '#core/x509/crl.ts';
import { parseCertTemplate } from '#core/x509/crmf.ts';
import { buildCertTemplate } from '#core/x509/crmf-builder.ts';
import { reasonCodeExtension } from '#core/x509/extensions/revocation.ts';
import { emptyName, type Name, parseDistinguishedName } from '#core/x509/name.ts';
import { oid } from '#core/x509/oids.ts';
import {
  type Credential,
  CredentialFile,
  certificateOf,
  type StoredCredential,
} from '../upstream/credential.ts';
import { refusal } from './failure.ts';
import { type Handle, readHandle, writeHandle } from './handle.ts';
import { newKey, renewed, updateOf } from './renewal.ts';
import { enrolmentRequestOf, type Forwarding } from './request.ts';
import { isBadTime, readEnrolmentResponse, readRevocation, senderNonceOf } from './response.ts';
import { authenticate, type Tolerances, type Trusted } from './signer.ts';
import { type Sign, signingWith } from './signing-key.ts';
import { type CmpEndpoint, type CmpRequest, type Protection, sendRequest } from './transport.ts';

/** The trust anchors for signatures: certificates, or the one with this SHA-256 (upper-case hex); `none`: signatures are not accepted. */
export type Trust =
  | { readonly kind: 'anchors'; readonly certificates: readonly Uint8Array[] }
  | { readonly kind: 'fingerprint'; readonly sha256: string }
  | { readonly kind: 'none' };

/** The credentials of this gateway at the upstream CA. */
export type Identity =
  | Extract<Protection, { kind: 'mac' }>
  /** A certificate and its key; the gateway renews them. */
  | { readonly kind: 'credential'; readonly credential: Credential; readonly renew: boolean }
  /** A certificate whose key is in a key store. */
  | { readonly kind: 'held'; readonly certificates: readonly Uint8Array[]; readonly sign: Sign };

export interface RemoteCmpOptions extends CmpEndpoint {
  readonly name: string;
  readonly identity: Identity;
  readonly trust: Trust;
  readonly server: Trusted['server'];
  readonly serverName: Trusted['serverName'];
  /** The certificates of the issuing CA and of the CAs above it, for upstream CAs that do not send them. */
  readonly caCertificates?: readonly Uint8Array[] | undefined;
  readonly forwarding: Forwarding;
  readonly implicitConfirm: boolean;
  readonly tolerances: Tolerances;
  /** Milliseconds for one call. */
  readonly timeout: number;
  /** The bounds for the upstream's checkAfter, in seconds. */
  readonly waiting: { readonly least: number; readonly most: number };
  /** The file of the renewed credential. */
  readonly file: string;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
}

/** The Certificate Management Protocol (RFC 9810, RFC 9483, RFC 9811) at an upstream CA, as its registration authority. */
export function openRemoteCmp(options: RemoteCmpOptions): Issuer {
  return new RemoteCmp(options);
}

/** Parses a name in the notation of RFC 4514. Faults: malformed. */
export const distinguishedName = (text: string): Name =>
  text === '' ? emptyName : parseDistinguishedName(text);

const seedOctets = 16;

class RemoteCmp implements Issuer {
  readonly protocol = 'cmp';
  readonly timeout: number;
  /** The same order gives the same message with the same transactionID, so an upstream CA can repeat its response. */
  readonly repeatable = true;
  readonly #options: RemoteCmpOptions;
  readonly #file: CredentialFile;
  #anchors: readonly Uint8Array[] | undefined;
  #signing: { readonly key: Uint8Array; readonly sign: Sign } | undefined;
  #renewal: Handle | undefined;
  #renewAfter = 0;
  #trouble: string | undefined;

  constructor(options: RemoteCmpOptions) {
    this.#options = options;
    this.timeout = options.timeout + 1000;
    this.#file = new CredentialFile(options.file, options.vault, `remote-cmp ${options.name}`);
  }

  async chain(signal?: AbortSignal): Promise<readonly Uint8Array[]> {
    const limit = this.#limit(signal);
    const given = this.#options.caCertificates;
    const certificates = (given ?? (await this.#caCertificates(limit))).map(parseCertificate);
    const anchors = (await this.#trustAnchors(limit)).map(parseCertificate);
    const chain = orderCaChain([...certificates, ...anchors], this.#options.clock.now());
    // The root may come from the trust anchors, but the response must contain the certificate of the issuing CA.
    if (!chain || !certificates.includes(chain[0]!))
      throw new Fault('malformed', 'the CA certificates of the upstream CA do not form a chain to a root');
    return chain.map((one) => one.der);
  }

  check(order: Order): void {
    enrolmentRequestOf(order, this.#options.forwarding);
  }

  async issue(order: Order, signal?: AbortSignal): Promise<IssuerAnswer> {
    const { forwarding, implicitConfirm, clock } = this.#options;
    const time = order.createdAt ?? clock.now();
    const { body, certReqIds, inside } = enrolmentRequestOf(order, forwarding);
    const seed = order.prepared.template.serial;
    // A nested device message contains its own implicitConfirm.
    const request = inside ? { body, time, seed, ...inside } : { body, time, seed, implicitConfirm };
    const answer = await this.#send(request, this.#limit(signal));
    return this.#outcome(answer, request, certReqIds);
  }

  async poll(handle: string, order: Order, signal?: AbortSignal): Promise<IssuerAnswer> {
    const known = readHandle(handle);
    const answer = await this.#ask(known, this.#limit(signal));
    const { certReqIds } = enrolmentRequestOf(order, this.#options.forwarding);
    return this.#outcome(answer, known, [known.certReqId, ...certReqIds]);
  }

  async confirm(
    handle: string,
    certificate: Uint8Array,
    accepted: boolean,
    signal?: AbortSignal,
  ): Promise<void> {
    await this.#confirm(readHandle(handle), certificate, accepted, this.#limit(signal));
  }

  /** RFC 9483 §4.2. */
  async revoke(certificate: Uint8Array, reason: RevocationReason, signal?: AbortSignal): Promise<void> {
    const { issuer, serial } = parseCertificate(certificate);
    const certDetails = parseCertTemplate(buildCertTemplate({ issuer, serial }));
    const crlEntryDetails = [reasonCodeExtension(reason)];
    const body: PkiBody = { type: 'rr', requests: [{ certDetails, crlEntryDetails }] };
    const answer = await this.#send({ body, ...this.#fresh() }, this.#limit(signal));
    readRevocation(answer, reason, this.#options.waiting.least);
  }

  reseal(): Promise<number> {
    return this.#file.reseal();
  }

  async describe(): Promise<IssuerDescription> {
    const { url, profile } = this.#options;
    const own = await this.#ownCertificate().catch(() => undefined);
    return { url, profile, clientCertificate: own?.der };
  }

  async health() {
    const own = await this.#ownCertificate().catch(() => undefined);
    if (own && own.notAfter <= this.#options.clock.now())
      return { ok: false, detail: 'the client certificate for the upstream CA has expired' };
    return this.#trouble === undefined ? { ok: true } : { ok: false, detail: this.#trouble };
  }

  /** Returns the certificate with which this gateway signs; undefined if it uses a shared secret. */
  async #ownCertificate(): Promise<Certificate | undefined> {
    const { identity } = this.#options;
    if (identity.kind === 'mac') return undefined;
    if (identity.kind === 'held') return parseCertificate(identity.certificates[0] ?? new Uint8Array(0));
    const { current } = await this.#credentials();
    return current && certificateOf(current);
  }

  /** Renews the gateway's own certificate (kur, RFC 9483 §4.1.3) when two thirds of its life are over. */
  async maintain(signal?: AbortSignal): Promise<void> {
    const { identity, clock } = this.#options;
    if (identity.kind !== 'credential' || !identity.renew) return;
    const kept = await this.#credentials();
    if (!kept.current || clock.now() < this.#renewAfter) return;
    const { notBefore, notAfter } = certificateOf(kept.current);
    if (clock.now() < notAfter - (notAfter - notBefore) / 3) return;
    try {
      await this.#renew(kept, kept.current, this.#limit(signal));
      this.#trouble = undefined;
    } catch (error) {
      const { detail, retryAfter } = toFault(error);
      this.#renewAfter = clock.now() + Math.max(60, retryAfter ?? 0) * 1000;
      this.#trouble = `the client certificate for the upstream CA cannot be renewed: ${detail}`;
      throw error;
    }
  }

  async #renew(kept: StoredCredential, current: Credential, limit: AbortSignal): Promise<void> {
    const { clock, log, name, implicitConfirm } = this.#options;
    const own = certificateOf(current);
    const next = kept.next ?? { ...(await newKey(own)), since: clock.now() };
    const time = next.since ?? clock.now();
    // The key is stored before it is certified, so that a crash cannot lose it.
    if (!kept.next) await this.#file.write({ current, next });
    // The seed is derived from the private key: it is secret, and the same when the request is repeated.
    const seed = new Uint8Array(hash('sha256', next.key, 'buffer').subarray(0, seedOctets));
    try {
      const answer = this.#renewal
        ? await this.#ask(this.#renewal, limit)
        : await this.#send({ body: updateOf(next), time, seed, implicitConfirm }, limit);
      const said = readEnrolmentResponse(answer, [0]);
      if (said.kind === 'waiting') {
        this.#renewAfter = clock.now() + this.#pause(said.seconds) * 1000;
        this.#renewal = {
          seed,
          nonce: senderNonceOf(answer),
          certReqId: said.certReqId,
          time: this.#renewAfter,
        };
        return;
      }
      const credential = renewed(next, own, said.certificate, said.others, clock.now());
      if (!said.confirmed)
        await this.#confirm(
          { seed, nonce: senderNonceOf(answer), certReqId: said.certReqId, time: clock.now() },
          said.certificate,
          true,
          limit,
        );
      await this.#file.write({ current: credential });
    } catch (error) {
      // The rejection is final: discard the request.
      if (toFault(error).code !== 'unavailable') {
        this.#renewal = undefined;
        await this.#file.write({ current });
      }
      throw error;
    }
    this.#renewal = undefined;
    log.info('client certificate for an upstream CA renewed', { issuer: name });
  }

  #outcome(
    answer: PkiMessage,
    { seed, transactionID }: Pick<CmpRequest, 'seed' | 'transactionID'>,
    certReqIds: readonly number[],
  ): IssuerAnswer {
    const said = readEnrolmentResponse(answer, certReqIds, transactionID !== undefined);
    const now = this.#options.clock.now();
    if (said.kind === 'waiting') {
      const retryAfter = this.#pause(said.seconds);
      const time = now + retryAfter * 1000;
      const { certReqId } = said;
      const handle = writeHandle({ seed, transactionID, nonce: senderNonceOf(answer), certReqId, time });
      return { kind: 'pending', handle, retryAfter };
    }
    const { certificate, others, certReqId, confirmed } = said;
    if (confirmed) return { kind: 'issued', certificate, chain: others };
    const confirm = writeHandle({ seed, transactionID, nonce: senderNonceOf(answer), certReqId, time: now });
    return { kind: 'issued', certificate, chain: others, confirm };
  }

  /** RFC 9483 §4.4. */
  #ask(handle: Handle, limit: AbortSignal): Promise<PkiMessage> {
    return this.#send(
      { body: { type: 'pollReq', certReqIds: [handle.certReqId] }, ...this.#next(handle) },
      limit,
    );
  }

  /** Returns the header values of the next message of a transaction. */
  #next({ seed, transactionID, nonce, time = Number.POSITIVE_INFINITY }: Handle): Omit<CmpRequest, 'body'> {
    return { seed, transactionID, recipNonce: nonce, time: Math.min(time, this.#options.clock.now()) };
  }

  /** certConf (RFC 9483 §4.1.1). */
  async #confirm(
    handle: Handle,
    certificate: Uint8Array,
    accepted: boolean,
    limit: AbortSignal,
  ): Promise<void> {
    const { body } = await this.#send(
      {
        body: { type: 'certConf', statuses: [certStatus(certificate, handle.certReqId, accepted)] },
        ...this.#next(handle),
      },
      limit,
    );
    if (body.type === 'pkiConf') return;
    if (body.type !== 'error')
      throw new Fault('malformed', `the upstream CA responded to a confirmation with ${body.type}`);
    if (body.status.failInfo?.includes('certConfirmed')) return;
    throw refusal(body.status);
  }

  /** RFC 9483 §4.3.1. */
  async #caCertificates(limit: AbortSignal): Promise<readonly Uint8Array[]> {
    const answer = await this.#send(this.#question(), limit);
    return caCertificatesOf(answer);
  }

  #question(): CmpRequest {
    return { body: { type: 'genm', infos: [{ type: infoTypes.caCerts.oid }] }, ...this.#fresh() };
  }

  /** Returns a new seed and time, for a request that is never repeated. */
  #fresh(): Pick<CmpRequest, 'seed' | 'time'> {
    const { entropy, clock } = this.#options;
    return { seed: entropy.bytes(seedOctets), time: clock.now() };
  }

  /**
   * Sends a request. A repeated request has the messageTime of the first attempt, so that an upstream that has answered it can
   * recognize it. If the upstream rejects that time (badTime), it has not processed the request: it is sent with the current time.
   */
  async #send(request: CmpRequest, limit: AbortSignal): Promise<PkiMessage> {
    const { clock, messageTime } = this.#options;
    const anchors = await this.#trustAnchors(limit);
    const answer = await this.#sendRequest(request, () => anchors, limit);
    const time = clock.now();
    if (!messageTime || !isBadTime(answer) || time - request.time < 1000) return answer;
    return this.#sendRequest({ ...request, time }, () => anchors, limit);
  }

  async #sendRequest(
    request: CmpRequest,
    anchorsFor: (answer: PkiMessage) => readonly Uint8Array[],
    limit: AbortSignal,
  ): Promise<PkiMessage> {
    const { identity, server, serverName, tolerances, clock } = this.#options;
    const secret = identity.kind === 'mac' ? identity.secret : undefined;
    return sendRequest(
      this.#options,
      await this.#protection(),
      request,
      (answer, within) => {
        // server_name applies to the server that sent the response, not to the signer of a nested message.
        const named = within ? undefined : serverName;
        const trusted = { secret, server, serverName: named, anchors: anchorsFor(answer) };
        return authenticate(answer, trusted, tolerances, clock.now());
      },
      limit,
    );
  }

  async #protection(): Promise<Protection> {
    const { identity } = this.#options;
    if (identity.kind === 'mac') return identity;
    if (identity.kind === 'held') return { ...identity, kind: 'signature' };
    const { current } = await this.#credentials();
    const { key, certificates } = current ?? identity.credential;
    if (this.#signing?.key !== key) this.#signing = { key, sign: signingWith(key) };
    return { kind: 'signature', certificates, sign: this.#signing.sign };
  }

  /** Returns the stored credential, unless the certificate in the configuration is newer. */
  async #credentials(): Promise<StoredCredential> {
    const { identity } = this.#options;
    const kept = await this.#file.read();
    if (identity.kind !== 'credential') return kept;
    const given = identity.credential;
    const newer = !kept.current || certificateOf(given).notBefore > certificateOf(kept.current).notBefore;
    return newer ? { ...(kept.current === undefined && kept), current: given } : kept;
  }

  async #trustAnchors(limit: AbortSignal): Promise<readonly Uint8Array[]> {
    const { trust } = this.#options;
    if (trust.kind === 'none') return [];
    this.#anchors ??=
      trust.kind === 'anchors' ? trust.certificates : [await this.#bootstrap(trust.sha256, limit)];
    return this.#anchors;
  }

  /** Fetches the trust anchor: the certificate that has the fingerprint in the configuration. No other certificate is accepted. */
  async #bootstrap(sha256: string, limit: AbortSignal): Promise<Uint8Array> {
    const pinned = (answer: PkiMessage): Uint8Array => {
      const named = answer.body.type === 'genp' ? namedBy(answer) : [];
      const found = [...named, ...answer.extraCerts].find((one) => fingerprint(one) === sha256);
      if (found) return found;
      if (answer.body.type === 'error') throw new Fault('unavailable', refusal(answer.body.status).detail);
      throw new Fault(
        'unavailable',
        'none of the CA certificates of the upstream CA has the configured fingerprint',
      );
    };
    return pinned(await this.#sendRequest(this.#question(), (answer) => [pinned(answer)], limit));
  }

  #pause(seconds: number | undefined): number {
    const { least, most } = this.#options.waiting;
    return Math.min(most, Math.max(least, seconds ?? 0));
  }

  #limit(signal: AbortSignal | undefined): AbortSignal {
    const limit = AbortSignal.timeout(this.#options.timeout);
    return signal ? AbortSignal.any([limit, signal]) : limit;
  }
}

const namedBy = ({ body }: PkiMessage): readonly Uint8Array[] =>
  body.type === 'genp' ? (findValue(body.infos, infoTypes.caCerts) ?? []) : [];

function caCertificatesOf(answer: PkiMessage): readonly Uint8Array[] {
  const { body } = answer;
  if (body.type === 'error') throw refusal(body.status);
  if (body.type !== 'genp')
    throw new Fault('malformed', `the upstream CA responded to a general message with ${body.type}`);
  const certificates = namedBy(answer);
  if (certificates.length === 0)
    throw new Fault(
      'malformed',
      'the upstream CA does not send its CA certificates: configure ca_certificates',
    );
  return certificates;
}

/** RFC 9810 §5.3.18: certHash uses the hash of the certificate's signature algorithm; if it has none, hashAlg names the hash. */
function certStatus(certificate: Uint8Array, certReqId: number, accepted: boolean) {
  const { signatureAlgorithm } = parseCertificate(certificate);
  const usual = signatureAlgorithm && signatureHash(signatureAlgorithm);
  const certHash = new Uint8Array(hash(usual ?? 'sha512', certificate, 'buffer'));
  const refused = {
    status: 'rejection',
    statusString: ['the certificate does not match the request'],
  } as const;
  return {
    certHash,
    certReqId,
    ...(!accepted && { statusInfo: refused }),
    ...(!usual && { hashAlg: der((b) => b.sequence((s) => s.oid(oid.sha512))) }),
  };
}
