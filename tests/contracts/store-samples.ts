import type { AuditEvent } from '#core/audit/event.ts';
import type { Kind, Store, Values, Write } from '#core/ports/store.ts';

type StoredKind = Exclude<Kind, 'auditEvent'>;
type Insert<K extends StoredKind> = { readonly op: 'insert'; readonly kind: K; readonly values: Values<K> };

const der = Uint8Array.of(0x30, 0x03, 0x02, 0x01, 0x80);
const large = new Uint8Array(70_000).map((_, i) => i * 7);
const key = { store: 'keyfile', id: '0b8c' };

/** One record of each kind with a value in every field, in an order in which they can be inserted together. */
const samples: { readonly [K in StoredKind]: Values<K> } = {
  profile: {
    createdAt: 1,
    uniqueName: 'tls',
    profile: { subject: [{ deep: null }], n: 1.5, s: '"\\é\u0000' },
  },
  issuingCa: {
    createdAt: 1_790_000_000_000,
    updatedAt: 1_790_000_000_001,
    uniqueName: 'issuing',
    commonName: 'Plant\'s CA \\ "1" {a,b} %_ é 🔑',
    type: 1,
    isActive: true,
    certificate: large,
    chain: [der, new Uint8Array(0)],
    key,
    issuer: 'plant',
    crlNumber: 7,
    lastCrlIssuedAt: 1_790_000_000_002,
    lastRevocationAt: 1_790_000_000_001,
  },
  crl: { ca: 1, number: 7, thisUpdate: 1, nextUpdate: 2, crl: large },
  domain: { createdAt: 1, uniqueName: 'default', issuingCa: 1, profiles: [{ profile: 1, alias: 'x' }] },
  credential: {
    createdAt: 1,
    updatedAt: 2,
    uniqueName: 'signer',
    type: 5,
    commonName: 'signer',
    notValidAfter: 3,
    signatureSuite: 'ecdsa-sha256',
    certificate: der,
    chain: [],
    key,
    isActive: false,
    issuingCa: 1,
  },
  signedMessage: { createdAt: 1, signer: 1, signerName: 'signer', hashValue: 'ab', signature: 'cd' },
  truststore: { createdAt: 1, uniqueName: 'makers', intendedUsage: 0, certificates: [der, large] },
  onboardingConfig: {
    createdAt: 1,
    protocols: ['cmp', 'est'],
    estPassword: der,
    cmpSharedSecret: new Uint8Array(0),
    onboardingStatus: 1,
    onboardingProtocol: 'est',
    idevidTruststore: 1,
  },
  noOnboardingConfig: { createdAt: 1, protocols: [], estPassword: der, cmpSharedSecret: der },
  device: {
    createdAt: 1,
    commonName: 'pump-1',
    serialNumber: 'SN 1',
    deviceType: 3,
    domain: 1,
    onboardingConfig: 1,
    noOnboardingConfig: 1,
  },
  certificate: {
    createdAt: 1,
    commonName: 'pump-1',
    ca: 1,
    serialNumber: '01AB',
    subject: 'CN=pump-1',
    notValidBefore: 2,
    notValidAfter: 253_402_300_799_000,
    fingerprint: 'FF00',
    der: large,
    status: 'revoked',
    revokedAt: 3,
    revocationReason: 'keyCompromise',
    invalidityDate: -1,
    device: 1,
    domain: 1,
    profile: 1,
    protocol: 'est',
    hidden: true,
  },
  certificateKey: { createdAt: 1, certificate: 1, key },
  transaction: {
    createdAt: 1,
    name: 'ABCD',
    operation: 'ir',
    requester: 'device:1',
    device: 1,
    domain: 1,
    profile: 'tls',
    state: 'pending',
    expiresAt: 2,
    certificate: 1,
    certReqId: 0,
    request: der,
    openingDigest: der,
    openingAnswer: large,
    latestDigest: der,
    latestAnswer: der,
    nonce: der,
  },
  role: { createdAt: 1, uniqueName: 'Admin', permissions: ['devices.read'], isProtected: true },
  user: { createdAt: 1, username: 'admin', passwordHash: '$argon2id$', role: 1, isActive: true },
  serviceAccount: {
    createdAt: 1,
    uniqueName: 'line-1',
    role: 1,
    isActive: true,
    secretHash: der,
    generation: 2,
  },
  session: { createdAt: 1, user: 1, generation: 0, expiresAt: 2, isRevoked: false },
  backup: {
    createdAt: 1,
    remoteDirectory: '/srv/backups',
    user: 'admin',
    lastRunAt: 2,
    lastResult: 'failed: é',
  },
  setting: { name: 'tokenKey', value: der },
  loginFailure: { at: 1, subject: 'name:admin' },
};

/** An insert of the sample of a kind, with other values where given. */
export const insert = <K extends StoredKind>(kind: K, values: Partial<Values<K>> = {}): Insert<K> & Write =>
  ({ op: 'insert', kind, values: { ...samples[kind], ...values } }) as unknown as Insert<K> & Write;

export const sampleKinds = Object.keys(samples) as readonly StoredKind[];

/** Fields of a sample that null fits as well. Checked by the compiler against the records. */
export const nullable: { readonly [K in StoredKind]?: Partial<Values<K>> } = {
  issuingCa: { key: null, issuer: null, lastCrlIssuedAt: null, lastRevocationAt: null },
  domain: { issuingCa: null },
  credential: { issuingCa: null },
  onboardingConfig: {
    estPassword: null,
    cmpSharedSecret: null,
    onboardingProtocol: null,
    idevidTruststore: null,
  },
  noOnboardingConfig: { estPassword: null, cmpSharedSecret: null },
  transaction: {
    device: null,
    profile: null,
    certificate: null,
    request: null,
    latestDigest: null,
    latestAnswer: null,
  },
  device: { domain: null, onboardingConfig: null, noOnboardingConfig: null },
  certificate: {
    revokedAt: null,
    revocationReason: null,
    invalidityDate: null,
    device: null,
    domain: null,
    profile: null,
  },
};

export const event = (changes: Partial<AuditEvent> = {}): AuditEvent => ({
  at: 1_790_000_000_000,
  actor: { kind: 'user', id: 1, name: 'ad"min', address: '10.0.0.7' },
  action: 'device.create',
  object: 'device:1',
  outcome: 'success',
  detail: { fields: 'a b', n: 1, yes: true, none: null },
  ...changes,
});

/** A CA with id 1, for records that need one. */
export async function withCa(store: Store): Promise<Store> {
  await store.commit([insert('issuingCa')]);
  return store;
}
