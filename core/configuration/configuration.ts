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
  /** The certificates above it: its issuer first, up to the root. */
  readonly above: readonly Certificate[];
  /** The CA certificate and those above it, DER. The same array until the CA changes. */
  readonly chain: readonly Uint8Array[];
  readonly issuer: Issuer;
}

export interface LoadedRegistration {
  readonly record: DevidRegistration;
  matches(serialNumber: string): boolean;
}

/** A record that cannot be loaded. Postern works without it. */
export interface SetAside {
  readonly kind: Kind;
  readonly id: number;
  /** Empty for a record without a unique name. */
  readonly uniqueName: string;
  readonly reason: string;
}

/** A parsed and compiled snapshot of the configuration. */
export interface Configuration {
  readonly counter: number;
  readonly domains: readonly Domain[];
  readonly cas: readonly LoadedCa[];
  domainNamed(name: string): Domain | undefined;
  domain(id: number): Domain | undefined;
  profile(id: number): LoadedProfile | undefined;
  profileNamed(name: string): LoadedProfile | undefined;
  ca(id: number): LoadedCa | undefined;
  /** Returns the CAs with this subject, newest first. `subject` is RFC 4514 as `formatDistinguishedName` writes it. */
  casNamed(subject: string): readonly LoadedCa[];
  /** The oldest first. */
  readonly registrations: readonly LoadedRegistration[];
  /** Returns the anchors of a truststore for IDevIDs; empty if there is no truststore with this id. */
  idevidAnchors(truststore: number): readonly Certificate[];
  /** The approval policies, in the order in which they are applied. */
  readonly policies: readonly LoadedPolicy[];
  /** The active webhooks. */
  readonly webhooks: readonly Webhook[];
  /** The requirements of the current security level. */
  readonly security: LevelRules;
  /** The records that cannot be loaded, and why. */
  readonly setAside: readonly SetAside[];
}

/** Provides the current configuration. */
export interface WithConfiguration {
  readonly configuration: {
    /** Returns the configuration, at most a second old. Faults: unavailable. */
    current(): Configuration | Promise<Configuration>;
    /** Makes the next `current` check the store, because this process has changed something. */
    expire(): void;
  };
}

export function describeSetAside({ kind, id, uniqueName, reason }: SetAside): string {
  const [noun] = nouns[kind];
  const name = uniqueName === '' ? `${id}` : `"${uniqueName}" (id ${id})`;
  return `the ${noun} ${name} cannot be loaded: ${reason.slice(0, 200).toWellFormed()}`;
}

const mostNamed = 5;

/** Returns the health of the configuration: not ok while a record is set aside. */
export function configurationHealth({ setAside }: Pick<Configuration, 'setAside'>): Health {
  if (setAside.length === 0) return { ok: true };
  const named = setAside.slice(0, mostNamed).map(describeSetAside).join('; ');
  const more = setAside.length > mostNamed ? `; and ${setAside.length - mostNamed} more` : '';
  return { ok: false, detail: `${named}${more}` };
}
