import { decodeBase64 } from '#adapters/wire/base64.ts';
import { Fault } from '#core/fault.ts';

const someUri = /^[a-z][a-z0-9+.-]{1,20}:\/\//i;
const dataUri = /^data:[^,]{0,200},/i;

/**
 * Returns the octets of a file field: from a multipart form, a `data:` URI (RFC 2397) or text. Throws Fault `malformed` for any other
 * URI, because Postern never fetches a URL that a client names.
 */
export function readFile(value: string | Uint8Array): Uint8Array {
  if (typeof value !== 'string') return value;
  if (someUri.test(value)) {
    throw new Fault('malformed', 'send the file itself: Postern does not fetch URLs');
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

/** Returns a download with the file name `name` plus `ending`, such as `.pem` or `-chain.pem`. */
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

/** Returns a file name with characters that every client accepts (RFC 6266 §4.3). A long name is cut before its ending. */
const safeName = (name: string, ending: string): string =>
  name.replace(/[^\w.-]+/g, '-').slice(0, longestName - ending.length) + ending;

/** Whether a client prefers JSON, see `preferredType`. */
export const prefersJson = (accept: string | undefined): boolean =>
  preferredType(accept, ['application/json']) !== undefined;

/**
 * Returns the first of `types` that `Accept` names with the highest quality (RFC 9110 §12.5.1). Undefined if it names none of
 * them, or prefers another type.
 */
export function preferredType<T extends string>(
  accept: string | undefined,
  types: readonly T[],
): T | undefined {
  const qualities = new Map<string, number>();
  for (const range of (accept ?? '').split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    qualities.set(type, Number(parameters.find((one) => one.startsWith('q='))?.slice(2) ?? 1) || 0);
  }
  const best = Math.max(...qualities.values());
  return types.find((type) => best > 0 && qualities.get(type) === best);
}
