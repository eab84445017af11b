import { Type } from '@sinclair/typebox';

const path = (description: string, example: string) =>
  Type.Optional(Type.String({ minLength: 1, pathname: true, description, examples: [example] }));
const text = (maxLength: number, description: string, example: unknown, unset?: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength,
      description,
      examples: [example],
      ...(unset !== undefined && { unset }),
    }),
  );
const flag = (unset: boolean, description: string) =>
  Type.Optional(Type.Boolean({ description, unset: String(unset) }));
const whole = (minimum: number, maximum: number, unset: string, description: string) =>
  Type.Optional(Type.Integer({ minimum, maximum, description, unset }));
const oneOf = <const T extends readonly string[]>(values: T, unset: string, description: string) =>
  Type.Optional(
    Type.Union(
      values.map((value) => Type.Literal(value as T[number])),
      { description, unset },
    ),
  );

/** The table of an upstream CA that Postern reaches over CMP. */
export const remoteCmpConfig = Type.Object({
  url: Type.String({
    title: 'an address like https://ca.example or http://ca.example:829/pkix',
    pattern: '^https?://[^?#@]+$',
    maxLength: 1000,
    description: 'The CMP server.',
    examples: ['https://ca.example'],
  }),
  path: text(
    500,
    'The path after `url`.',
    'ejbca/publicweb/cmp/plant',
    '`/.well-known/cmp` if `url` has no path',
  ),
  reference: text(255, 'The name of the shared secret at the upstream. Required with `secret`.', 'postern'),
  secret: text(
    1000,
    'The shared secret that protects messages. Cannot be combined with `client_certificate`.',
    { file: 'cmp-secret' },
  ),
  mac: oneOf(
    ['password-based-mac', 'pbmac1'],
    '`password-based-mac`',
    'The MAC algorithm under the shared secret.',
  ),
  mac_iterations: whole(
    100,
    1_000_000,
    '1,000; 10,000 with `pbmac1`',
    'Iterations of the MAC algorithm. At most 100,000 for `password-based-mac`.',
  ),
  client_certificate: path('The certificate of the registration authority, and the CAs above it.', 'ra.pem'),
  client_key: path('The private key of `client_certificate`.', 'ra.key'),
  client_key_store: text(
    64,
    'A key store of this configuration that holds the key, instead of `client_key`. Postern does not renew such a certificate.',
    'hsm',
  ),
  client_key_id: text(255, 'The id or label of the key in `client_key_store`.', 'cmp-ra'),
  client_key_password: Type.Optional(
    Type.String({
      maxLength: 1000,
      description: 'The password of `client_key`, or of the PKCS#12 file.',
      examples: [{ file: 'ra-key-password' }],
    }),
  ),
  client_renewal: flag(true, 'Whether Postern renews `client_certificate` with `kur`.'),
  trust: Type.Optional(
    Type.Object(
      {
        file: path('A file of trust anchors for signed responses.', 'upstream-root.pem'),
        fingerprint: Type.Optional(
          Type.String({
            title: 'a SHA-256 in hexadecimal',
            pattern: '^([0-9A-Fa-f]{2}:?){31}[0-9A-Fa-f]{2}$',
            description: 'The SHA-256 fingerprint of the trust anchor for signed responses.',
            examples: ['5E'.repeat(32)],
          }),
        ),
        server_certificate: path('The certificate that signs responses.', 'cmp-server.pem'),
        server_name: text(
          1000,
          'The subject of the certificate that signs responses.',
          'CN=CMP,O=Example',
          'a CA below the trust anchors, or a certificate with id-kp-cmcCA',
        ),
      },
      { description: 'How Postern verifies signed responses.' },
    ),
  ),
  tls_trust_file: path('Trust anchors for `https`.', 'tls-root.pem'),
  ca_certificates: path(
    'The CA certificates of an upstream that does not respond to genm for caCerts.',
    'upstream-chain.pem',
  ),
  profile: text(255, 'The certProfile of requests.', 'device'),
  recipient: text(1000, 'The recipient of messages.', 'CN=Issuing CA,O=Example'),
  forward: oneOf(
    ['request', 'nested', 'nested-only'],
    '`request`',
    'How a request of a device goes out: in a message of the gateway, or as the signed message of the device nested in one. `nested-only` rejects requests that cannot be nested.',
  ),
  ra_verified: flag(false, 'Whether requests declare that the RA verified the proof of possession.'),
  implicit_confirm: flag(false, 'Whether requests ask the upstream to omit certConf.'),
  enrol_with: oneOf(['ir', 'cr'], '`cr`', 'The body of enrolments with CRMF.'),
  renew_with: oneOf(['cr', 'kur'], '`cr`', 'The body of renewals with CRMF.'),
  extra_certs: oneOf(
    ['chain', 'certificate', 'none'],
    '`chain`',
    "Which of the gateway's own certificates a message carries.",
  ),
  pvno: whole(2, 3, '2', 'The version of CMP in messages.'),
  message_time: flag(true, 'Whether messages have messageTime. Some upstreams cannot read it.'),
  accept: Type.Optional(
    Type.Object(
      {
        unprotected_errors: flag(
          false,
          'Accept error messages without protection. A man in the middle can then make requests fail.',
        ),
        unprotected_confirmations: flag(false, 'Accept pkiConf without protection.'),
        any_sender_kid: flag(false, 'Accept a senderKID that does not match the signer.'),
        any_certificate_order: flag(false, "Accept the signer's certificate at any position in extraCerts."),
        any_signer: flag(
          false,
          'Accept a signer without id-kp-cmcCA and digitalSignature: then every certificate below a trust anchor can act as the upstream.',
        ),
        any_content_type: flag(false, 'Accept any Content-Type of responses.'),
      },
      { description: 'Deviations from the RFCs that Postern tolerates.' },
    ),
  ),
  timeout_seconds: whole(1, 120, '20', 'How long one response of the upstream may take.'),
  poll_least_seconds: whole(1, 3600, '2', 'The lower bound for checkAfter of the upstream.'),
  poll_most_seconds: whole(1, 3600, '3600', 'The upper bound for checkAfter of the upstream.'),
});
