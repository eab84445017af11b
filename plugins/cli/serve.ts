import { disabledNote, inboundOff } from '../host/choose.ts';
import { loadConfiguration } from '../host/config-file.ts';
import { type ExplainedTable, explain } from '../host/explain.ts';
import {
  type Command,
  configOption,
  dataOption,
  exit,
  jsonOption,
  type Option,
  printJson,
} from './command.ts';

const port = (help: string): Option => ({ type: 'string', value: 'N', help });
const place = {
  data: dataOption,
  config: configOption,
  'https-port': port('Port of the HTTPS listener. Default: 8443; 0: any free port'),
  'http-port': port(
    'Port of the HTTP listener (CRLs, CA certificates, CMP). Default: 8080; 0: any free port',
  ),
};

export const serveCommands: readonly Command[] = [
  {
    name: 'serve',
    positionals: [],
    summary: 'Run the gateway until SIGTERM or SIGINT.',
    details: `The first start creates a root CA, an issuing CA, the domain "default", a TLS credential and the user "admin" in
the data directory. The administrator's password is POSTERN_ADMIN_PASSWORD; without it, a random password is printed
once. The line "postern ready URL" on standard output means that connections are accepted. The log goes to the data
directory and, as lines of JSON, to standard error.`,
    options: place,
    async run({ place, catalog }) {
      const { serve } = await import('../host/main.ts');
      return serve(place, catalog, process.argv.slice(1));
    },
  },
  {
    name: 'check',
    positionals: [],
    summary: 'Check the whole configuration without opening anything.',
    details: 'Exit status: 0 if it is valid, 78 if not. Every problem is printed on standard error.',
    options: {
      explain: { type: 'boolean', help: 'Print every key with its effective value and where it comes from' },
      ...place,
      json: jsonOption,
    },
    async run({ place, catalog, options }) {
      const loaded = await loadConfiguration(place, catalog);
      const { configuration, dataDirectory, file } = loaded;
      const { https_port: https, http_port: http } = configuration.server;
      const { addresses } = await import('../host/service.ts');
      const { baseUrl } = addresses(configuration, { https, http });
      const plugins = Object.fromEntries(
        (['store', 'keys', 'issuers', 'inbound'] as const).map((slot) => [
          slot,
          configuration[slot].map(({ name }) => name),
        ]),
      );
      const off = inboundOff(catalog, configuration.inbound);
      if (options.explain === true) {
        const explained = explain(loaded);
        if (options.json === true) printJson({ file: file ?? null, data: dataDirectory, tables: explained });
        else console.log(explained.map(asToml).join('\n\n'));
      } else if (options.json === true) {
        printJson({ file: file ?? null, data: dataDirectory, base_url: baseUrl, plugins, inbound_off: off });
      } else {
        console.log(`${file ?? 'The built-in configuration'} is valid.`);
        if (off.length > 0) console.log(disabledNote(off));
      }
      return exit.success;
    },
  },
];

/** The table as TOML, with a comment behind each key; keys without a value are comments. */
function asToml({ path, keys }: ExplainedTable): string {
  const lines = keys.map(({ key, value, origin }) =>
    origin === 'not set' ? [`# ${key} =`, origin] : [`${key} = ${value}`, origin],
  );
  const width = Math.min(60, Math.max(...lines.map(([line]) => line!.length)));
  return [`[${path}]`, ...lines.map(([line, origin]) => `${line!.padEnd(width)}  # ${origin}`)].join('\n');
}
