import { demand, type Principal } from '../access/principal.ts';
import type { Configuration, WithConfiguration } from '../configuration/configuration.ts';
import type { Issuer } from '../ports/issuer.ts';
import type { Health } from '../ports/platform.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import { openUpstreamStates } from '../records/upstream-request.ts';
import type { CircuitState, WithCircuits } from '../upstream/circuits.ts';
import { parseCertificate } from '../x509/certificate.ts';
import { formatDistinguishedName } from '../x509/name.ts';

interface Dependencies
  extends Pick<Ports, 'issuers' | 'store'>,
    WithCircuits,
    WithConfiguration,
    WithSettings {}

const countedUpTo = 10_000;

/**
 * A configured upstream CA. All gateways report the same `pendingRequests` and `cas`. The other values are those of
 * this process, because each process watches its own calls and has its own files.
 */
export interface ConfiguredIssuer {
  readonly name: string;
  /** The protocol, which determines the type of CA; null: no CA can be created from it. */
  readonly protocol: NonNullable<Issuer['protocol']> | null;
  /** null: the plugin does not describe its upstream CA. */
  readonly url: string | null;
  readonly label: string | null;
  readonly profile: string | null;
  /** The certificate with which this gateway authenticates itself. `notAfter` in milliseconds since 1970. */
  readonly clientCertificate: { readonly subject: string; readonly notAfter: number } | null;
  readonly circuit: CircuitState;
  readonly health: Health;
  /** Counted up to 10 000. */
  readonly pendingRequests: number;
  /** The issuing CAs that forward requests to it, or that it certified. */
  readonly cas: readonly number[];
  /** See `GatewaySettings.instance`. */
  readonly instance: string;
}

/** Lists the upstream CAs in the order of the configuration. Faults: forbidden. */
export async function configuredIssuers(
  context: Dependencies,
  principal: Principal,
): Promise<readonly ConfiguredIssuer[]> {
  demand(principal, 'cas.read');
  const configuration = await context.configuration.current();
  return Promise.all(
    [...context.issuers].map(([name, issuer]) => shown(context, configuration, name, issuer)),
  );
}

async function shown(
  { circuits, settings, store }: Dependencies,
  { cas }: Configuration,
  name: string,
  issuer: Issuer,
): Promise<ConfiguredIssuer> {
  const circuit = circuits.state(name);
  const [{ url, label, profile, clientCertificate }, health, pendingRequests] = await Promise.all([
    described(issuer),
    upstreamHealth({ circuits }, name, issuer),
    store.count(
      'upstreamRequest',
      [
        { field: 'state', is: 'oneOf', value: openUpstreamStates },
        { field: 'issuer', is: 'equal', value: name },
      ],
      countedUpTo,
    ),
  ]);
  return {
    name,
    protocol: issuer.protocol ?? null,
    url,
    label,
    profile,
    clientCertificate,
    circuit,
    health,
    pendingRequests,
    cas: cas.filter(({ record }) => record.issuer === name).map(({ record }) => record.id),
    instance: settings.instance,
  };
}

type Described = Pick<ConfiguredIssuer, 'url' | 'label' | 'profile' | 'clientCertificate'>;

async function described(issuer: Issuer): Promise<Described> {
  const {
    url = null,
    label = null,
    profile = null,
    clientCertificate: der,
  } = (await issuer.describe?.()) ?? {};
  if (!der) return { url, label, profile, clientCertificate: null };
  const { subject, notAfter } = parseCertificate(der);
  return { url, label, profile, clientCertificate: { subject: formatDistinguishedName(subject), notAfter } };
}

/** Returns what the issuer knows about itself, unless calls to it have failed. */
export async function upstreamHealth(
  { circuits }: WithCircuits,
  name: string,
  issuer: Pick<Issuer, 'health'>,
): Promise<Health> {
  const watched = circuits.health(name);
  return watched.ok ? issuer.health() : watched;
}
