/** The methods of RFC 9110 §9.3 and PATCH (RFC 5789). Any other one is answered with 501. */
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

/** Those that some resource allows: the Allow field of an answer that is not about one resource. */
export const allowedSomewhere = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
