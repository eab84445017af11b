/** Object identifiers by the names that their standards give them. */
export const oid = {
  // Public keys: RFC 3279 §2.3, RFC 5480 §2.1.1, RFC 8410 §3, RFC 9881 §2
  rsaEncryption: '1.2.840.113549.1.1.1',
  rsaPss: '1.2.840.113549.1.1.10',
  ecPublicKey: '1.2.840.10045.2.1',
  p256: '1.2.840.10045.3.1.7',
  p384: '1.3.132.0.34',
  p521: '1.3.132.0.35',
  ed25519: '1.3.101.112',
  mlDsa44: '2.16.840.1.101.3.4.3.17',
  mlDsa65: '2.16.840.1.101.3.4.3.18',
  mlDsa87: '2.16.840.1.101.3.4.3.19',

  // Signatures: RFC 4055 §5, RFC 5758 §3.2
  sha256WithRsa: '1.2.840.113549.1.1.11',
  sha384WithRsa: '1.2.840.113549.1.1.12',
  sha512WithRsa: '1.2.840.113549.1.1.13',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  ecdsaWithSha384: '1.2.840.10045.4.3.3',
  ecdsaWithSha512: '1.2.840.10045.4.3.4',

  // Hashes: RFC 4055 §2.1
  sha256: '2.16.840.1.101.3.4.2.1',
  sha384: '2.16.840.1.101.3.4.2.2',
  sha512: '2.16.840.1.101.3.4.2.3',
  mgf1: '1.2.840.113549.1.1.8',

  // Attribute types: RFC 5280 §A.1
  commonName: '2.5.4.3',
  emailAddress: '1.2.840.113549.1.9.1',

  // Certificate and CRL extensions: RFC 5280 §4.2, §5.2, §5.3
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  issuerAltName: '2.5.29.18',
  basicConstraints: '2.5.29.19',
  crlNumber: '2.5.29.20',
  reasonCode: '2.5.29.21',
  invalidityDate: '2.5.29.24',
  deltaCrlIndicator: '2.5.29.27',
  issuingDistributionPoint: '2.5.29.28',
  certificateIssuer: '2.5.29.29',
  nameConstraints: '2.5.29.30',
  crlDistributionPoints: '2.5.29.31',
  certificatePolicies: '2.5.29.32',
  anyPolicy: '2.5.29.32.0',
  policyMappings: '2.5.29.33',
  authorityKeyIdentifier: '2.5.29.35',
  policyConstraints: '2.5.29.36',
  extendedKeyUsage: '2.5.29.37',
  freshestCrl: '2.5.29.46',
  inhibitAnyPolicy: '2.5.29.54',
  authorityInfoAccess: '1.3.6.1.5.5.7.1.1',
  subjectInfoAccess: '1.3.6.1.5.5.7.1.11',
  // RFC 6960 §4.2.2.2.1
  ocspNoCheck: '1.3.6.1.5.5.7.48.1.5',

  // Access methods and policy qualifiers: RFC 5280 §4.2.1.4, §4.2.2.1
  ocsp: '1.3.6.1.5.5.7.48.1',
  caIssuers: '1.3.6.1.5.5.7.48.2',
  cpsQualifier: '1.3.6.1.5.5.7.2.1',

  // Other names: RFC 4108 §5, RFC 9598 §3
  hardwareModuleName: '1.3.6.1.5.5.7.8.4',
  smtpUtf8Mailbox: '1.3.6.1.5.5.7.8.9',

  // Extended key usages: RFC 5280 §4.2.1.12, RFC 9480 §2.2
  anyExtendedKeyUsage: '2.5.29.37.0',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  codeSigning: '1.3.6.1.5.5.7.3.3',
  emailProtection: '1.3.6.1.5.5.7.3.4',
  timeStamping: '1.3.6.1.5.5.7.3.8',
  ocspSigning: '1.3.6.1.5.5.7.3.9',
  cmcCa: '1.3.6.1.5.5.7.3.27',
  cmcRa: '1.3.6.1.5.5.7.3.28',
  cmKga: '1.3.6.1.5.5.7.3.32',

  // PKCS#10 attributes: RFC 2985 §5.4
  challengePassword: '1.2.840.113549.1.9.7',
  extensionRequest: '1.2.840.113549.1.9.14',
  changeSubjectName: '1.3.6.1.5.5.7.7.36', // RFC 6402 §2.8
  microsoftExtensionRequest: '1.3.6.1.4.1.311.2.1.14',
  decryptKeyIdentifier: '1.2.840.113549.1.9.16.2.37',
  asymmetricDecryptKeyIdentifier: '1.2.840.113549.1.9.16.2.54',
} as const;
