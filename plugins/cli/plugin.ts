import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { Plugin, Slot } from '../kit/contract.ts';
import { type Command, exit, jsonOption, printable, printJson, UsageError } from './command.ts';

const root = resolve(import.meta.dir, '../..');
const templates = join(root, 'plugins/kit/templates');
/** The templates contain this name; the name of the plugin replaces it. */
const placeholder = 'my-plugin';

/** Per slot: an example configuration, the file that defines the port, and the contract suite that tests it. */
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
    summary: 'Create a plugin project with tests, as a starting point.',
    details:
      'The created plugin works and passes the contract suite of its slot; edit it from there. It is linked to this\n' +
      'installation of Postern: nothing is downloaded. The compiler and the tests of a store plugin need the development\n' +
      'packages of Postern (run npm ci in its directory).',
    options: {
      slot: { type: 'string', value: 'SLOT', help: `The slot of the plugin: ${slots.join(', ')}` },
      dir: { type: 'string', value: 'DIR', help: 'The directory to create. Default: NAME in this directory' },
      json: jsonOption,
    },
    async run({ positionals, options, catalog }) {
      const name = checkName(positionals[0]!, catalog);
      const slot = slots.find((one) => one === options.slot);
      if (!slot) throw new UsageError(`--slot must be one of ${slots.join(', ')}`);
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
        `Plugin created in ${printable(directory)}. Run its tests: cd ${printable(directory)} && npm test\n` +
          'README.md in that directory describes the next steps.',
      );
      if (!existsSync(join(root, 'node_modules/fast-check'))) {
        console.log(
          `The compiler and the tests of a store plugin need the development packages: cd ${printable(root)} && npm ci`,
        );
      }
      return exit.success;
    },
  },
];

function checkName(name: string, catalog: readonly Plugin[]): string {
  if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name) || name.length > 40) {
    throw new UsageError(
      'NAME must have at most 40 characters: lower-case letters, digits and single hyphens',
    );
  }
  if (name === 'postern' || name === placeholder || catalog.some((plugin) => plugin.name === name)) {
    throw new UsageError(`the name ${name} is already in use`);
  }
  return name;
}

/** Creates the directory if it does not exist. Throws a UsageError if it is not empty. */
function checkDirectory(directory: string): string {
  const inside = relative(root, directory);
  if (!inside.startsWith('..')) {
    throw new UsageError("a plugin cannot be inside Postern's own directory: choose another one with --dir");
  }
  if (existsSync(directory)) {
    const some = readDirectory(directory);
    if (some.length > 0) throw new UsageError(`${printable(directory)} already exists and is not empty`);
  } else mkdirSync(directory, { recursive: true });
  return directory;
}

function readDirectory(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    throw new UsageError(`${printable(directory)} is not a directory`);
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
      // A path, so that npm never looks for a package of this name in a registry.
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

A plugin for Postern, slot \`${slot}\`. \`plugin.ts\` contains the whole plugin: \`definePlugin\` declares which keys its table
in the configuration may have, and \`open\` returns the port.

\`\`\`sh
npm test          # the contract of the port, against this plugin
npm run check     # the compiler
\`\`\`

Both use the packages of the Postern clone, including its development packages (run \`npm ci\` in the clone).

The contract of the port is documented in \`${port}\` of Postern; \`${contract}\` in \`plugin.test.ts\` tests it. Enable the
plugin in \`postern.toml\`:

\`\`\`toml
${table}
\`\`\`

\`postern check\` reports errors in the configuration without opening anything; \`postern plugin list\` lists the plugin.

At run time, the gateway that loads the plugin provides the module \`postern\`. Tests and the compiler find it through
the link \`node_modules/postern\` to a clone. On another machine, correct the path in \`package.json\` and run
\`npm install\`, or create the link: \`ln -s /path/to/postern node_modules/postern\`. Postern is in no package registry.
`;
}
