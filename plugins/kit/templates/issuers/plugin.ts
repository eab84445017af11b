import { definePlugin, Fault, type Issuer, type IssuerAnswer, type Order, readDer, Type, tag } from 'postern';

interface Options {
  /** Without a trailing slash. */
  readonly url: string;
  readonly token: string;
  /** Milliseconds. */
  readonly timeout: number;
}

const maxResponseOctets = 64 * 1024;

/**
 * Forwards orders to a CA with a small HTTP interface:
 *
 *     GET  {url}/chain                 the CA certificates from the issuing CA up to the root (PEM)
 *     POST {url}/certificates          takes a PKCS#10 request (DER); returns 200 and the certificate (DER), or 202 with
 *                                      Retry-After and a handle (text)
 *     GET  {url}/certificates/{handle} returns the same responses as POST
 *
 * Idempotency-Key identifies the order: requests with the same key must get the same certificate.
 */
class HttpCa implements Issuer {
  /** Orders contain the PKCS#10 request of the device, as with EST. */
  readonly protocol = 'est';
  readonly repeatable = true;
  readonly timeout: number;
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
    this.timeout = options.timeout;
  }

  async chain(signal?: AbortSignal): Promise<readonly Uint8Array[]> {
    const { body } = await this.#call('/chain', {}, signal);
    const blocks = body.toString('latin1').match(/-----BEGIN CERTIFICATE-----[^-]+-----END/g) ?? [];
    const certificates = blocks.map((pem) =>
      element(Buffer.from(pem.replace(/-----(?:BEGIN CERTIFICATE-----|END)/g, ''), 'base64')),
    );
    if (certificates.length === 0) throw new Fault('malformed', 'the CA sent no CA certificates');
    return certificates;
  }

  /** Shown to administrators, so it must not contain the token. */
  async describe() {
    return { url: this.#options.url };
  }

  check({ prepared }: Order): void {
    if (prepared.request?.kind !== 'pkcs10') {
      throw new Fault('unsupported', 'this CA accepts only PKCS#10 requests');
    }
  }

  async issue(order: Order, signal?: AbortSignal): Promise<IssuerAnswer> {
    this.check(order);
    const { request, template } = order.prepared;
    const headers = {
      'content-type': 'application/pkcs10',
      'idempotency-key': Buffer.from(template.serial).toString('hex'),
    };
    return read(
      await this.#call('/certificates', { method: 'POST', headers, body: Buffer.from(request!.der) }, signal),
    );
  }

  async poll(handle: string, _: Order, signal?: AbortSignal): Promise<IssuerAnswer> {
    return read(await this.#call(`/certificates/${encodeURIComponent(handle)}`, {}, signal));
  }

  async health() {
    return { ok: true };
  }

  /** Sends one request. It never retries: the upstream engine does, because it knows which orders are open. */
  async #call(path: string, init: RequestInit, signal?: AbortSignal): Promise<CaResponse> {
    const { url, token, timeout } = this.#options;
    const timedOut = AbortSignal.timeout(timeout);
    let result: CaResponse;
    try {
      const response = await fetch(url + path, {
        ...init,
        headers: { ...init.headers, authorization: `Bearer ${token}` },
        redirect: 'error',
        signal: signal ? AbortSignal.any([signal, timedOut]) : timedOut,
      });
      const retryAfter = Number(response.headers.get('retry-after') ?? 60);
      result = {
        status: response.status,
        retryAfter: retryAfter >= 0 ? Math.min(retryAfter, 86_400) : 60,
        body: await bounded(response),
      };
    } catch (error) {
      if (error instanceof Fault) throw error;
      throw new Fault('unavailable', 'the CA does not respond', { cause: error });
    }
    const { status, retryAfter } = result;
    if (status === 200 || status === 202) return result;
    if (status === 429 || status >= 500) {
      throw new Fault('unavailable', `the CA responds with status ${status}`, { retryAfter });
    }
    // The text of the response may contain secrets of the CA, so devices see only the status.
    throw new Fault('forbidden', `the CA rejects the request with status ${status}`);
  }
}

interface CaResponse {
  readonly status: number;
  /** Seconds. */
  readonly retryAfter: number;
  readonly body: Buffer;
}

/** Reads the body of a response. A response of the CA is untrusted input, so its length is limited. */
async function bounded(response: Response): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > maxResponseOctets) throw new Fault('malformed', 'the response of the CA is too long');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function read({ status, retryAfter, body }: CaResponse): IssuerAnswer {
  if (status === 200) return { kind: 'issued', certificate: element(body), chain: [] };
  const handle = body.toString().trim();
  if (!/^[\w.~-]{1,200}$/.test(handle)) throw new Fault('malformed', 'the CA sent no valid handle');
  return { kind: 'pending', handle, retryAfter };
}

/** Returns `bytes` if they are one DER element. The upstream engine checks the contents against the order. */
const element = (bytes: Uint8Array): Uint8Array =>
  readDer(new Uint8Array(bytes), (reader) => reader.element(tag.sequence));

export default definePlugin({
  slot: 'issuers',
  name: 'my-plugin',
  summary: 'Requests certificates from a CA with a small HTTP interface.',
  config: Type.Object({
    url: Type.String({ pattern: '^https?://[^\\s?#]+$', title: 'a URL like https://ca.example/api' }),
    /** A secret: `{ file = "ca-token" }` or "${CA_TOKEN}" in the configuration. */
    token: Type.String({ minLength: 1 }),
    timeout_seconds: Type.Integer({ minimum: 1, maximum: 300, default: 20 }),
  }),
  open: async ({ url, token, timeout_seconds: seconds }) =>
    new HttpCa({ url: url.replace(/\/$/, ''), token, timeout: seconds * 1000 }),
});
