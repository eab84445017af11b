const token = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]";
const whole = new RegExp(`^${token}+ \\S+ HTTP/1\\.[01]\\r?$`);
/** As far as it has come. */
const begun = new RegExp(`^${token}*(?: \\S*(?: [HTP/.01]*\\r?)?)?$`);

/** Octets. A longer line is not worth telling why it is refused. */
const longest = 2048;

/**
 * Tells a request with a method that the parser does not know (RFC 9110 §9.1) from octets that are no HTTP. The parser
 * gives up at the first letter that fits no method it knows, so this reads the rest of the line.
 */
export class UnknownMethodLine {
  #line = '';

  /** Takes the next octets of the line; undefined while it can still become either. */
  read(octets: Uint8Array): 'unknown method' | 'malformed' | undefined {
    const end = octets.indexOf(10);
    this.#line += Buffer.from(octets.subarray(0, end < 0 ? longest + 1 : end)).toString('latin1');
    if (this.#line.length > longest || !begun.test(this.#line)) return 'malformed';
    if (end < 0) return undefined;
    return whole.test(this.#line) ? 'unknown method' : 'malformed';
  }
}
