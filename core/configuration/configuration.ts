import type { Issuer } from '../ports/issuer.ts';
import { nouns } from '../ports/nouns.ts';
import type { Health } from '../ports/platform.ts';
import type { Kind } from '../ports/store.ts';
import type { CompiledProfile } from '../profiles/apply.ts';
import type { ProfileRules } from '../profiles/language.ts';
import type { CertificateProfile, DevidRegistration, Domain } from '../records/domain.ts';
import type { IssuingCa } from '../records/issuing-ca.ts';
import type { Webhook } from '../records/webhook.ts';
import type { LevelRules } from '../security/levels.ts';
import type { Certificate } from '../x509/certificate.ts';
import type { LoadedPolicy } from './policy-rule.ts';

export interface LoadedProfile {
  readonly record: CertificateProfile;
  readonly rules: ProfileRules;
  readonly compiled: CompiledProfile;
}

export interface LoadedCa {
  readonly record: IssuingCa;
  readonly certificate: Certificate;
  /** Its issuer first, up to the root. */
  readonly above: readonly Certificate[];
  /** The CA certificate and those above it, DER. The same array for as long as the CA does not change. */
  readonly chain: readonly Uint8Array[];
  readonly issuer: Issuer;
}

export interface LoadedRegistration {
  readonly record: DevidRegistration;
  matches(serialNumber: string): boolean;
}

/** A record that cannot be loaded. Everything else is served without it. */
export interface SetAside {
  readonly kind: Kind;
  readonly id: number;
  /** Empty for a record that has none. */
  readonly uniqueName: string;
  readonly reason: string;
}

/** Read-mostly configuration as it stood at one moment, parsed and compiled. */
export interface Configuration {
  readonly counter: number;
  readonly domains: readonly Domain[];
  readonly cas: readonly LoadedCa[];
  domainNamed(name: string): Domain | undefined;
  domain(id: number): Domain | undefined;
  profile(id: number): LoadedProfile | undefined;
  profileNamed(name: string): LoadedProfile | undefined;
  ca(id: number): LoadedCa | undefined;
  /** CAs with this subject, newest first. `subject` is RFC 4514 as `formatDistinguishedName` writes it. */
  casNamed(subject: string): readonly LoadedCa[];
  /** The oldest first. */
  readonly registrations: readonly LoadedRegistration[];
  /** What a truststore for IDevIDs trusts; nothing where there is none with this id. */
  idevidAnchors(truststore: number): readonly Certificate[];
  /** What has to be approved, in the order in which they are asked. */
  readonly policies: readonly LoadedPolicy[];
  /** Whom to tell what happens: those that are active. */
  readonly webhooks: readonly Webhook[];
  /** What the security level of the service demands. */
  readonly security: LevelRules;
  /** The records that cannot be loaded, and why. */
  readonly setAside: readonly SetAside[];
}

/** Gives the configuration as it stands. */
export interface WithConfiguration {
  readonly configuration: {
    /** At most a second old. Faults: unavailable. */
    current(): Configuration | Promise<Configuration>;
    /** The next `current` looks again: this process has changed something. */
    expire(): void;
  };
}

export function describeSetAside({ kind, id, uniqueName, reason }: SetAside): string {
  const [noun] = nouns[kind];
  const name = uniqueName === '' ? `${id}` : `"${uniqueName}" (id ${id})`;
  return `the ${noun} ${name} cannot be loaded: ${reason.slice(0, 200).toWellFormed()}`;
}

const mostNamed = 5;

/** Health of the configuration: not ok while a record is set aside. */
export function configurationHealth({ setAside }: Pick<Configuration, 'setAside'>): Health {
  if (setAside.length === 0) return { ok: true };
  const named = setAside.slice(0, mostNamed).map(describeSetAside).join('; ');
  const more = setAside.length > mostNamed ? `; and ${setAside.length - mostNamed} more` : '';
  return { ok: false, detail: `${named}${more}` };
}
