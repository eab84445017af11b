import { definePlugin, Fault, type Issuer, type IssuerAnswer, type Order, readDer, Type, tag } from 'postern';

interface Options {
  /** Without a trailing slash. */
  readonly url: string;
  readonly token: string;
  /** Milliseconds. */
  readonly timeout: number;
}

const longestAnswer = 64 * 1024;

/**
 * Hands orders to a CA behind a small HTTP interface of one's own:
 *
 *     GET  {url}/chain                 its CA certificates from the issuing one up to the root, PEM
 *     POST {url}/certificates          a PKCS#10 request, DER → 200 and the certificate, DER; or 202, Retry-After and a handle, text
 *     GET  {url}/certificates/{handle} the same answers again
 *
 * Idempotency-Key names the order: the same one has to be answered the same.
 */
class HttpCa implements Issuer {
  /** Orders carry the device's own PKCS#10 request, as with EST. */
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
    if (certificates.length === 0) throw new Fault('malformed', 'the CA named no CA certificates');
    return certificates;
  }

  /** What administrators see; never the token. */
  async describe() {
    return { url: this.#options.url };
  }

  check({ prepared }: Order): void {
    if (prepared.request?.kind !== 'pkcs10') {
      throw new Fault('unsupported', 'this CA takes PKCS#10 requests only');
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

  /** Never again by itself: that is for the engine, which knows what has been asked. */
  async #call(path: string, init: RequestInit, signal?: AbortSignal): Promise<CaResponse> {
    const { url, token, timeout } = this.#options;
    const patience = AbortSignal.timeout(timeout);
    let answer: CaResponse;
    try {
      const response = await fetch(url + path, {
        ...init,
        headers: { ...init.headers, authorization: `Bearer ${token}` },
        redirect: 'error',
        signal: signal ? AbortSignal.any([signal, patience]) : patience,
      });
      const retryAfter = Number(response.headers.get('retry-after') ?? 60);
      answer = {
        status: response.status,
        retryAfter: retryAfter >= 0 ? Math.min(retryAfter, 86_400) : 60,
        body: await bounded(response),
      };
    } catch (error) {
      if (error instanceof Fault) throw error;
      throw new Fault('unavailable', 'the CA does not answer', { cause: error });
    }
    const { status, retryAfter } = answer;
    if (status === 200 || status === 202) return answer;
    if (status === 429 || status >= 500) {
      throw new Fault('unavailable', `the CA answers ${status}`, { retryAfter });
    }
    // What it has to say about it may name its own secrets: devices are shown the status alone.
    throw new Fault('forbidden', `the CA refuses: ${status}`);
  }
}

interface CaResponse {
  readonly status: number;
  /** Seconds. */
  readonly retryAfter: number;
  readonly body: Buffer;
}

/** Nothing that a CA answers is trusted, its length neither. */
async function bounded(response: Response): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > longestAnswer) throw new Fault('malformed', 'the answer of the CA is too long');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function read({ status, retryAfter, body }: CaResponse): IssuerAnswer {
  if (status === 200) return { kind: 'issued', certificate: element(body), chain: [] };
  const handle = body.toString().trim();
  if (!/^[\w.~-]{1,200}$/.test(handle)) throw new Fault('malformed', 'the CA gives no handle');
  return { kind: 'pending', handle, retryAfter };
}

/** One whole element of DER: what is in it, the engine checks against the order. */
const element = (bytes: Uint8Array): Uint8Array =>
  readDer(new Uint8Array(bytes), (reader) => reader.element(tag.sequence));

export default definePlugin({
  slot: 'issuers',
  name: 'my-plugin',
  summary: 'Has certificates issued by a CA behind a small HTTP interface.',
  config: Type.Object({
    url: Type.String({ pattern: '^https?://[^\\s?#]+$', title: 'a URL like https://ca.example/api' }),
    /** A secret: `{ file = "ca-token" }` or "${CA_TOKEN}" in the configuration. */
    token: Type.String({ minLength: 1 }),
    timeout_seconds: Type.Integer({ minimum: 1, maximum: 300, default: 20 }),
  }),
  open: async ({ url, token, timeout_seconds: seconds }) =>
    new HttpCa({ url: url.replace(/\/$/, ''), token, timeout: seconds * 1000 }),
});
