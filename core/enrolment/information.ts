import type { Crls } from '../ca/crls.ts';
import { type RootUpdate, rootUpdate, successorOf } from '../ca/root-update.ts';
import { publicUrls } from '../configuration/ca-lookup.ts';
import type { Configuration, LoadedCa, WithConfiguration } from '../configuration/configuration.ts';
import { resolveCa, resolveProfile } from '../configuration/target.ts';
import { sameBytes } from '../der/bytes.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import { type ExpectedRequest, expectedRequest } from '../profiles/expected.ts';
import { parseProfileRules } from '../profiles/parse.ts';
import type { StoredCrl } from '../records/issuing-ca.ts';
import { domainCredentialProfile } from '../requester/admit.ts';
import type { Requester } from '../requester/requester.ts';
import { formatDistinguishedName, type Name } from '../x509/name.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'patterns' | 'store'>, WithConfiguration, WithSettings {}

/** Names a CRL by its issuer or by its distribution points. */
export interface WantedCrl {
  readonly issuers: readonly Name[];
  /** Distribution points. */
  readonly uris: readonly string[];
  /** thisUpdate of the CRL that the requester already has, ms since 1970. */
  readonly thisUpdate: number | undefined;
}

/** In octets. A message is encoded and protected in one piece, which delays every other request. */
const longestCrl = 4 * 2 ** 20;

/** Information that enrolment protocols offer to admitted requesters. All of it is DER. */
export interface Information {
  /**
   * Returns the root that replaces `root`, which is one of ours: its new key, even before that is in use, or else the present root of
   * the requester's domain. Returns undefined when there is none.
   */
  newerRoot(requester: Requester, root: Uint8Array): Promise<RootUpdate | undefined>;
  /** Returns the CRL of the domain's CA, if there is one. Faults: unsupported for a CRL that is too large for a message. */
  currentCrl(requester: Requester): Promise<Uint8Array | undefined>;
  /** Returns the wanted CRLs that are newer than the requester's. Faults: unsupported for one that is too large. */
  newerCrls(wanted: readonly WantedCrl[]): Promise<readonly Uint8Array[]>;
  /** Faults: notFound, forbidden (the profile). */
  expectedRequest(requester: Requester): Promise<ExpectedRequest>;
}

export function information(context: Dependencies, crls: Crls): Information {
  const newest = async (ca: LoadedCa): Promise<StoredCrl | undefined> => {
    const found = await crls.find(ca.record.id);
    if (found && found.crl.length > longestCrl) {
      throw new Fault(
        'unsupported',
        `the CRL is larger than ${longestCrl / 2 ** 20} MiB, which is too large for a message`,
        {
          hint: `download it from ${publicUrls(context.settings, ca.record.id).crl}`,
        },
      );
    }
    return found;
  };
  return {
    async newerRoot({ configuration, domain }, root) {
      const present = resolveCa(configuration, domain).chain.at(-1);
      const next = await successorOf(context, configuration, root, present);
      return next && rootUpdate(context, configuration, root, next);
    },
    async currentCrl({ configuration, domain }) {
      const ca = resolveCa(configuration, domain);
      return (await newest(ca))?.crl;
    },
    async newerCrls(wanted) {
      const configuration = await context.configuration.current();
      const found = new Set<LoadedCa>();
      const result: Uint8Array[] = [];
      for (const crl of wanted) {
        for (const ca of casOf(context, configuration, crl)) {
          if (found.has(ca)) continue;
          found.add(ca);
          const stored = await newest(ca);
          // Times in X.509 have whole seconds.
          const since = crl.thisUpdate ?? Number.NEGATIVE_INFINITY;
          const isNewer = stored && Math.floor(stored.thisUpdate / 1000) * 1000 > since;
          // CAs with the same name and key share one CRL.
          if (isNewer && !result.some((other) => sameBytes(other, stored.crl))) result.push(stored.crl);
        }
      }
      return result;
    },
    async expectedRequest({ configuration, device, domain, target }) {
      const { record } = resolveProfile(configuration, domain, target.profile ?? domainCredentialProfile);
      const rules = parseProfileRules(record.profile, context.patterns);
      return expectedRequest(rules, { device, domain, request: undefined });
    },
  };
}

function casOf(
  context: WithSettings,
  configuration: Configuration,
  { issuers, uris }: WantedCrl,
): LoadedCa[] {
  const byName = issuers.flatMap((name) => configuration.casNamed(formatDistinguishedName(name)));
  const byUri = configuration.cas.filter(({ record }) =>
    uris.includes(publicUrls(context.settings, record.id).crl),
  );
  return [...byName, ...byUri];
}
