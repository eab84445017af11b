import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { Plugin, Slot } from '../kit/contract.ts';
import { type Command, exit, jsonOption, printable, printJson, UsageError } from './command.ts';

const root = resolve(import.meta.dir, '../..');
const templates = join(root, 'plugins/kit/templates');
/** The name that the templates have in place of the plugin's. */
const placeholder = 'my-plugin';

/** What a plugin of each slot is shown by, how the configuration names it, and what runs its port's comments. */
const kinds: Readonly<Record<Slot, { configuration: string; port: string; contract: string }>> = {
  keys: {
    configuration:
      '[keys.NAME]\nmodule = "DIR"\n\n[keys.keyfile]        # for the TLS server key, which has to be handed out',
    port: 'core/ports/keys.ts',
    contract: 'keyStoreContract',
  },
  issuers: {
    configuration:
      '[issuers.NAME]\nmodule = "DIR"\nurl = "https://ca.example/api"\ntoken = { file = "ca-token" }',
    port: 'core/ports/issuer.ts',
    contract: 'issuerContract',
  },
  store: {
    configuration: '[store]\nmodule = "DIR"\nslow_milliseconds = 500',
    port: 'core/ports/store.ts',
    contract: 'storeContract',
  },
  inbound: {
    configuration:
      '[inbound]\ndefaults = true        # keeps the inbound plugins that come with Postern\n\n[inbound.NAME]\nmodule = "DIR"',
    port: 'adapters/inbound/http/exchange.ts',
    contract: 'inboundContract',
  },
};
const slots = Object.keys(kinds) as readonly Slot[];

export const pluginCommands: readonly Command[] = [
  {
    name: 'plugin new',
    positionals: ['NAME'],
    summary: 'Write a plugin of your own, with its tests, to begin with.',
    details:
      'What it writes works and passes the contract suite of its slot; change it from there. It is linked to this\n' +
      'installation of Postern: nothing is downloaded. The compiler, and the tests of a store, need its packages for\n' +
      'development (npm ci there).',
    options: {
      slot: { type: 'string', value: 'SLOT', help: `What it is for: ${slots.join(', ')}` },
      dir: { type: 'string', value: 'DIR', help: 'Where to write it. Default: NAME in this directory' },
      json: jsonOption,
    },
    async run({ positionals, options, catalog }) {
      const name = checkName(positionals[0]!, catalog);
      const slot = slots.find((one) => one === options.slot);
      if (!slot) throw new UsageError(`--slot is one of ${slots.join(', ')}`);
      const directory = checkDirectory(resolve(typeof options.dir === 'string' ? options.dir : name));
      const files = filesOf(name, slot, directory);
      for (const [file, text] of Object.entries(files)) {
        writeFileSync(join(directory, file), text, { flag: 'wx' });
      }
      mkdirSync(join(directory, 'node_modules'));
      symlinkSync(root, join(directory, 'node_modules/postern'));
      if (options.json === true) {
        printJson({ directory, files: Object.keys(files) });
        return exit.success;
      }
      console.log(
        `${printable(directory)} is written. Its tests: cd ${printable(directory)} && npm test\n` +
          'What to do with it: README.md there.',
      );
      if (!existsSync(join(root, 'node_modules/fast-check'))) {
        console.log(
          `The compiler, and the tests of a store, need more than serving does: cd ${printable(root)} && npm ci`,
        );
      }
      return exit.success;
    },
  },
];

function checkName(name: string, catalog: readonly Plugin[]): string {
  if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name) || name.length > 40) {
    throw new UsageError('NAME has small letters, digits and single - between them, at most 40');
  }
  if (name === 'postern' || name === placeholder || catalog.some((plugin) => plugin.name === name)) {
    throw new UsageError(`${name} is taken`);
  }
  return name;
}

/** Made when it is not there. What is in it already is left alone. */
function checkDirectory(directory: string): string {
  const inside = relative(root, directory);
  if (!inside.startsWith('..')) {
    throw new UsageError("a plugin lives outside of Postern's own directory: say where with --dir");
  }
  if (existsSync(directory)) {
    const some = readDirectory(directory);
    if (some.length > 0) throw new UsageError(`${printable(directory)} is there already, and not empty`);
  } else mkdirSync(directory, { recursive: true });
  return directory;
}

function readDirectory(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    throw new UsageError(`${printable(directory)} is no directory`);
  }
}

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

function filesOf(name: string, slot: Slot, directory: string): Readonly<Record<string, string>> {
  const template = (file: string): string =>
    readFileSync(join(templates, slot, file), 'utf8').replaceAll(placeholder, name);
  const bin = 'node_modules/postern/node_modules/.bin';
  return {
    'plugin.ts': template('plugin.ts'),
    'plugin.test.ts': template('plugin.test.ts'),
    'package.json': json({
      name: `postern-${name}`,
      version: '0.1.0',
      private: true,
      type: 'module',
      main: 'plugin.ts',
      scripts: { test: `${bin}/bun test --timeout=60000`, check: `${bin}/tsc --noEmit` },
      // Where it is, so that it is never looked for in a registry.
      devDependencies: { postern: `file:${relative(directory, root)}` },
    }),
    'tsconfig.json': json({
      extends: './node_modules/postern/tsconfig.json',
      compilerOptions: { types: ['./node_modules/postern/node_modules/bun-types'] },
      include: ['*.ts'],
      exclude: [],
    }),
    '.gitignore': 'node_modules\n',
    'README.md': readme(name, slot, directory),
  };
}

function readme(name: string, slot: Slot, directory: string): string {
  const { configuration, port, contract } = kinds[slot];
  const table = configuration.replaceAll('NAME', name).replaceAll('DIR', directory);
  return `# ${name}

A plugin for Postern, slot \`${slot}\`. \`plugin.ts\` is all of it: \`definePlugin\` says what its table in the configuration may
hold, and \`open\` answers the port.

\`\`\`sh
npm test          # the contract of the port, against this plugin
npm run check     # the compiler
\`\`\`

Both work with what is installed in Postern's clone, its packages for development included (\`npm ci\` there).

What the port obliges to stands in \`${port}\` of Postern; \`${contract}\` in \`plugin.test.ts\` runs it. In
\`postern.toml\`:

\`\`\`toml
${table}
\`\`\`

\`postern check\` says what is wrong with that before anything is opened, \`postern plugin list\` shows that it is found.

\`postern\` is imported from the gateway that loads the plugin. Tests and the compiler find it by the link
\`node_modules/postern\` to a clone; on another machine \`package.json\` has to say where that is (\`npm install\`), or
\`ln -s /path/to/postern node_modules/postern\` does. It is in no registry.
`;
}
