import { decodeBase64 } from '#adapters/wire/base64.ts';
import { berToDer } from '#adapters/wire/ber.ts';
import { readCertificates } from '#adapters/wire/pkcs7.ts';
import { tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';
import type { UpstreamReply } from '../upstream/exchange.ts';

/** The bounds for Retry-After in seconds; `usual` applies to a response without Retry-After. */
export interface Waiting {
  readonly least: number;
  readonly most: number;
  readonly usual: number;
}

const mostCertificates = 32;

/**
 * Reads the certificates (DER) of a certs-only response (RFC 7030 §4.1.3, §4.2.3). Servers disagree about headers, so only the
 * body counts: base64 with or without line breaks (RFC 8951 §3.1); some servers send PEM or plain DER. Faults: malformed.
 */
export function readCertsOnly({ body, headers }: UpstreamReply): Uint8Array[] {
  let certificates: Uint8Array[];
  try {
    certificates = readCertificates(berToDer(body[0] === tag.sequence ? body : decodeText(body)));
  } catch (cause) {
    const type = headers['content-type']?.slice(0, 60).replace(/[^\x20-\x7e]/g, '?');
    const said = type === undefined ? '' : ` (Content-Type ${type})`;
    throw new Fault('malformed', `the response of the upstream CA is not a PKCS #7 certificate list${said}`, {
      cause,
    });
  }
  if (certificates.length === 0)
    throw new Fault('malformed', 'the response of the upstream CA contains no certificate');
  if (certificates.length > mostCertificates)
    throw new Fault('malformed', 'the response of the upstream CA contains too many certificates');
  return certificates;
}

const decodeText = (body: Uint8Array): Uint8Array =>
  decodeBase64(
    Buffer.from(body)
      .toString('latin1')
      .replace(/-----(?:BEGIN|END) [A-Z0-9 ]{1,30}-----/g, ''),
  );

/** Returns the seconds until the next attempt: Retry-After in either form (RFC 9110 §10.2.3), within bounds. `now`: ms since 1970. */
export function retryAfter({ headers }: UpstreamReply, now: number, { least, most, usual }: Waiting): number {
  const wish = headers['retry-after']?.trim();
  const seconds =
    wish === undefined ? usual : /^\d{1,9}$/.test(wish) ? Number(wish) : (Date.parse(wish) - now) / 1000;
  return Math.min(most, Math.max(least, Number.isFinite(seconds) ? Math.ceil(seconds) : usual));
}

/** Returns the Fault for a response whose status is neither 200 nor 202. */
export function refusal(answer: UpstreamReply, now: number, waiting: Waiting): Fault {
  const { status } = answer;
  const said = `the upstream CA responded with status ${status}${text(answer)}`;
  if (status === 400) return new Fault('badCsr', said);
  if (status === 401)
    return new Fault('unavailable', 'the upstream CA rejects the credentials of this gateway');
  if (status === 404 || status === 405)
    return new Fault('unavailable', `the upstream CA has no EST service at the configured URL (${status})`);
  const again = status === 408 || status === 425 || status === 429 || status >= 500;
  if (again)
    return new Fault('unavailable', said, {
      retryAfter: retryAfter(answer, now, { ...waiting, usual: 0, least: 0 }),
    });
  if (status >= 400) return new Fault('forbidden', said);
  return new Fault('malformed', said);
}

/** RFC 7030 §4.2.3: an error response may contain plain text; its beginning becomes part of the error message. */
function text({ body, headers }: UpstreamReply): string {
  if (!/^text\/plain\b/i.test(headers['content-type'] ?? '')) return '';
  const line = Buffer.from(body.subarray(0, 400))
    .toString('utf8')
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
  return line === '' ? '' : `: ${line.slice(0, 150)}`;
}
