import { Fault } from '#core/fault.ts';

interface BasicCredentials {
  readonly username: string;
  readonly password: string;
}

/** The challenge of a 401 (RFC 7617 §2, §2.1). */
export const basicChallenge = 'Basic realm="postern", charset="UTF-8"';

const longestField = 4096;
const form = /^basic +[A-Za-z0-9+/]+={0,2}$/i;
const control = /[\u0000-\u001f\u007f-\u009f]/;
const strictly = { lastChunkHandling: 'strict' } as const;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads user-id and password from the value of an Authorization field (RFC 7617 §2): the user-id ends at the first colon, and
 * neither holds a control character. Throws Fault `unauthenticated` for anything else.
 */
export function readBasicCredentials(authorization: string): BasicCredentials {
  const text = authorization.length > longestField ? undefined : decode(authorization);
  const colon = text?.indexOf(':') ?? -1;
  if (text === undefined || colon < 1 || control.test(text)) {
    throw new Fault('unauthenticated', 'the Authorization header does not contain Basic credentials');
  }
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

function decode(authorization: string): string | undefined {
  if (!form.test(authorization)) return undefined;
  const token = authorization.slice(authorization.lastIndexOf(' ') + 1);
  try {
    return utf8.decode(Uint8Array.fromBase64(token, strictly));
  } catch {
    return undefined;
  }
}
