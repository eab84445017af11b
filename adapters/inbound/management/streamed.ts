/** By response: the pieces of a body that is sent as it is encoded. */
const bodies = new WeakMap<Response, Iterable<Uint8Array>>();

/** A response with a long body of known length, of which no more than a piece at a time is in memory. */
export function streamed(
  pieces: Iterable<Uint8Array>,
  length: number,
  headers: Readonly<Record<string, string>>,
): Response {
  const response = new Response(null, { headers: { ...headers, 'content-length': String(length) } });
  bodies.set(response, pieces);
  return response;
}

/** The body of what `streamed` made. */
export function streamOf(response: Response): AsyncIterable<Uint8Array> | undefined {
  const pieces = bodies.get(response);
  return pieces && oneByOne(pieces);
}

/** A client that takes the pieces as fast as they are encoded does not keep other requests waiting. */
async function* oneByOne(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    yield piece;
    await new Promise(setImmediate);
  }
}
