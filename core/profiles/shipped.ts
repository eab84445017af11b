import type { ProfileRules } from './language.ts';

// All shipped profiles follow one principle: a requested value is either issued as it is, or the request is rejected
// with a reason. Nothing about the holder's identity is dropped or replaced, because a device repeats its request when
// it renews, and RFC 7030 §4.2.2 compares that request with the certificate: a silent change at commissioning would
// become a failure a year later. The profile alone decides what the holder may do (key usage, purposes, other
// extensions): other requested usages are dropped.

const published = {
  crlDistributionPoints: { service: true },
  authorityInfoAccess: { service: true },
} as const satisfies ProfileRules['extensions'];

/** Harmless besides the name, and often fixed in a client's configuration: the location and the owner of the device. */
const organisation = {
  O: {},
  OU: { most: 4 },
  C: {},
  ST: {},
  L: {},
} as const satisfies ProfileRules['subject'];

/** The device's own name, alone or in any zone: many clients send it besides the common name. */
const ownHostName = { pattern: '(?i){device.common_name}(\\..+)?', most: 4 };

/**
 * LDevID (IEEE 802.1AR §6): identifies the device within its domain, and nothing else. Devices authenticate with it to
 * the gateway and, for example, to an 802.1X network, so the name or number of another device is rejected. The serial
 * number is allowed, but not added: the certificate should have the requested subject.
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
    // keyEncipherment (RSA) and keyAgreement (EC) are for keys that the server generates (RFC 7030 §4.4.2, RFC 9483
    // §4.1.6).
    keyUsage: { fixed: ['digitalSignature', 'keyEncipherment', 'keyAgreement'], unfit: 'drop' },
    extendedKeyUsage: { fixed: ['clientAuth'], unfit: 'drop' },
    ...published,
  },
  others: { extensions: 'drop' },
};

/** Servers identify a TLS client by its common name, so the device's own name is required here too. */
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
 * Clients look for a server's name only among the subject alternative names (RFC 9525 §6.3). This profile cannot know
 * which names a server may have: restrict them with a pattern for `dns` if the plant has a naming scheme. If there is
 * no alternative name, the common name becomes one, which is what a request with only a common name means.
 */
const tlsServer: ProfileRules = {
  description: 'TLS server',
  // Less than the 398 days that clients accept.
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
    // keyEncipherment is for the RSA key exchange of TLS 1.2 and earlier.
    keyUsage: { fixed: ['digitalSignature', 'keyEncipherment'], unfit: 'drop' },
    extendedKeyUsage: { fixed: ['serverAuth'], unfit: 'drop' },
    ...published,
  },
  others: { extensions: 'drop' },
};

/**
 * Application instance certificates of OPC 10000-6 §6.2.2. The application is identified by its application URI, which
 * must equal the one that it announces, so the URI can only come from the request. CN: the application's name. O is
 * mandatory: the domain's name unless the request has another.
 */
const opcUaApplication = {
  // The security policies of OPC 10000-7 use these types of keys.
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
  // The encipherment usages are for RSA policies; they are dropped for other types of keys.
  keyUsage: {
    fixed: ['digitalSignature', 'nonRepudiation', 'keyEncipherment', 'dataEncipherment'],
    unfit: 'drop',
  },
  ...published,
} satisfies ProfileRules['extensions'];

const opcUaClient: ProfileRules = {
  ...opcUaApplication,
  description: 'OPC UA client application (OPC 10000-6)',
  // Servers identify a client by its common name: the device's own, or that of an application on the device.
  subject: {
    ...opcUaApplication.subject,
    CN: { required: true, pattern: '(?i)([^@]+@)?{device.common_name}' },
  },
  subjectAltName: { uri: { required: true, most: 1 }, dns: {}, ip: {} },
  extensions: { ...opcUaUsage, extendedKeyUsage: { fixed: ['clientAuth'], unfit: 'drop' } },
};

/**
 * A server also needs a host name or address. A server that registers with a discovery server or connects in reverse
 * acts as a client too, and gets clientAuth if it requests it.
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
 * IDevID (IEEE 802.1AR §8): the manufacturer's identity of the device, issued once and never renewed, so it expires as
 * late as the CA permits. The serial number identifies the device (§8.6); purposes are not restricted (§8.10).
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

/** A CA below the signing CA, for one domain or plant; it cannot issue further CAs. */
const issuingCa: ProfileRules = {
  description: 'Issuing CA below the signing one',
  // It outlives all certificates that it signs, so it needs strong keys.
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
 * DevOwnerID: proves to a device who owns it now. The IDevIDs that it covers are listed in URIs (`dev-owner:…`), which
 * a device compares with its own.
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

/** Firmware and configuration files. No alternative names, because verifiers of code ignore them. */
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
 * For a domain whose issuing CA is an upstream CA. EST CAs issue with their own templates, whatever the request
 * contains, so this profile only sets the identity and leaves the purposes to the upstream CA. A local CA would issue
 * certificates for every purpose under this profile.
 */
const upstreamDevice: ProfileRules = {
  description: 'Device of an upstream CA, which decides the purposes; not for local CAs',
  validity: { duration: 'P3Y' },
  subject: { ...domainCredential.subject },
  subjectAltName: { dns: ownHostName },
  extensions: {
    basicConstraints: { ca: false },
    // The upper limit: every usage that a device may have and a CA does not need.
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
