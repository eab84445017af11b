import { decodeBase64 } from '#adapters/wire/base64.ts';
import { Fault } from '#core/fault.ts';

const someUri = /^[a-z][a-z0-9+.-]{1,20}:\/\//i;
const dataUri = /^data:[^,]{0,200},/i;

/**
 * The bytes of a file field: those of a multipart form, of a `data:` URI (RFC 2397), or a text's. Faults: malformed for any other
 * URI: the service fetches nothing that a caller names.
 */
export function readFile(value: string | Uint8Array): Uint8Array {
  if (typeof value !== 'string') return value;
  if (someUri.test(value)) {
    throw new Fault('malformed', 'expected the file itself: URLs are not fetched');
  }
  const head = dataUri.exec(value)?.[0];
  if (head === undefined) return Buffer.from(value, 'utf8');
  const data = percentDecoded(value.slice(head.length));
  return head.toLowerCase().endsWith(';base64,') ? decodeBase64(data.toString('latin1')) : data;
}

function percentDecoded(text: string): Buffer {
  if (!text.includes('%')) return Buffer.from(text, 'utf8');
  const octets = text.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return Buffer.from(octets, 'latin1');
}

/** A download that is called `name` with `ending`: `.pem`, `-chain.pem`. */
export const attachment = (
  body: string | Uint8Array,
  contentType: string,
  name: string,
  ending: string,
): Response =>
  new Response(Uint8Array.from(Buffer.from(body)), {
    headers: attachmentHeaders(contentType, name, ending),
  });

export const attachmentHeaders = (contentType: string, name: string, ending: string) => ({
  'content-type': contentType,
  'content-disposition': `attachment; filename="${safeName(name, ending)}"`,
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
});

const longestName = 100;

/** RFC 6266 §4.3: what no client stumbles over. A long name is cut before its ending, which says what kind of file it is. */
const safeName = (name: string, ending: string): string =>
  name.replace(/[^\w.-]+/g, '-').slice(0, longestName - ending.length) + ending;

/** Whether a client asks for JSON, as `namedIn` says. */
export const prefersJson = (accept: string | undefined): boolean =>
  namedIn(accept, ['application/json']) !== undefined;

/**
 * Which of the media types a client asks for: the one that it names in `Accept` and prefers, the first of several. Undefined when
 * it names none, or prefers something else (RFC 9110 §12.5.1).
 */
export function namedIn<T extends string>(accept: string | undefined, types: readonly T[]): T | undefined {
  const qualities = new Map<string, number>();
  for (const range of (accept ?? '').split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    qualities.set(type, Number(parameters.find((one) => one.startsWith('q='))?.slice(2) ?? 1) || 0);
  }
  const best = Math.max(...qualities.values());
  return types.find((type) => best > 0 && qualities.get(type) === best);
}
