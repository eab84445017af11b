import { encodeBase64Lines } from '#adapters/wire/base64.ts';
import { encodePem } from '#adapters/wire/pem.ts';
import { sameBytes } from '#core/der/bytes.ts';
import { Fault, toFault } from '#core/fault.ts';
import type { Issuer, IssuerAnswer, IssuerDescription, Order } from '#core/ports/issuer.ts';
import type { Clock, Log, Vault } from '#core/ports/platform.ts';
import { orderCaChain } from '#core/x509/ca-chain.ts';
import { fingerprint, parseCertificate, subjectAltNamesOf } from '#core/x509/certificate.ts';
import { sameGeneralNames } from '#core/x509/general-name.ts';
import { sameName } from '#core/x509/name.ts';
import { verifyPkcs10 } from '#core/x509/request.ts';
import {
  type Credential,
  CredentialFile,
  certificateOf,
  type NewKey,
  newKey,
  type StoredCredential,
  toPem,
} from '../upstream/credential.ts';
import { exchange, type TlsIdentity, type UpstreamCall, type UpstreamReply } from '../upstream/exchange.ts';
import { readCertsOnly, refusal, retryAfter, type Waiting } from './response.ts';

/**
 * The trust anchors: certificates (DER), the CA certificate with a SHA-256 (upper-case hex), or the CAs of the system.
 */
export type Trust =
  | { readonly kind: 'anchors'; readonly certificates: readonly Uint8Array[] }
  | { readonly kind: 'fingerprint'; readonly sha256: string }
  | { readonly kind: 'system' };

export interface RemoteEstOptions {
  readonly name: string;
  /** The URL including the label, without a trailing slash: `https://ca.example/.well-known/est/plant`. */
  readonly url: string;
  /** The label at the end of the URL, if there is one. */
  readonly label?: string | undefined;
  readonly trust: Trust;
  readonly login?: { readonly username: string; readonly password: string } | undefined;
  /** The initial client certificate. */
  readonly credential?: Credential | undefined;
  /** The common name of the client certificate that the gateway requests with its password and uses afterwards. */
  readonly credentialName?: string | undefined;
  /** Milliseconds for one call. */
  readonly timeout: number;
  readonly waiting: Waiting;
  /** The path of the renewed credential. */
  readonly file: string;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly log: Log;
}

/** Opens an upstream CA with EST (RFC 7030, RFC 8951), for which the gateway acts as a registration authority. */
export function openRemoteEst(options: RemoteEstOptions): Issuer {
  return new RemoteEst(options);
}

const day = 24 * 3_600_000;

class RemoteEst implements Issuer {
  readonly protocol = 'est';
  readonly timeout: number;
  /** RFC 7030 §4.2.3: after a 202 response, or without a response, the client sends the same request again. */
  readonly repeatable = true;
  readonly #options: RemoteEstOptions;
  readonly #file: CredentialFile;
  #anchors: readonly Uint8Array[] | undefined;
  #renewAfter = 0;
  #trouble: string | undefined;

  constructor(options: RemoteEstOptions) {
    this.#options = options;
    this.timeout = options.timeout + 1000;
    this.#file = new CredentialFile(options.file, options.vault, `remote-est ${options.name}`);
  }

  async chain(signal?: AbortSignal): Promise<readonly Uint8Array[]> {
    const limit = this.#limit(signal);
    const answer = await this.#send('GET', 'cacerts', undefined, limit);
    if (answer.status !== 200) throw this.#refusal(answer);
    const certificates = readCertsOnly(answer).map(parseCertificate);
    const anchors = (this.#anchors ?? []).map(parseCertificate);
    const chain = orderCaChain([...certificates, ...anchors], this.#options.clock.now());
    // The root may be a configured anchor, but the response must contain the issuing CA.
    if (!chain || !certificates.includes(chain[0]!))
      throw new Fault('malformed', 'the CA certificates of the upstream CA do not form a chain to a root');
    return chain.map(({ der }) => der);
  }

  check({ prepared: { request, template } }: Order): void {
    if (request?.kind !== 'pkcs10') {
      throw new Fault('unsupported', 'the upstream CA accepts only PKCS#10 requests, not CRMF', {
        hint: 'send a PKCS#10 request (p10cr)',
      });
    }
    // The upstream CA receives the request as signed by the device.
    if (!sameName(request.subject, template.subject))
      throw new Fault(
        'badCsr',
        'the upstream CA requires a request with the final subject, but the profile changes it',
      );
    if (!sameGeneralNames(request.subjectAltNames, subjectAltNamesOf(template)))
      throw new Fault(
        'badCsr',
        'the upstream CA requires a request with the final subject alternative names, but the profile changes them',
      );
  }

  async issue(order: Order, signal?: AbortSignal): Promise<IssuerAnswer> {
    this.check(order);
    const { der, publicKey } = order.prepared.request!;
    // For renewals too: simplereenroll renews the certificate of the TLS client (RFC 7030 §4.2.2), which is the
    // gateway's.
    const answer = await this.#send('POST', 'simpleenroll', der, this.#limit(signal));
    if (answer.status === 202) return { kind: 'pending', handle: '', retryAfter: this.#retryAfter(answer) };
    if (answer.status !== 200) throw this.#refusal(answer);
    return { kind: 'issued', ...pick(readCertsOnly(answer), publicKey.spki) };
  }

  /** Sends the same request again (RFC 7030 §4.2.3). */
  poll(_handle: string, order: Order, signal?: AbortSignal): Promise<IssuerAnswer> {
    return this.issue(order, signal);
  }

  reseal(): Promise<number> {
    return this.#file.reseal();
  }

  async describe(): Promise<IssuerDescription> {
    const { url, label } = this.#options;
    const { current } = await this.#credentials().catch(() => ({ current: undefined }));
    return { url, label, clientCertificate: current?.certificates[0] };
  }

  async health() {
    const { current } = await this.#credentials().catch(() => ({ current: undefined }));
    if (current && certificateOf(current).notAfter <= this.#options.clock.now())
      return { ok: false, detail: 'the client certificate for the upstream CA has expired' };
    return this.#trouble === undefined ? { ok: true } : { ok: false, detail: this.#trouble };
  }

  /** Requests the gateway's client certificate, or renews it after two thirds of its validity period. */
  async maintain(signal?: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const kept = await this.#credentials();
    if (!this.#isDue(kept.current) || clock.now() < this.#renewAfter) return;
    try {
      await this.#renew(kept, this.#limit(signal));
      this.#trouble = undefined;
    } catch (error) {
      const { detail, retryAfter } = toFault(error);
      this.#renewAfter = clock.now() + Math.max(60, retryAfter ?? 0) * 1000;
      this.#trouble = `the client certificate for the upstream CA cannot be renewed: ${detail}`;
      throw error;
    }
  }

  #isDue(current: Credential | undefined): boolean {
    if (!current) return this.#options.credentialName !== undefined;
    const { notBefore, notAfter } = certificateOf(current);
    return this.#options.clock.now() >= notAfter - (notAfter - notBefore) / 3;
  }

  async #renew(kept: StoredCredential, limit: AbortSignal): Promise<void> {
    const { clock, log, name, credentialName } = this.#options;
    const { current } = kept;
    const expired = current !== undefined && certificateOf(current).notAfter <= clock.now();
    const present = expired && credentialName !== undefined ? undefined : current;
    const next = kept.next ?? newKey(present ? certificateOf(present) : (credentialName ?? ''));
    // Store the key before it is certified.
    if (!kept.next) await this.#file.write({ current, next });
    const operation = present ? 'simplereenroll' : 'simpleenroll';
    const answer = await this.#send('POST', operation, next.request, limit);
    if (answer.status === 202) {
      this.#renewAfter = clock.now() + this.#retryAfter(answer) * 1000;
      return;
    }
    if (answer.status !== 200) {
      const fault = this.#refusal(answer);
      // Repeating a rejected request does not help.
      if (fault.code !== 'unavailable') await this.#file.write({ current });
      throw fault;
    }
    await this.#file.write({ current: ours(next, readCertsOnly(answer), clock.now()) });
    log.info('client certificate for an upstream CA renewed', { issuer: name });
  }

  /** Returns the stored credential, unless the configuration contains a later one. */
  async #credentials(): Promise<StoredCredential> {
    const kept = await this.#file.read();
    const { credential: given } = this.#options;
    if (!given) return kept;
    const newer = !kept.current || certificateOf(given).notBefore > certificateOf(kept.current).notBefore;
    return newer ? { current: given } : kept;
  }

  #limit(signal: AbortSignal | undefined): AbortSignal {
    const limit = AbortSignal.timeout(this.#options.timeout);
    return signal ? AbortSignal.any([limit, signal]) : limit;
  }

  async #send(
    method: UpstreamCall['method'],
    operation: string,
    der: Uint8Array | undefined,
    limit: AbortSignal,
  ): Promise<UpstreamReply> {
    const { login, url } = this.#options;
    const anchors = await this.#trusted(limit);
    const { current } = await this.#credentials();
    const usable = current && certificateOf(current).notAfter > this.#options.clock.now();
    const identity: TlsIdentity = { anchors, ...(usable && toPem(current)) };
    const authorization =
      login && `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`;
    return exchange(
      {
        url: new URL(`${url}/${operation}`),
        method,
        headers: {
          accept: '*/*',
          ...(authorization !== undefined && { authorization }),
          ...(der && { 'content-type': 'application/pkcs10', 'content-transfer-encoding': 'base64' }),
        },
        ...(der && { body: encodeBase64Lines(der) }),
        redirects: true,
      },
      identity,
      limit,
    );
  }

  async #trusted(limit: AbortSignal): Promise<TlsIdentity['anchors']> {
    const { trust } = this.#options;
    if (trust.kind === 'system') return 'system';
    this.#anchors ??=
      trust.kind === 'anchors' ? trust.certificates : [await this.#bootstrap(trust.sha256, limit)];
    return this.#anchors.map((der) => encodePem('CERTIFICATE', der));
  }

  /**
   * RFC 7030 §4.1.1: accepts from a server that is not authenticated yet only the certificate with the configured hash.
   * The request reveals nothing secret.
   */
  async #bootstrap(sha256: string, limit: AbortSignal): Promise<Uint8Array> {
    const url = new URL(`${this.#options.url}/cacerts`);
    const answer = await exchange(
      { url, method: 'GET', headers: { accept: '*/*' }, redirects: true },
      { anchors: 'anyone' },
      limit,
    );
    if (answer.status !== 200) throw this.#refusal(answer);
    const pinned = readCertsOnly(answer).find((der) => fingerprint(der) === sha256);
    if (pinned) return pinned;
    throw new Fault(
      'unavailable',
      'none of the CA certificates of the upstream CA has the configured fingerprint',
    );
  }

  #refusal(answer: UpstreamReply): Fault {
    return refusal(answer, this.#options.clock.now(), this.#options.waiting);
  }

  #retryAfter(answer: UpstreamReply): number {
    return retryAfter(answer, this.#options.clock.now(), this.#options.waiting);
  }
}

/**
 * Returns the certificate with this key and the other certificates. RFC 7030 §4.2.3 requires only one certificate, but
 * some servers send more.
 */
function pick(
  certificates: readonly Uint8Array[],
  spki: Uint8Array,
): { readonly certificate: Uint8Array; readonly chain: readonly Uint8Array[] } {
  const own = certificates.find((der) => sameBytes(parseCertificate(der).spki, spki)) ?? certificates[0]!;
  return { certificate: own, chain: certificates.filter((der) => der !== own) };
}

/** Returns the credential for a new key. Faults: malformed if the certificate is not for this key. */
function ours({ key, request }: NewKey, certificates: readonly Uint8Array[], now: number): Credential {
  const { publicKey, subject } = verifyPkcs10(request);
  const { certificate, chain } = pick(certificates, publicKey.spki);
  const { spki, notAfter, subject: named } = parseCertificate(certificate);
  if (!sameBytes(spki, publicKey.spki) || !sameName(subject, named) || notAfter <= now + day / 24)
    throw new Fault('malformed', 'the upstream CA returned a certificate that does not match the request');
  return { key, certificates: [certificate, ...chain] };
}
