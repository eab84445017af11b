import { encodePem } from '#adapters/wire/pem.ts';
import type { Page, Query } from '#core/ports/store.ts';
import type { IssuingCa } from '#core/records/issuing-ca.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { loadConfiguration } from '../host/config-file.ts';
import {
  type Command,
  configOption,
  dataOption,
  exit,
  jsonOption,
  operatorName,
  printJson,
  printTable,
  UsageError,
  withGateway,
} from './command.ts';

const where = { data: dataOption, config: configOption };
const list = { json: jsonOption, ...where };
const caTypes = [
  'auto-generated root',
  'auto-generated',
  'local',
  'local PKCS#11',
  'remote EST',
  'remote CMP',
];

/** Every record, oldest first. */
async function all<T>(
  read: (
    query: Pick<Query<'domain' & 'issuingCa'>, 'limit' | 'cursor'> & {
      order: { field: 'id'; descending: false };
    },
  ) => Promise<Page<T>>,
): Promise<T[]> {
  const records: T[] = [];
  let cursor: string | undefined;
  do {
    const page = await read({
      limit: 1000,
      order: { field: 'id', descending: false },
      ...(cursor !== undefined && { cursor }),
    });
    records.push(...page.records);
    cursor = page.next;
  } while (cursor !== undefined);
  return records;
}

const date = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 10);

function describeCa(ca: IssuingCa) {
  return {
    id: ca.id,
    unique_name: ca.uniqueName,
    common_name: ca.commonName,
    type: caTypes[ca.type] ?? String(ca.type),
    is_active: ca.isActive,
    not_after: date(parseCertificate(ca.certificate).notAfter),
  };
}

export const listCommands: readonly Command[] = [
  {
    name: 'ca list',
    positionals: [],
    summary: 'List the issuing CAs.',
    options: list,
    async run(invocation) {
      const cas = await withGateway(invocation, ({ gateway }) =>
        all((query) => gateway.issuingCas.list(gateway.accounts.operator(operatorName()), query)),
      );
      const described = cas.map(describeCa);
      if (invocation.options.json === true) printJson(described);
      else {
        printTable(
          ['ID', 'NAME', 'COMMON NAME', 'TYPE', 'ACTIVE', 'UNTIL'],
          described.map((ca) => [
            ca.id,
            ca.unique_name,
            ca.common_name,
            ca.type,
            ca.is_active ? 'yes' : 'no',
            ca.not_after,
          ]),
        );
      }
      return exit.success;
    },
  },
  {
    name: 'ca export',
    positionals: ['ID'],
    summary: "Print a CA's certificate, PEM.",
    options: { chain: { type: 'boolean', help: 'And those above it, up to the root' }, ...where },
    async run(invocation) {
      const id = Number(invocation.positionals[0]);
      if (!Number.isSafeInteger(id) || id < 1) throw new UsageError('ID is a number, see postern ca list');
      const ca = await withGateway(invocation, ({ gateway }) =>
        gateway.issuingCas.read(gateway.accounts.operator(operatorName()), id),
      );
      const chain = invocation.options.chain === true ? ca.chain : [];
      console.log(
        [ca.certificate, ...chain]
          .map((der) => encodePem('CERTIFICATE', der))
          .join('')
          .trimEnd(),
      );
      return exit.success;
    },
  },
  {
    name: 'domain list',
    positionals: [],
    summary: 'List the domains.',
    options: list,
    async run(invocation) {
      const { domains, cas, profiles } = await withGateway(invocation, async ({ gateway }) => {
        const principal = gateway.accounts.operator(operatorName());
        return {
          domains: await all((query) => gateway.domains.list(principal, query)),
          cas: await all((query) => gateway.issuingCas.list(principal, query)),
          profiles: await all((query) => gateway.profiles.list(principal, query)),
        };
      });
      const described = domains.map((domain) => ({
        id: domain.id,
        unique_name: domain.uniqueName,
        issuing_ca: cas.find(({ id }) => id === domain.issuingCa)?.uniqueName ?? null,
        profiles: domain.profiles.map(
          ({ profile, alias }) => alias ?? profiles.find(({ id }) => id === profile)?.uniqueName ?? '?',
        ),
      }));
      if (invocation.options.json === true) printJson(described);
      else {
        printTable(
          ['ID', 'NAME', 'ISSUING CA', 'PROFILES'],
          described.map((domain) => [
            domain.id,
            domain.unique_name,
            domain.issuing_ca ?? '-',
            domain.profiles.join(' '),
          ]),
        );
      }
      return exit.success;
    },
  },
  {
    name: 'plugin list',
    positionals: [],
    summary: 'List the plugins: those that come with Postern, and those that the configuration names.',
    options: list,
    async run({ place, catalog, options }) {
      const { configuration } = await loadConfiguration(place, catalog);
      const { store, keys, issuers, inbound } = configuration;
      const chosen = [...store, ...keys, ...issuers, ...inbound];
      const plugins = [...new Set([...catalog, ...chosen.map(({ plugin }) => plugin)])].map((plugin) => ({
        slot: plugin.slot,
        name: plugin.name,
        configured: chosen.filter((candidate) => candidate.plugin === plugin).map(({ name }) => name),
        summary: plugin.summary,
      }));
      if (options.json === true) printJson(plugins);
      else {
        printTable(
          ['SLOT', 'NAME', 'CONFIGURED AS', ''],
          plugins.map(({ slot, name, configured, summary }) => [
            slot,
            name,
            configured.join(' ') || '-',
            summary,
          ]),
        );
      }
      return exit.success;
    },
  },
];
