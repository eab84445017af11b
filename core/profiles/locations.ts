import { type Extension, shared } from '../x509/extension.ts';
import {
  authorityInfoAccessExtension,
  crlDistributionPointsExtension,
} from '../x509/extensions/locations.ts';
import { quote } from '../x509/visible.ts';
import type { ProfileRules } from './language.ts';
import { isUri } from './names.ts';
import type { Tools } from './template.ts';
import type { Trace } from './values.ts';

/** The URLs that the service publishes for the issuing CA; an empty text for none. */
export interface Urls {
  readonly crl: string;
  /** The CA certificate. */
  readonly aia: string;
  readonly ocsp?: string;
}

type Written = NonNullable<ProfileRules['extensions']>;

/** Returns an extension with locations; undefined if there are none. */
type LocationRules = (urls: Urls, trace?: Trace) => Extension | undefined;

export function compileCrlDistributionPoints(
  written: Written['crlDistributionPoints'],
  tools: Tools,
): LocationRules | undefined {
  if (!written) return undefined;
  const field = 'extensions.crlDistributionPoints';
  const extra = checked(written.urls, `${field}.urls`, fetchable, tools);
  if (!written.service && extra.length === 0) tools.problems.add(field, 'has no URL');
  const uris = (urls: Urls): string[] => [...(written.service && urls.crl ? [urls.crl] : []), ...extra];
  return explained(field, uris, (urls) => crlDistributionPointsExtension(uris(urls)));
}

export function compileAuthorityInfoAccess(
  written: Written['authorityInfoAccess'],
  tools: Tools,
): LocationRules | undefined {
  if (!written) return undefined;
  const field = 'extensions.authorityInfoAccess';
  const moreIssuers = checked(written.caIssuers, `${field}.caIssuers`, fetchable, tools);
  const moreOcsp = checked(written.ocsp, `${field}.ocsp`, overHttp, tools);
  if (!written.service && moreIssuers.length + moreOcsp.length === 0) tools.problems.add(field, 'has no URL');
  const access = (urls: Urls) => ({
    ocsp: [...(written.service && urls.ocsp ? [urls.ocsp] : []), ...moreOcsp],
    caIssuers: [...(written.service && urls.aia ? [urls.aia] : []), ...moreIssuers],
  });
  const uris = (urls: Urls): string[] => Object.values(access(urls)).flat();
  return explained(field, uris, (urls) => authorityInfoAccessExtension(access(urls)));
}

/**
 * RFC 5280 §4.2.1.13, §4.2.2.1, RFC 6960 §A.1. Never https: a client would have to validate another certificate first.
 */
const fetchable = [/^(?:http|ldap):\/\//i, 'http or ldap'] as const;
const overHttp = [/^http:\/\//i, 'http'] as const;

function checked(
  urls: readonly string[] | undefined,
  path: string,
  [schemes, names]: readonly [RegExp, string],
  { problems }: Tools,
): readonly string[] {
  const wrong = urls?.find((url) => !isUri(url) || !schemes.test(url));
  if (wrong !== undefined) problems.add(path, `${quote(wrong)} is not a URI with the scheme ${names}`);
  return urls ?? [];
}

/** Keeps the encoding, because a domain's URLs are the same from request to request. */
function explained(
  field: string,
  uris: (urls: Urls) => readonly string[],
  encode: (urls: Urls) => Extension,
): LocationRules {
  let last: { readonly urls: Urls; readonly made: Extension | undefined } | undefined;
  return (urls, trace) => {
    if (!last || !sameUrls(last.urls, urls)) {
      last = { urls: { ...urls }, made: uris(urls).length > 0 ? shared(encode(urls)) : undefined };
    }
    if (last.made) trace?.(field, uris(urls).join(', '), 'required by the profile');
    return last.made;
  };
}

const sameUrls = (a: Urls, b: Urls): boolean =>
  a === b || (a.crl === b.crl && a.aia === b.aia && a.ocsp === b.ocsp);
