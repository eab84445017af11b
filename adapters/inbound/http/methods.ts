/** The methods of RFC 9110 §9.3 and PATCH (RFC 5789). The response to any other method is 501. */
export const knownMethods: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'CONNECT',
]);

/** The methods that at least one resource allows: the Allow field of a response that concerns no single resource. */
export const allowedSomewhere = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

const token = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]";
const whole = new RegExp(`^${token}+ \\S+ HTTP/1\\.[01]\\r?$`);
const begun = new RegExp(`^${token}*(?: \\S*(?: [HTP/.01]*\\r?)?)?$`);

/** In octets. A longer line counts as malformed. */
const longest = 2048;

/**
 * Distinguishes a request with an unknown method (RFC 9110 §9.1), which gets 501, from octets that are not HTTP. The parser stops
 * at the first letter that matches no method it knows, so this class reads the rest of the line.
 */
export class UnknownMethodLine {
  #line = '';

  /** Reads the next octets of the line. Returns undefined while the line is undecided. */
  read(octets: Uint8Array): 'unknown method' | 'malformed' | undefined {
    const end = octets.indexOf(10);
    this.#line += Buffer.from(octets.subarray(0, end < 0 ? longest + 1 : end)).toString('latin1');
    if (this.#line.length > longest || !begun.test(this.#line)) return 'malformed';
    if (end < 0) return undefined;
    return whole.test(this.#line) ? 'unknown method' : 'malformed';
  }
}
