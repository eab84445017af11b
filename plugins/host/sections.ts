import { type TObject, Type } from '@sinclair/typebox';
import { defaultLimits } from '#adapters/inbound/http/limits.ts';
import { defaultLoginLimits } from '#core/ports/settings.ts';

const closed = { additionalProperties: false } as const;

/** Annotations of a key. The reference and the JSON Schema for editors are generated from them. */
interface About {
  readonly description: string;
  readonly examples?: readonly unknown[];
  /** What holds when the key is left out, for keys without a `default` of their own. */
  readonly unset?: string;
}

const port = (usual: number, about: About) =>
  Type.Integer({ minimum: 0, maximum: 65_535, default: usual, ...about });
const optionalCount = (most: number, about: About) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: most, ...about }));
const limit = (usual: number, most: number, description: string, least = 1) =>
  Type.Integer({ minimum: least, maximum: most, default: usual, description });
const text = (about: About & { readonly title?: string; readonly pattern?: string }) =>
  Type.Optional(Type.String(about.pattern === undefined ? { minLength: 1, ...about } : about));
const path = (about: About) => Type.Optional(Type.String({ minLength: 1, pathname: true, ...about }));

const serverName = '^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|[0-9A-Fa-f:.]{2,45})$';

/** The tables of Postern itself; those of plugins are in the plugins. Every key may be left out. */
export const sections = {
  server: Type.Object(
    {
      https_port: port(8443, { description: 'The port for HTTPS. 0 means any free port.' }),
      http_port: port(8080, { description: 'The port for plain HTTP. 0 means any free port.' }),
      host: text({
        description: 'The address to listen on.',
        examples: ['10.0.0.5'],
        unset: 'every address',
      }),
      base_url: text({
        title: 'a URL like https://pki.example:8443, without a path',
        pattern: '^https://[^/?#@\\s]+/?$',
        description: 'How people and devices reach the HTTPS listener.',
        examples: ['https://pki.plant.example:8443'],
        unset: '`https://localhost`, with the HTTPS port',
      }),
      public_url: text({
        title: 'a URL like http://pki.example:8080, without a path',
        pattern: '^https?://[^/?#@\\s]+/?$',
        description:
          'Where relying parties download CRLs and CA certificates. Every certificate contains this address.',
        examples: ['http://pki.plant.example:8080'],
        unset: 'the host of `base_url`, with the HTTP port',
      }),
      names: Type.Optional(
        Type.Array(Type.String({ title: 'a DNS name or an IP address', pattern: serverName }), {
          minItems: 1,
          description:
            'DNS names and IP addresses of the TLS certificate that Postern issues for itself at the first start.',
          examples: [['pki.plant.example', '10.0.0.5']],
          unset: 'the hosts of `base_url` and `public_url`, `localhost`, the host name, loopback addresses',
        }),
      ),
      workers: optionalCount(256, {
        description: 'The number of processes that serve, all on the same port.',
        examples: [2],
        unset: '1 with SQLite, one per core with PostgreSQL',
      }),
      trusted_proxies: Type.Array(Type.String(), {
        default: [],
        description:
          'Addresses and CIDR ranges of proxies. Postern trusts `Client-Cert` and `X-Forwarded-For` only from them.',
        examples: [['10.0.0.0/24']],
      }),
    },
    { ...closed, description: 'The listeners, and the addresses under which clients reach them.' },
  ),
  secrets: Type.Object(
    {
      key_file: path({
        description:
          'The file with the master key, which encrypts every secret at rest. Cannot be combined with `passphrase`.',
        examples: ['master.key'],
        unset: '`master.key` in the data directory, created at the first start',
      }),
      passphrase: text({
        description: 'A passphrase from which scrypt derives the master key.',
        examples: [{ file: 'passphrase' }],
      }),
      new_passphrase: text({
        description: 'The next passphrase. Set it only while you rotate the master key.',
        examples: [{ file: 'new-passphrase' }],
      }),
    },
    { ...closed, description: 'The master key, which encrypts every secret at rest.' },
  ),
  backup: Type.Object(
    {
      passphrase: Type.Optional(
        Type.String({
          minLength: 12,
          title: 'text of at least 12 characters',
          description: 'Backups are encrypted under this passphrase of at least 12 characters.',
          examples: [{ file: 'backup-passphrase' }],
          unset: 'no backups are made',
        }),
      ),
      keep: optionalCount(100_000, {
        description: 'How many backups stay in each directory. Older ones are deleted.',
        examples: [14],
        unset: 'all',
      }),
      sftp_key: text({
        title: 'a private key',
        description: 'The private key (OpenSSH or PEM) that signs in to `sftp://` directories.',
        examples: [{ file: 'backup-key' }],
      }),
      sftp_key_passphrase: text({
        description: 'The passphrase of `sftp_key`, if it is encrypted.',
        examples: [{ file: 'backup-key-passphrase' }],
      }),
      sftp_host_key: text({
        title: 'a line of ssh-keyscan, or SHA256:…',
        description:
          'The key of the SFTP server: a line of `ssh-keyscan`, or its fingerprint `SHA256:…`. Required with `sftp_key`.',
        examples: [{ file: 'backup-host-key' }],
      }),
    },
    { ...closed, description: 'Backups. Their directories are records of the Management API.' },
  ),
  log: Type.Object(
    {
      level: Type.Union(
        [Type.Literal('debug'), Type.Literal('info'), Type.Literal('warn'), Type.Literal('error')],
        { default: 'info', description: 'The least important level that is logged.' },
      ),
      directory: path({
        description: 'The directory of the log files.',
        examples: ['/var/log/postern'],
        unset: '`logs` in the data directory',
      }),
      max_bytes: Type.Optional(
        Type.Integer({
          minimum: 65_536,
          maximum: 2 ** 40,
          description: 'The size in octets at which a log file is rotated.',
          examples: [50_000_000],
          unset: '10 MiB',
        }),
      ),
      max_files: optionalCount(1000, {
        description: 'How many rotated log files stay.',
        examples: [30],
        unset: '10',
      }),
    },
    { ...closed, description: 'The log.' },
  ),
  metrics: Type.Object(
    {
      token: text({
        title: 'a token of at least 32 letters, digits and -._~+/ (openssl rand -hex 32)',
        pattern: '^[A-Za-z0-9._~+/-]{32,512}=*$',
        description:
          'Opens `/metrics`, and nothing else, to a request with `Authorization: Bearer` and this token.',
        examples: [{ file: 'scrape-token' }],
        unset: '`/metrics` needs an account with the permission `metrics.read`',
      }),
    },
    { ...closed, description: 'How monitoring reads the metrics.' },
  ),
  domains: Type.Object(
    {
      default: Type.String({
        minLength: 1,
        maxLength: 100,
        default: 'default',
        description: 'The domain of requests whose path names none.',
        examples: ['plant-7'],
      }),
    },
    { ...closed, description: 'Domains. The domains themselves are records of the Management API.' },
  ),
  limits: Type.Object(
    {
      login_failures_per_name: limit(
        defaultLoginLimits.perName,
        1000,
        'Failed sign-ins after which a name has to wait.',
      ),
      login_failures_per_address: limit(
        defaultLoginLimits.perAddress,
        100_000,
        'Failed sign-ins after which an address has to wait.',
      ),
      login_window_seconds: limit(
        defaultLoginLimits.window / 1000,
        86_400,
        'The period in which failed sign-ins are counted.',
      ),
      connections: limit(
        defaultLimits.connections,
        1_000_000,
        'Simultaneous connections of each listener, unfinished TLS handshakes included.',
      ),
      handshake_seconds: limit(
        defaultLimits.handshakeMs / 1000,
        600,
        'From the TCP connection to the end of the TLS handshake.',
      ),
      header_seconds: limit(
        defaultLimits.headerMs / 1000,
        600,
        'From the first octet of a request to the end of its header.',
      ),
      body_seconds: limit(
        defaultLimits.bodyMs / 1000,
        3600,
        'From the end of the header to the end of the body.',
      ),
      idle_seconds: limit(
        defaultLimits.idleMs / 1000,
        3600,
        'Without a request, or without the client reading any of a response.',
      ),
      header_octets: limit(
        defaultLimits.headerOctets,
        1_048_576,
        'The size of the request line and the header together.',
        1024,
      ),
      header_fields: limit(defaultLimits.headerFields, 10_000, 'Fields of the header.'),
      pipelined: limit(
        defaultLimits.pipelined,
        1000,
        'Requests of one connection that wait for an earlier response.',
      ),
    },
    { ...closed, description: 'Limits for clients. Times are in seconds.' },
  ),
} as const satisfies Record<string, TObject>;
