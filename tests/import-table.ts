import { posix } from 'node:path';
import { sourceText } from './source-text.ts';

/** What one folder may import. The first row that a file's path begins with counts; a file without a row is a stray. */
interface Row {
  /** A folder ('/' at its end), or a file. `*` stands for one segment. */
  readonly of: string;
  /** Files and folders of this repository. `self` is what the row's pattern matched. */
  readonly may?: readonly string[];
  /** The same, but types only. */
  readonly types?: readonly string[];
  /** Packages and built-in modules; with a list, those names alone. */
  readonly packages?: 'any' | Readonly<Record<string, 'all' | 'types' | readonly string[]>>;
  /** No clock, randomness, I/O or environment either. */
  readonly pure?: true;
  /** May import what is known only when it runs. */
  readonly loads?: true;
}

const verifyAndHash = {
  'node:crypto': [
    'constants',
    'createHash',
    'createPublicKey',
    'hash',
    'timingSafeEqual',
    'verify',
    'type KeyObject',
  ],
} as const;
const http = {
  'node:http': 'all',
  'node:net': 'all',
  'node:tls': 'all',
  'node:crypto': 'all',
} as const;
const files = { 'node:fs': 'all', 'node:fs/promises': 'all', 'node:path': 'all' } as const;
const inbound = {
  may: ['self', 'core/gateway.ts', 'core/fault.ts', 'adapters/wire/', 'adapters/inbound/http/'],
  types: ['core/'],
} as const;
const outbound = {
  may: ['self', 'core/ports/', 'core/fault.ts', 'core/der/', 'core/x509/', 'adapters/wire/'],
  types: ['core/'],
} as const;

/** What any adapter of its kind may import, whether or not one does already. */
const general: ReadonlySet<string> = new Set([...inbound.may, ...inbound.types, ...outbound.may]);

const frame = ['plugins/host/', 'plugins/kit/contract.ts'] as const;

/** DESIGN.md, section 1, line by line. */
const importTable: readonly Row[] = [
  { of: 'core/fault.ts', pure: true },
  { of: 'core/der/', may: ['self', 'core/fault.ts'], pure: true },
  { of: 'core/ports/', types: ['core/'], pure: true },
  {
    of: 'core/profiles/',
    may: ['core/'],
    packages: { '@sinclair/typebox': 'all', '@sinclair/typebox/value': 'all' },
    pure: true,
  },
  // The one calculation that takes so long that it has to happen in a thread of the runtime.
  {
    of: 'core/x509/factorable-rsa.ts',
    may: ['core/'],
    packages: { 'node:crypto': ['checkPrime', 'hash'] },
    pure: true,
  },
  { of: 'core/', may: ['core/'], packages: verifyAndHash, pure: true },

  {
    of: 'adapters/wire/',
    may: ['self', 'core/der/', 'core/x509/', 'core/fault.ts'],
    packages: {
      'node:buffer': ['isUtf8'],
      'node:stream': ['Readable'],
      'node:crypto': 'all',
      'csv-parse': 'all',
    },
  },
  {
    of: 'adapters/inbound/http/',
    ...inbound,
    packages: {
      ...http,
      'node:_http_common': ['HTTPParser', 'methods'],
      'node:util': ['promisify'],
      'node:zlib': ['brotliCompress', 'constants', 'gzip'],
    },
  },
  {
    of: 'adapters/inbound/management/',
    ...inbound,
    // It shows what is in certificates, the words for the records and their enumerations, the security levels and the schema of profiles.
    may: [
      ...inbound.may,
      'core/x509/',
      'core/der/bytes.ts',
      'core/der/time.ts',
      'core/access/permissions.ts',
      'core/records/approval.ts',
      'core/records/approval-policy.ts',
      'core/records/device.ts',
      'core/devices/state.ts',
      'core/devices/import/row.ts',
      'core/records/credential.ts',
      'core/records/issuing-ca.ts',
      'core/ports/nouns.ts',
      'core/profiles/language.ts',
      'core/security/levels.ts',
      'core/records/domain.ts',
      'core/records/webhook.ts',
    ],
    packages: {
      elysia: 'all',
      '@elysiajs/jwt': 'all',
      '@sinclair/typebox': 'all',
      '@sinclair/typebox/value': 'all',
      'node:crypto': 'all',
      yaml: 'all',
    },
  },
  // The console is a client of the Management API, and shares nothing with what serves it.
  {
    of: 'adapters/inbound/console/app/',
    may: ['self'],
    packages: {
      preact: 'all',
      'preact/hooks': 'all',
      '@preact/signals': 'all',
    },
  },
  // The search page runs in the browser.
  { of: 'adapters/inbound/docs/app/', may: ['self'], packages: { minisearch: 'all' } },
  {
    of: 'adapters/inbound/docs/',
    ...inbound,
    types: [...inbound.types, 'adapters/inbound/docs/app/'],
    packages: { 'node:path': 'all' },
  },
  // CMP speaks of certificates and names in its own messages.
  { of: 'adapters/inbound/cmp/', ...inbound, may: [...inbound.may, 'core/x509/', 'core/der/'] },
  { of: 'adapters/inbound/*/', ...inbound },
  {
    of: 'adapters/outbound/sql/',
    ...outbound,
    may: [...outbound.may, 'core/audit/chain.ts'],
    packages: {
      'node:fs': 'all',
      'node:path': 'all',
      'bun:sqlite': 'all',
      kysely: 'all',
      'kysely-postgres-js': 'all',
      postgres: 'all',
      'node:net': 'all',
    },
  },
  {
    of: 'adapters/outbound/keyfile/',
    ...outbound,
    packages: { ...files, 'node:crypto': 'all', 'node:util': 'all', '@noble/curves/nist.js': 'all' },
  },
  {
    of: 'adapters/outbound/system/',
    ...outbound,
    packages: {
      ...files,
      'bun:sqlite': 'all',
      'node:async_hooks': ['AsyncLocalStorage'],
      'node:crypto': 'all',
      'node:zlib': ['gunzipSync'],
      re2js: 'all',
    },
  },
  // What the ways to upstream CAs share.
  {
    of: 'adapters/outbound/upstream/',
    ...outbound,
    packages: {
      'node:fs/promises': 'all',
      'node:path': 'all',
      'node:crypto': 'all',
      'node:http': 'all',
      'node:https': 'all',
    },
  },
  { of: 'adapters/outbound/remote-est/', ...outbound, may: [...outbound.may, 'adapters/outbound/upstream/'] },
  {
    of: 'adapters/outbound/remote-cmp/',
    ...outbound,
    may: [...outbound.may, 'adapters/outbound/upstream/'],
    packages: { 'node:crypto': 'all', '@noble/curves/nist.js': 'all' },
  },
  {
    of: 'adapters/outbound/backup/',
    ...outbound,
    packages: { ...files, 'node:crypto': 'all', ssh2: 'all' },
  },
  {
    of: 'adapters/outbound/pkcs11/',
    ...outbound,
    packages: {
      'node:fs/promises': 'all',
      'node:path': 'all',
      'node:crypto': 'all',
      'node:url': 'all',
      bun: 'types',
      pkcs11js: 'all',
    },
  },
  {
    of: 'adapters/outbound/webhook/',
    ...outbound,
    packages: {
      'node:crypto': 'all',
      'node:dns/promises': 'all',
      'node:http': 'all',
      'node:https': 'all',
      'node:net': 'all',
    },
  },

  {
    of: 'plugins/kit/contract.ts',
    types: ['core/', 'adapters/'],
    packages: { '@sinclair/typebox': 'types' },
  },
  { of: 'plugins/catalog.ts', may: ['plugins/builtin/'], types: ['plugins/kit/contract.ts'] },
  // What plugins from outside import as `postern`.
  {
    of: 'plugins/kit/postern.ts',
    may: [
      'plugins/kit/contract.ts',
      'core/fault.ts',
      'core/der/',
      'core/x509/',
      'adapters/outbound/sql/sqlite.ts',
    ],
    types: ['core/', 'adapters/inbound/http/'],
    packages: { '@sinclair/typebox': 'all' },
  },
  // As if from outside: an example knows of Postern what `postern` exports.
  { of: 'plugins/kit/templates/*/', may: ['self'], packages: 'any' },
  { of: 'plugins/kit/examples/*/', may: ['self'], packages: { postern: 'all', 'node:crypto': 'all' } },
  {
    of: 'plugins/host/(schema|sections|choose|config|config-file|explain|registry|reason).ts',
    may: [
      'plugins/host/(schema|sections|choose|config|config-file|registry|reason).ts',
      'plugins/kit/(contract|postern).ts',
      'core/fault.ts',
      'core/ports/settings.ts',
      'adapters/inbound/http/(evidence|limits).ts',
    ],
    types: ['core/'],
    packages: {
      'node:fs': 'all',
      'node:path': 'all',
      '@sinclair/typebox': 'all',
      '@sinclair/typebox/value': 'all',
    },
    loads: true,
  },
  {
    of: 'plugins/(host/(service|main|first-start|lifecycle|workers|restore|rotate|copy-store|doctor)|cli/main).ts',
    may: [
      ...frame,
      'plugins/catalog.ts',
      'plugins/cli/',
      'core/',
      'adapters/outbound/system/',
      'adapters/outbound/backup/',
      'adapters/outbound/webhook/',
      'adapters/inbound/http/',
      'adapters/inbound/health/',
      'adapters/wire/',
    ],
    packages: {
      ...files,
      bun: 'types',
      'node:crypto': 'all',
      'node:net': 'all',
      'node:os': 'all',
      'node:util': 'all',
    },
  },
  {
    of: 'plugins/cli/',
    may: ['self', ...frame, 'core/', 'adapters/wire/'],
    packages: { ...files, 'node:util': 'all', 'node:readline/promises': 'all', 'node:stream': 'all' },
  },
  // A plugin: its contract and its adapter, never another plugin.
  {
    of: 'plugins/builtin/',
    may: ['plugins/kit/contract.ts', 'plugins/builtin/remote-cmp-config.ts', 'adapters/'],
    types: ['core/'],
    packages: { 'node:fs/promises': 'all', 'node:path': 'all', '@sinclair/typebox': 'all' },
  },
  {
    of: 'tests/',
    may: ['core/', 'adapters/', 'plugins/', 'tests/', 'bench/', 'release/'],
    packages: 'any',
    loads: true,
  },
  // Builds releases, and is no part of them.
  {
    of: 'release/',
    may: ['self'],
    packages: { ...files, 'node:crypto': 'all', 'node:os': 'all' },
  },
  { of: 'bench/', may: ['core/', 'adapters/', 'plugins/', 'bench/', 'tests/'], packages: 'any', loads: true },
];

const impure =
  /(?<![\w$.])(?:Date\.now|Math\.random|new Date\b(?!\s*\(\s*[^)\s])|Date\(\s*\)|(?:process|Bun|fetch|console|performance|crypto|globalThis|navigator|WebSocket|Worker|eval|Function|set(?:Timeout|Interval|Immediate))(?![\w$]|\s*\??:))/g;

const pattern = (of: string): RegExp => {
  const source = of.replaceAll('.', '\\.').replaceAll('*', '[^/]+');
  return new RegExp(`^${source}${of.endsWith('/') ? '' : '$'}`);
};

const covers = (allowed: readonly string[] = [], self: string, file: string): boolean =>
  allowed.some((of) => (of === 'self' ? file.startsWith(self) : pattern(of).test(file)));

/** One import: what is imported, whether its types only, and the names taken ('*' for all of it). */
interface Import {
  readonly from: string | undefined;
  readonly typesOnly: boolean;
  readonly names: readonly string[];
  readonly at: number;
}

function importsOf({ code, withStrings }: ReturnType<typeof sourceText>): Import[] {
  // The quotes of a string that names a module; what is between them is read where strings still are.
  const module = /(?<quote>['"])(?<module>[^'"]*)\k<quote>/d.source;
  const statement = new RegExp(
    `(?<![\\w$.])(?:import|export)\\b(?<clause>[^'";]*?)\\bfrom\\s*${module}|(?<![\\w$.])import\\s*${module}`,
    'dg',
  );
  const call = new RegExp(`(?<![\\w$.])(?:import|require)\\s*\\(\\s*(?:${module}\\s*[,)])?`, 'dg');
  const from = ({ indices }: RegExpExecArray): string | undefined =>
    indices?.groups?.module && withStrings.slice(...indices.groups.module);
  const found: Import[] = [];
  for (const match of code.matchAll(statement)) {
    const clause = match.groups?.clause ?? '*';
    const names = /\{([^}]*)\}/
      .exec(clause)?.[1]
      ?.split(',')
      .map((name) => name.trim().replace(/\s+as\s.*/s, ''))
      .filter(Boolean);
    const typesOnly = /^\s*type\s+(?!from\b)/.test(clause);
    // A default import, or everything under one name.
    const whole = /[\w$*]/.test(clause.replace(/\{[^}]*\}/, '').replace(/^\s*type\b/, ''));
    found.push({
      from: from(match),
      typesOnly,
      names: [...(whole ? ['*'] : []), ...(names ?? [])],
      at: match.index,
    });
  }
  for (const match of code.matchAll(call)) {
    found.push({ from: from(match), typesOnly: false, names: ['*'], at: match.index });
  }
  return found;
}

/** `#core/x` and `./x` as paths of this repository; undefined for a package. */
function pathOf(file: string, from: string): string | undefined {
  if (from.startsWith('#')) return from.slice(1);
  if (from.startsWith('.')) return posix.join(posix.dirname(file), from);
  return from.startsWith('/') ? from : undefined;
}

/** Everything in a file that the table does not allow. `file` is its path in the repository. */
export function straysIn(file: string, source: string): string[] {
  const row = importTable.find(({ of }) => pattern(of).test(file));
  if (!row) return [`${file}: no row of the import table covers it`];
  const self = pattern(row.of).exec(file)![0];
  const text = sourceText(source);
  const strays: string[] = [];
  const report = (at: number, what: string): void => {
    strays.push(`${file}:${source.slice(0, at).split('\n').length}: ${what}`);
  };
  for (const { from, typesOnly, names, at } of importsOf(text)) {
    if (from === undefined) {
      if (!row.loads) report(at, 'imports what is not known before it runs');
      continue;
    }
    const path = pathOf(file, from);
    if (path !== undefined) {
      const types = typesOnly || (names.length > 0 && names.every((name) => name.startsWith('type ')));
      if (!covers(row.may, self, path) && !(types && covers(row.types, self, path)))
        report(at, `imports ${from}`);
      if (from.startsWith('.') && path.split('/')[0] !== file.split('/')[0])
        report(at, `leaves its area by ${from}`);
      continue;
    }
    if (row.packages === 'any') continue;
    const allowed = row.packages?.[from];
    if (allowed === 'all' || (allowed === 'types' && typesOnly)) continue;
    if (allowed === undefined || allowed === 'types') report(at, `imports ${from}`);
    else {
      for (const name of names) {
        const known = allowed.includes(name) || allowed.includes(typesOnly ? `type ${name}` : name);
        if (!known) report(at, `imports ${name} of ${from}`);
      }
    }
  }
  if (row.pure) for (const match of text.code.matchAll(impure)) report(match.index, `uses ${match[0]}`);
  return strays;
}

/** The files of this repository that a file imports, types included, as paths from its root. `file` is such a path. */
export const importedFiles = (file: string, source: string): string[] =>
  importsOf(sourceText(source)).flatMap(({ from }) => (from && pathOf(file, from)) || []);

/**
 * Returns the rows of the table that cover no file, and the packages, files and folders that a row allows and none of its files imports.
 * `sources`: the source of each file by its path.
 */
export function unusedOf(sources: ReadonlyMap<string, string>): string[] {
  const used = new Map(importTable.map((row) => [row, new Set<string>()]));
  const covered = new Set<Row>();
  for (const [file, source] of sources) {
    const row = importTable.find(({ of }) => pattern(of).test(file));
    if (!row || row.packages === 'any') continue;
    covered.add(row);
    const self = pattern(row.of).exec(file)![0];
    for (const { from, names } of importsOf(sourceText(source))) {
      if (from === undefined) continue;
      const path = pathOf(file, from);
      const seen = used.get(row)!;
      if (path === undefined) for (const name of ['', ...names]) seen.add(`${from} ${name}`.trim());
      else
        for (const of of [...(row.may ?? []), ...(row.types ?? [])])
          if (covers([of], self, path)) seen.add(of);
    }
  }
  return importTable.flatMap((row) => {
    if (row.packages === 'any') return [];
    if (!covered.has(row)) return [`${row.of}: covers no file`];
    const allowed = [
      ...(row.may ?? []),
      ...(row.types ?? []),
      ...Object.entries(row.packages ?? {}).flatMap(([name, what]) =>
        typeof what === 'string' ? [name] : what.map((one) => `${name} ${one}`),
      ),
    ];
    return allowed
      .filter((one) => !used.get(row)!.has(one) && !general.has(one))
      .map((one) => `${row.of}: nothing imports ${one}`);
  });
}
