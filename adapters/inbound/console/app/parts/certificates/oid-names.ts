/** What extensions and purposes are called. */
const names: Readonly<Record<string, string>> = {
  '2.5.29.14': 'subjectKeyIdentifier',
  '2.5.29.15': 'keyUsage',
  '2.5.29.17': 'subjectAltName',
  '2.5.29.18': 'issuerAltName',
  '2.5.29.19': 'basicConstraints',
  '2.5.29.30': 'nameConstraints',
  '2.5.29.31': 'crlDistributionPoints',
  '2.5.29.32': 'certificatePolicies',
  '2.5.29.35': 'authorityKeyIdentifier',
  '2.5.29.36': 'policyConstraints',
  '2.5.29.37': 'extendedKeyUsage',
  '2.5.29.54': 'inhibitAnyPolicy',
  '1.3.6.1.5.5.7.1.1': 'authorityInfoAccess',
  '1.3.6.1.5.5.7.1.11': 'subjectInfoAccess',
  '1.3.6.1.5.5.7.3.1': 'serverAuth',
  '1.3.6.1.5.5.7.3.2': 'clientAuth',
  '1.3.6.1.5.5.7.3.3': 'codeSigning',
  '1.3.6.1.5.5.7.3.4': 'emailProtection',
  '1.3.6.1.5.5.7.3.5': 'ipsecEndSystem',
  '1.3.6.1.5.5.7.3.6': 'ipsecTunnel',
  '1.3.6.1.5.5.7.3.7': 'ipsecUser',
  '1.3.6.1.5.5.7.3.8': 'timeStamping',
  '1.3.6.1.5.5.7.3.9': 'ocspSigning',
  '1.3.6.1.5.5.7.3.14': 'eapOverLAN',
  '1.3.6.1.5.5.7.3.17': 'ipsecIKE',
  '1.3.6.1.5.5.7.3.21': 'secureShellClient',
  '1.3.6.1.5.5.7.3.22': 'secureShellServer',
  '1.3.6.1.5.5.7.3.27': 'cmcCa',
  '1.3.6.1.5.5.7.3.28': 'cmcRa',
  '1.3.6.1.5.5.7.3.32': 'cmKga',
  '1.3.6.1.5.5.7.3.36': 'documentSigning',
  '1.3.6.1.4.1.311.20.2.2': 'smartCardLogon',
  '1.3.6.1.5.2.3.4': 'kerberosClientAuth',
  '1.3.6.1.5.2.3.5': 'kerberosKdc',
  '2.5.29.37.0': 'anyExtendedKeyUsage',
};

export const nameOf = (oid: string): string | undefined =>
  Object.hasOwn(names, oid) ? names[oid] : undefined;

/** A text with names in place of the object identifiers that have one. */
export const named = (text: string): string =>
  text.replace(/(?<![\w.])\d+(?:\.\d+){3,}(?![\w.])/g, (oid) => nameOf(oid) ?? oid);
