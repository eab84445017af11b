import type { Entropy } from '../ports/platform.ts';
import { credentialType } from '../records/credential.ts';

/** The default name of a credential type, and the shipped profile for its certificates. */
interface CredentialKind {
  readonly slug: string;
  /** Absent for CAs, which need no profile. */
  readonly profileName?: string;
}

const kinds: Readonly<Record<number, CredentialKind>> = {
  [credentialType.tlsServer]: { slug: 'tls-server', profileName: 'tls_server' },
  [credentialType.rootCa]: { slug: 'root-ca' },
  [credentialType.issuingCa]: { slug: 'issuing-ca' },
  [credentialType.issuedCredential]: { slug: 'issued-credential', profileName: 'tls_client' },
  [credentialType.devOwnerId]: { slug: 'owner-id', profileName: 'dev_owner_id' },
  [credentialType.signer]: { slug: 'signer', profileName: 'code_signing' },
};

export const profileNameOf = (type: number): string => kinds[type]?.profileName ?? 'tls_client';

/** Returns a name such as `signer-3f9a01c2`. */
export const newUniqueName = ({ entropy }: { readonly entropy: Entropy }, type: number): string =>
  `${kinds[type]?.slug ?? 'credential'}-${Buffer.from(entropy.bytes(4)).toString('hex')}`;
