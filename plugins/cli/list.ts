import type { CertificateProfile, Domain } from '#core/records/domain.ts';
import type { IssuingCa } from '#core/records/issuing-ca.ts';
import { loadConfiguration } from '../host/config-file.ts';
import { type Command, exit, placeOptions, printJson, printTable, withGateway } from './command.ts';
import { pages } from './records.ts';

export const listCommands: readonly Command[] = [
  {
    name: 'domain list',
    positionals: [],
    summary: 'List the domains.',
    options: placeOptions,
    async run(invocation) {
      const { domains, cas, profiles } = await withGateway(invocation, async ({ gateway, principal }) => ({
        domains: await pages<'domain', Domain>((query) => gateway.domains.list(principal, query)),
        cas: await pages<'issuingCa', IssuingCa>((query) => gateway.issuingCas.list(principal, query)),
        profiles: await pages<'profile', CertificateProfile>((query) =>
          gateway.profiles.list(principal, query),
        ),
      }));
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
    summary: 'List the plugins: the built-in ones and those in the configuration.',
    options: placeOptions,
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
