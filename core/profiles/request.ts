import type { PublicKey } from '../x509/public-key.ts';
import type { VerifiedRequest } from '../x509/request.ts';

/** What a profile looks at in a request. Where the key is yet to be made, its octets are none. */
export interface ProfileRequest extends Pick<VerifiedRequest, 'subject' | 'extensions' | 'subjectAltNames'> {
  readonly publicKey: Pick<PublicKey, 'type' | 'spki' | 'bytes'>;
}
