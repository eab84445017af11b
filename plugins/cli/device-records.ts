import { type DeviceView, deviceStates, stateCondition } from '#core/devices/state.ts';
import type { Condition } from '#core/ports/store.ts';
import { describeCertificate } from './certificate-records.ts';
import {
  type Command,
  exit,
  limitOption,
  type Opened,
  placeOptions,
  printFacts,
  printJson,
  printTable,
  withGateway,
} from './command.ts';
import { deviceNamed, domainNamed, pages } from './records.ts';
import { number, text, word, wordsOf } from './values.ts';

const isoTime = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

const describe = (device: DeviceView, domains: ReadonlyMap<number, string>) => ({
  id: device.id,
  common_name: device.commonName,
  serial_number: device.serialNumber,
  device_type: device.deviceType,
  domain: device.domain === null ? null : (domains.get(device.domain) ?? null),
  state: device.state,
  blocked_at: isoTime(device.blockedAt),
  next_expiry: isoTime(device.nextExpiry),
  created_at: isoTime(device.createdAt),
});

async function domainNames({ gateway, principal }: Opened): Promise<ReadonlyMap<number, string>> {
  const domains = await pages<'domain', { id: number; uniqueName: string }>((query) =>
    gateway.domains.list(principal, query),
  );
  return new Map(domains.map(({ id, uniqueName }) => [id, uniqueName]));
}

export const deviceList: Command = {
  name: 'device list',
  positionals: [],
  summary: 'List the devices.',
  options: {
    domain: { type: 'string', value: 'D', help: 'Only devices of this domain' },
    state: { type: 'string', value: 'S', help: `Only devices in this state: ${deviceStates.join(', ')}` },
    search: {
      type: 'string',
      value: 'WORDS',
      help: 'Only devices with each of these words in their name or serial number',
    },
    limit: limitOption,
    ...placeOptions,
  },
  async run(invocation) {
    const { options } = invocation;
    const domain = text(options, 'domain');
    const state = word(options, 'state', deviceStates);
    const search = wordsOf(text(options, 'search'));
    const limit = number(options, 'limit');
    const devices = await withGateway(invocation, async (opened) => {
      const { gateway, principal } = opened;
      const { where = [], ...referral } = state === undefined ? {} : stateCondition(state, gateway.now());
      const conditions: Condition<'device'>[] = [...where];
      if (domain !== undefined) {
        const { id } = await domainNamed(opened, domain);
        conditions.push({ field: 'domain', is: 'equal', value: id });
      }
      const query = { where: conditions, search, ...referral };
      const found = await pages<'device', DeviceView>(
        (q) => gateway.devices.list(principal, q),
        query,
        limit,
      );
      const domains = await domainNames(opened);
      return found.map((device) => describe(device, domains));
    });
    if (options.json === true) printJson(devices);
    else {
      printTable(
        ['ID', 'NAME', 'SERIAL NUMBER', 'DOMAIN', 'STATE', 'NEXT EXPIRY'],
        devices.map((device) => [
          device.id,
          device.common_name,
          device.serial_number || '-',
          device.domain ?? '-',
          device.state,
          device.next_expiry?.slice(0, 10) ?? '-',
        ]),
      );
    }
    return exit.success;
  },
};

const newestCertificates = 20;

export const deviceShow: Command = {
  name: 'device show',
  positionals: ['NAME'],
  summary: 'Show a device and its newest certificates.',
  details: 'NAME is the common name or the id of the device. Secrets are not printed.',
  options: placeOptions,
  async run(invocation) {
    const { device, certificates } = await withGateway(invocation, async (opened) => {
      const { gateway, principal } = opened;
      const found = await deviceNamed(opened, invocation.positionals[0]!);
      const { records } = await gateway.certificates.list(principal, {
        where: [{ field: 'device', is: 'equal', value: found.id }],
        limit: newestCertificates,
      });
      return {
        device: describe(found, await domainNames(opened)),
        certificates: records.map(describeCertificate),
      };
    });
    if (invocation.options.json === true) printJson({ ...device, certificates });
    else {
      printFacts(device);
      console.log();
      printTable(
        ['CERTIFICATE', 'SERIAL NUMBER', 'SUBJECT', 'STATUS', 'UNTIL'],
        certificates.map((one) => [
          one.id,
          one.serial_number,
          one.subject,
          one.status,
          one.not_valid_after.slice(0, 10),
        ]),
      );
    }
    return exit.success;
  },
};
