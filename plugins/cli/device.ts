import {
  type Command,
  exit,
  type Opened,
  placeOptions,
  printJson,
  UsageError,
  withGateway,
} from './command.ts';
import { deviceBlock, deviceDelete, deviceUnblock } from './device-changes.ts';
import { deviceImport } from './device-import.ts';
import { deviceList, deviceShow } from './device-records.ts';
import { domainNamed } from './records.ts';

export const deviceCommands: readonly Command[] = [
  deviceList,
  deviceShow,
  {
    name: 'device add',
    positionals: ['NAME'],
    summary: 'Create a device with new secrets, and print the commands to enrol it.',
    details: 'NAME is the common name of the device. The printed commands can be run unchanged.',
    options: {
      domain: { type: 'string', value: 'D', help: 'The domain of the device. Default: the default domain' },
      ...placeOptions,
    },
    fields: { commonName: 'NAME' },
    async run(invocation) {
      const commonName = deviceName(invocation.positionals[0]!);
      const { options } = invocation;
      const addition = await withGateway(invocation, (opened) =>
        addDevice(opened, commonName, options.domain),
      );
      if (options.json === true) printJson(addition.added);
      else printDevice(addition);
      return exit.success;
    },
  },
  deviceBlock,
  deviceUnblock,
  deviceDelete,
  deviceImport,
];

function deviceName(text: string): string {
  const name = text.trim();
  if (name === '' || name.length > 100 || /[\u0000-\u001f\u007f-\u009f]/.test(name)) {
    throw new UsageError('NAME must have 1 to 100 characters and no control characters');
  }
  return name;
}

interface AddedDevice {
  readonly id: number;
  readonly common_name: string;
  readonly domain: string;
  readonly username: string;
  readonly password: string | null;
  readonly cmp_reference: string;
  readonly cmp_shared_secret: string | null;
  /** Shell commands, by name. */
  readonly commands: Readonly<Record<string, string>>;
}

interface Addition {
  readonly added: AddedDevice;
  /** The purpose of each command. */
  readonly titles: Readonly<Record<string, string>>;
}

async function addDevice(opened: Opened, commonName: string, wanted: unknown): Promise<Addition> {
  const { gateway, loaded, principal } = opened;
  const name = typeof wanted === 'string' ? wanted : loaded.configuration.domains.default;
  const domain = await domainNamed(opened, name);
  const device = await gateway.devices.create(principal, { commonName, domain: domain.id });
  const { noOnboardingConfig } = device;
  const secrets =
    noOnboardingConfig === null
      ? undefined
      : await gateway.noOnboardingConfigs.read(principal, noOnboardingConfig);
  const { commands, titles } = await gateway.devices.commands(principal, device.id);
  const added = {
    id: device.id,
    common_name: device.commonName,
    domain: domain.uniqueName,
    username: device.commonName,
    password: secrets?.estPassword ?? null,
    cmp_reference: device.commonName,
    cmp_shared_secret: secrets?.cmpSharedSecret ?? null,
    commands,
  };
  return { added, titles };
}

function printDevice({ added: { commands, ...device }, titles }: Addition): void {
  for (const [name, value] of Object.entries(device)) {
    if (value !== null) console.log(`${name.replaceAll('_', ' ').padEnd(18)} ${value}`);
  }
  for (const [name, line] of Object.entries(commands)) console.log(`\n# ${titles[name]}\n${line}`);
}
