import type { ProfileRules } from './language.ts';

// One principle for all of them: what is requested is either given as it is, or refused in words. Nothing about
// who the holder is gets dropped or replaced, because a device repeats its request when it renews, and RFC 7030 §4.2.2
// then has it compared with the certificate: a silent change at commissioning would become a failure a year later.
// What the holder may do (key usage, purposes, other extensions) is for the profile to say, not for the request: there,
// whatever else is requested is left out.

const published = {
  crlDistributionPoints: { service: true },
  authorityInfoAccess: { service: true },
} as const satisfies ProfileRules['extensions'];

/** Harmless beside the name, and often fixed in a client's configuration: where the device stands and whose it is. */
const organisation = {
  O: {},
  OU: { most: 4 },
  C: {},
  ST: {},
  L: {},
} as const satisfies ProfileRules['subject'];

/** The device's own name, alone or in any zone: many clients send it beside the common name. */
const ownHostName = { pattern: '(?i){device.common_name}(\\..+)?', most: 4 };

/**
 * LDevID (IEEE 802.1AR §6): says which device of the domain this is, so it says nothing else. Devices prove themselves with it to
 * the gateway and, for example, to an 802.1X network: a name or number of another device is refused. The serial number is
 * allowed, not added: a certificate should have the subject that was requested.
 */
const domainCredential: ProfileRules = {
  description: 'Domain credential (LDevID): names the device in its domain',
  validity: { duration: 'P2Y' },
  subject: {
    CN: { fixed: '{device.common_name}' },
    serialNumber: { allowed: ['{device.serial_number}'] },
    ...organisation,
  },
  subjectAltName: { dns: ownHostName },
  extensions: {
    basicConstraints: { ca: false },
    // keyEncipherment (RSA) and keyAgreement (EC) for keys that the server makes (RFC 7030 §4.4.2, RFC 9483 §4.1.6).
    keyUsage: { fixed: ['digitalSignature', 'keyEncipherment', 'keyAgreement'], unfit: 'drop' },
    extendedKeyUsage: { fixed: ['clientAuth'], unfit: 'drop' },
    ...published,
  },
  others: { extensions: 'drop' },
};

/** Servers take the common name of a TLS client for its identity, so it is the device's own here too. */
const tlsClient: ProfileRules = {
  description: 'TLS client in the name of the device',
  validity: { duration: 'P1Y' },
  subject: { ...domainCredential.subject },
  subjectAltName: { dns: ownHostName },
  extensions: {
    basicConstraints: { ca: false },
    keyUsage: { fixed: ['digitalSignature'], unfit: 'drop' },
    extendedKeyUsage: { fixed: ['clientAuth'], unfit: 'drop' },
    ...published,
  },
  others: { extensions: 'drop' },
};

/**
 * Clients look for a server's name among the alternative names only (RFC 9525 §6.3). Which names a server may bear, this
 * profile cannot know: restrict them with a pattern for `dns` where the plant has a naming scheme. Without any name the common
 * name becomes one, which is what a request with nothing but a common name means.
 */
const tlsServer: ProfileRules = {
  description: 'TLS server',
  // Below the 398 days that clients demand of certificates.
  validity: { duration: 'P1Y' },
  subject: {
    CN: {},
    serialNumber: { allowed: ['{device.serial_number}'] },
    ...organisation,
  },
  subjectAltName: {
    dns: { default: '{request.common_name}', most: 32 },
    ip: { most: 32 },
    atLeastOneOf: ['dns', 'ip'],
  },
  extensions: {
    basicConstraints: { ca: false },
    // keyEncipherment for the RSA key exchange of TLS 1.2 and before.
    keyUsage: { fixed: ['digitalSignature', 'keyEncipherment'], unfit: 'drop' },
    extendedKeyUsage: { fixed: ['serverAuth'], unfit: 'drop' },
    ...published,
  },
  others: { extensions: 'drop' },
};

/**
 * Application instance certificates of OPC 10000-6 §6.2.2. The application is identified by the application URI, which has to equal
 * the one that it announces, so that it can only come from the request. CN: the application's name. O shall be present:
 * the domain's name unless the request has another.
 */
const opcUaApplication = {
  // The security policies of OPC 10000-7 know these kinds of keys.
  keys: { allowed: ['rsa', 'p-256', 'p-384', 'ed25519'], minimumRsaBits: 2048 },
  validity: { duration: 'P2Y' },
  subject: {
    CN: { required: true },
    ...organisation,
    O: { default: '{domain.unique_name}' },
    DC: { most: 8 },
  },
  others: { extensions: 'drop' },
} satisfies ProfileRules;

const opcUaUsage = {
  basicConstraints: { ca: false },
  // The encipherments are for RSA policies; with other kinds of keys they are left out.
  keyUsage: {
    fixed: ['digitalSignature', 'nonRepudiation', 'keyEncipherment', 'dataEncipherment'],
    unfit: 'drop',
  },
  ...published,
} satisfies ProfileRules['extensions'];

const opcUaClient: ProfileRules = {
  ...opcUaApplication,
  description: 'OPC UA client application (OPC 10000-6)',
  // Servers take the common name of a client for its identity: it is the device's own, or that of an application on the device.
  subject: {
    ...opcUaApplication.subject,
    CN: { required: true, pattern: '(?i)([^@]+@)?{device.common_name}' },
  },
  subjectAltName: { uri: { required: true, most: 1 }, dns: {}, ip: {} },
  extensions: { ...opcUaUsage, extendedKeyUsage: { fixed: ['clientAuth'], unfit: 'drop' } },
};

/**
 * A server needs a host name or address too. It is a client as well when it registers with a discovery server or
 * connects in reverse, if it asks for that.
 */
const opcUaServer: ProfileRules = {
  ...opcUaApplication,
  description: 'OPC UA server application (OPC 10000-6)',
  subjectAltName: { uri: { required: true, most: 1 }, dns: {}, ip: {}, atLeastOneOf: ['dns', 'ip'] },
  extensions: {
    ...opcUaUsage,
    extendedKeyUsage: {
      default: ['serverAuth'],
      allowed: ['serverAuth', 'clientAuth'],
      required: ['serverAuth'],
      unfit: 'drop',
    },
  },
};

/**
 * IDevID (IEEE 802.1AR §8): the manufacturer's statement which device this is, made once and never renewed, so it ends as late as
 * the CA lets it. The serial number is what identifies the device (§8.6); purposes are not restricted (§8.10).
 */
const idevid: ProfileRules = {
  description: 'Initial device identifier of a manufacturer (IEEE 802.1AR)',
  validity: { until: '9999-12-31T23:59:59Z' },
  subject: {
    serialNumber: { fixed: '{device.serial_number}' },
    CN: { allowed: ['{device.common_name}', '{device.serial_number}'] },
    ...organisation,
  },
  // hardwareModuleName (RFC 4108 §5) and the permanent identifier (RFC 4043).
  subjectAltName: { otherName: { types: ['1.3.6.1.5.5.7.8.4', '1.3.6.1.5.5.7.8.3'] } },
  extensions: {
    keyUsage: { fixed: ['digitalSignature', 'keyEncipherment'], unfit: 'drop' },
    ...published,
  },
  others: { extensions: 'drop' },
};

/** A CA below the one that signs, for one domain or plant; it may make no further CAs. */
const issuingCa: ProfileRules = {
  description: 'Issuing CA below the signing one',
  // It outlives whatever it signs: keys that hold as long.
  keys: {
    allowed: ['rsa', 'p-256', 'p-384', 'p-521', 'ed25519', 'ml-dsa-44', 'ml-dsa-65', 'ml-dsa-87'],
    minimumRsaBits: 3072,
  },
  validity: { duration: 'P5Y' },
  subject: { CN: { required: true }, ...organisation, serialNumber: {}, DC: { most: 8 } },
  extensions: {
    basicConstraints: { ca: true, pathLength: 0 },
    keyUsage: { fixed: ['keyCertSign', 'cRLSign'], unfit: 'drop' },
    ...published,
  },
  others: { extensions: 'drop' },
};

/**
 * DevOwnerID: proves to a device who owns it now. The IDevIDs that it speaks for stand in URIs (`dev-owner:…`), which a device compares
 * with its own.
 */
const devOwnerId: ProfileRules = {
  description: 'Device owner identifier',
  validity: { duration: 'P5Y' },
  subject: { CN: { required: true }, serialNumber: {}, ...organisation },
  subjectAltName: { uri: { pattern: 'dev-owner:.+', most: 32 } },
  extensions: {
    basicConstraints: { ca: false },
    keyUsage: { fixed: ['digitalSignature'], unfit: 'drop' },
    ...published,
  },
  others: { extensions: 'drop' },
};

/** Firmware and configuration files. No alternative names: no verifier of code looks at them. */
const codeSigning: ProfileRules = {
  description: 'Code signing',
  keys: {
    allowed: ['rsa', 'p-256', 'p-384', 'p-521', 'ed25519', 'ml-dsa-44', 'ml-dsa-65', 'ml-dsa-87'],
    minimumRsaBits: 3072,
  },
  validity: { duration: 'P3Y' },
  subject: { CN: { required: true }, ...organisation },
  extensions: {
    basicConstraints: { ca: false },
    keyUsage: { fixed: ['digitalSignature'], unfit: 'drop' },
    extendedKeyUsage: { fixed: ['codeSigning'], critical: true, unfit: 'drop' },
    ...published,
  },
  others: { extensions: 'drop' },
};

/**
 * For a domain whose issuing CA is upstream. EST CAs issue by templates of their own, whatever the request asks for, so this profile
 * says whose certificate it is, and leaves the purposes to the upstream CA. A CA of this service would issue a
 * certificate for every purpose under it.
 */
const upstreamDevice: ProfileRules = {
  description: 'Device of an upstream CA, which decides the purposes; not for local CAs',
  validity: { duration: 'P3Y' },
  subject: { ...domainCredential.subject },
  subjectAltName: { dns: ownHostName },
  extensions: {
    basicConstraints: { ca: false },
    // At most this: whatever a device may do that is no CA.
    keyUsage: {
      fixed: ['digitalSignature', 'nonRepudiation', 'keyEncipherment', 'dataEncipherment', 'keyAgreement'],
      unfit: 'drop',
    },
    ...published,
  },
  others: { extensions: 'drop' },
};

/** By the unique names under which they are shipped. */
export const shippedProfiles = {
  domain_credential: domainCredential,
  tls_client: tlsClient,
  tls_server: tlsServer,
  opc_ua_client: opcUaClient,
  opc_ua_server: opcUaServer,
  idevid,
  issuing_ca: issuingCa,
  dev_owner_id: devOwnerId,
  code_signing: codeSigning,
  upstream_device: upstreamDevice,
} as const satisfies Readonly<Record<string, ProfileRules>>;
