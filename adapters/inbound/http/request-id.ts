import { randomFillSync } from 'node:crypto';

const octets = 16;
/** Octets of this many ids are drawn at once, because a call of the generator costs more than an id. */
const drawn = Buffer.alloc(256 * octets);
let used = drawn.length;

/**
 * Returns a new request id: 128 random bits in lower-case hexadecimal. It never derives from anything that the client
 * sent, so a client cannot make its requests look like those of another one.
 */
export function newRequestId(): string {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  used += octets;
  return drawn.toString('hex', used - octets, used);
}

/** version, trace-id, parent-id, trace-flags. Upper-case digits are invalid. */
const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const mostCharacters = 256;

/**
 * Returns the `traceparent` of a request (W3C Trace Context §3.2), or undefined for a missing or invalid one, which §3.3
 * lets a server ignore. Later versions may append members (§3.2.4), which are cut off.
 */
export function traceparentIn(field: string | undefined): string | undefined {
  if (field === undefined || field.length > mostCharacters) return undefined;
  const [, version, trace, parent, more] = form.exec(field) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (isZero(trace!) || isZero(parent!)) return undefined;
  return more === undefined ? field : field.slice(0, -more.length);
}

const isZero = (digits: string): boolean => /^0+$/.test(digits);
