import { afterAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Server, shell, startServer } from '#tests/fixtures/server.ts';

/** A directory outside this repository, without installed packages. */
const elsewhere = mkdtempSync(join(tmpdir(), 'postern-outside-'));
afterAll(() => rmSync(elsewhere, { recursive: true }));

function module(name: string, source: string): string {
  const path = join(elsewhere, name);
  writeFileSync(path, source);
  return path;
}

const greeting = module(
  'greeting.ts',
  `import { definePlugin, Type } from 'postern';

  const answer = (status: number, body: string) => ({ status, headers: { 'content-type': 'text/plain' }, body });

  export default definePlugin({
    slot: 'inbound',
    name: 'greeting',
    summary: 'Says hello.',
    config: Type.Object({ word: Type.String({ minLength: 1, default: 'hello' }) }),
    open: async ({ word }, { gateway, baseUrl, name }) => ({
      mounts: [{
        prefix: '/greeting',
        plainHttp: false,
        bodyLimit: 0,
        handle: async () => {
          const [issuing] = await gateway.caCertificates(undefined);
          return answer(200, \`\${word} from \${name} at \${baseUrl}, \${issuing.length > 300}\`);
        },
        refuse: answer,
      }],
    }),
  });`,
);

const memoryKeys = module(
  'memory-keys.js',
  `import { createPublicKey, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
  import { definePlugin, Fault, Type } from 'postern';

  export const plugin = definePlugin({
    slot: 'keys',
    name: 'memory',
    summary: 'Forgets its keys.',
    config: Type.Object({}),
    async open() {
      const keys = new Map();
      const key = (id) => {
        const found = keys.get(id);
        if (!found) throw new Fault('notFound', 'there is no such key');
        return found;
      };
      const spki = (id) => new Uint8Array(createPublicKey(key(id)).export({ type: 'spki', format: 'der' }));
      return {
        keyTypes: ['p-256', 'p-384'],
        async generate(type) {
          const id = randomUUID();
          keys.set(id, generateKeyPairSync('ec', { namedCurve: type === 'p-384' ? 'P-384' : 'P-256' }).privateKey);
          return { id, spki: spki(id) };
        },
        publicKey: async (id) => spki(id),
        sign: async (id, algorithm, data) =>
          new Uint8Array(sign(algorithm.replace('ecdsa-', ''), data, { key: key(id), dsaEncoding: 'der' })),
        export: async (id) => new Uint8Array(key(id).export({ type: 'pkcs8', format: 'der' })),
        remove: async (id) => void keys.delete(id),
        health: async () => ({ ok: true, detail: keys.size + ' keys' }),
        close: async () => {},
      };
    },
  });`,
);

describe('external plugins, named by module', () => {
  test('serve, and keep the keys', async () => {
    const config = `[keys.mine]\nmodule = "${memoryKeys}"\n[inbound.greet]\nmodule = "${greeting}"\nword = "good day"\n[inbound.est]\n[inbound.management]\n`;
    await using server: Server = await startServer({ config });
    const curl = (path: string) => shell(server.directory, `curl -sSfk ${server.baseUrl}${path}`).stdout;
    expect(curl('/greeting')).toBe(`good day from greet at ${server.baseUrl}, true`);
    const health = JSON.parse(curl('/api/health/'));
    expect(health.status).toBe('ok');
    expect(Object.keys(health.checks)).toContain('keys.mine');
    expect(JSON.parse(server.cli('plugin', 'list', '--json'))).toContainEqual({
      slot: 'inbound',
      name: 'greeting',
      configured: ['greet'],
      summary: 'Says hello.',
    });
  }, 60_000);

  test('a package is found next to the configuration', () => {
    const home = join(elsewhere, 'home');
    mkdirSync(join(home, 'node_modules/postern-greeting'), { recursive: true });
    writeFileSync(
      join(home, 'node_modules/postern-greeting/package.json'),
      '{"name":"postern-greeting","type":"module","main":"index.ts"}',
    );
    writeFileSync(
      join(home, 'node_modules/postern-greeting/index.ts'),
      `export { default } from '${greeting}';`,
    );
    writeFileSync(
      join(home, 'postern.toml'),
      '[inbound]\ndefaults = true\n[inbound.greet]\nmodule = "postern-greeting"\n',
    );
    const { status, stdout } = check(join(home, 'postern.toml'));
    expect({ status, stdout }).toEqual({ status: 0, stdout: `${join(home, 'postern.toml')} is valid.\n` });
  }, 60_000);
});

function check(file: string) {
  const postern = join(import.meta.dir, '../../postern');
  const { exitCode, stdout, stderr } = Bun.spawnSync([postern, 'check', '--config', file], {
    cwd: elsewhere,
  });
  return { status: exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

describe('an invalid module is an error of the configuration', () => {
  const plain = (members: string): string =>
    `import { Type } from 'postern'; export default { contract: 4, slot: 'inbound', name: 'x', summary: '', config: Type.Object({}), open: async () => ({ mounts: [] }), ${members} };`;
  const rows: readonly [what: string, source: string, problem: string][] = [
    [
      'another version of the contract',
      plain('contract: 1'),
      'inbound.x.module: the plugin uses contract version 1, this Postern supports version 4',
    ],
    [
      'another slot',
      plain("slot: 'keys'"),
      'inbound.x.module: the plugin is for the slot keys, not for inbound',
    ],
    ['no plugin', 'export default 5;', 'inbound.x.module: exports no plugin'],
    ['nothing', 'const x = 1;', 'inbound.x.module: exports no plugin'],
    ['a slot that does not exist', plain("slot: 'outbound'"), 'inbound.x.module: exports no plugin'],
    ['no schema', plain('config: {}'), 'inbound.x.module: exports no plugin'],
    ['no open', plain('open: undefined'), 'inbound.x.module: exports no plugin'],
    ['a syntax error', 'export default {', 'inbound.x.module: cannot be loaded: '],
    [
      'an error when loaded',
      "throw new Error('not today');",
      'inbound.x.module: cannot be loaded: not today',
    ],
    [
      'a member of its table missing',
      plain('config: Type.Object({ url: Type.String() })'),
      'inbound.x.url: is missing',
    ],
  ];
  test.each(rows)('%s', (what, source, problem) => {
    const name = what.replaceAll(' ', '-');
    module(`${name}.ts`, source);
    writeFileSync(join(elsewhere, `${name}.toml`), `[inbound.x]\nmodule = "./${name}.ts"\n`);
    const { status, stdout, stderr } = check(join(elsewhere, `${name}.toml`));
    expect(stderr).toContain(problem);
    expect({ status, stdout }).toEqual({ status: 78, stdout: '' });
  });
});
