import type { Principal } from '#core/accounts/principal.ts';
import type { Domain } from '#core/domains/domain.ts';
import { Fault } from '#core/fault.ts';
import {
  type Command,
  configOption,
  dataOption,
  exit,
  jsonOption,
  type Opened,
  operatorName,
  printJson,
  UsageError,
  withGateway,
} from './command.ts';

export const deviceCommands: readonly Command[] = [
  {
    name: 'device add',
    positionals: ['NAME'],
    summary: 'Create a device with fresh secrets, and print how it enrols.',
    details: 'NAME is its common name. The lines that are printed can be run as they are.',
    options: {
      domain: { type: 'string', value: 'D', help: 'The domain it belongs to. Default: the default domain' },
      json: jsonOption,
      data: dataOption,
      config: configOption,
    },
    async run(invocation) {
      const commonName = deviceName(invocation.positionals[0]!);
      const { options } = invocation;
      const added = await withGateway(invocation, (opened) => addDevice(opened, commonName, options.domain));
      if (options.json === true) printJson(added);
      else printDevice(added);
      return exit.success;
    },
  },
];

function deviceName(text: string): string {
  const name = text.trim();
  if (name === '' || name.length > 100 || /[\u0000-\u001f\u007f-\u009f]/.test(name)) {
    throw new UsageError('NAME has 1 to 100 characters, and no control characters');
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
  /** Lines for a shell: the key and the request, the CA certificate, then one enrolment for each protocol that is open. */
  readonly commands: Readonly<Record<string, string>>;
}

async function addDevice(opened: Opened, commonName: string, wanted: unknown): Promise<AddedDevice> {
  const { gateway, loaded } = opened;
  const principal = gateway.accounts.operator(operatorName());
  const name = typeof wanted === 'string' ? wanted : loaded.configuration.domains.default;
  const domain = await domainNamed(opened, principal, name);
  const device = await gateway.devices.create(principal, { commonName, domain: domain.id });
  const { noOnboardingConfig } = device;
  const secrets =
    noOnboardingConfig === null
      ? undefined
      : await gateway.noOnboardingConfigs.read(principal, noOnboardingConfig);
  const added = {
    id: device.id,
    common_name: device.commonName,
    domain: domain.uniqueName,
    username: device.commonName,
    password: secrets?.estPassword ?? null,
    cmp_reference: device.commonName,
    cmp_shared_secret: secrets?.cmpSharedSecret ?? null,
  };
  return { ...added, commands: enrolmentLines(opened, added) };
}

async function domainNamed({ gateway }: Opened, principal: Principal, uniqueName: string): Promise<Domain> {
  const { records } = await gateway.domains.list(principal, {
    where: [{ field: 'uniqueName', is: 'equal', value: uniqueName }],
    limit: 1,
  });
  const [domain] = records;
  if (!domain) throw new Fault('notFound', `there is no domain called ${uniqueName}`);
  return domain;
}

const quote = (text: string): string =>
  /^[\w./:@=+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

function enrolmentLines(
  { baseUrl, publicUrl, loaded }: Opened,
  device: Omit<AddedDevice, 'commands'>,
): Readonly<Record<string, string>> {
  const { common_name: name, domain, password, cmp_shared_secret: secret } = device;
  const file = name.replace(/[^\w.-]/g, '_').replace(/^[.-]/, '_');
  // openssl takes / and = in a name for the start of the next part, unless escaped.
  const subject = quote(`/CN=${name.replace(/[\\/+=]/g, '\\$&')}`);
  const path = encodeURIComponent(domain);
  const curl = `curl --fail --silent --show-error --cacert ca.pem --user ${quote(`${name}:${password}`)}`;
  const p10 = `openssl req -in ${file}.csr -outform DER | openssl base64 -A`;
  const open = new Set(loaded.configuration.inbound.map(({ plugin }) => plugin.name));
  const { host } = new URL(publicUrl);
  return {
    key: `openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ${file}.key -out ${file}.csr -subj ${subject}`,
    // Fetched unchecked: whoever needs to be sure compares it with the output of `postern ca export`.
    ca: `curl --fail --silent --show-error --insecure ${baseUrl}/.well-known/est/${path}/cacerts | openssl base64 -d | openssl pkcs7 -inform DER -print_certs -out ca.pem`,
    ...(open.has('est') && {
      est: `${p10} | ${curl} --header 'Content-Type: application/pkcs10' --data-binary @- ${baseUrl}/.well-known/est/${path}/simpleenroll | openssl base64 -d | openssl pkcs7 -inform DER -print_certs -out ${file}.pem`,
    }),
    ...(open.has('rest') && {
      rest: `printf '{"csr":"%s"}' "$(${p10})" | ${curl} --header 'Content-Type: application/json' --data-binary @- ${baseUrl}/rest/${path}/enroll`,
    }),
    ...(open.has('cmp') && {
      cmp: `openssl cmp -cmd ir -server ${host} -path .well-known/cmp/p/${path} -ref ${quote(name)} -secret pass:${secret} -newkey ${file}.key -subject ${subject} -certout ${file}.pem`,
    }),
  };
}

const titles: Readonly<Record<string, string>> = {
  key: 'A key and a request for a certificate',
  ca: 'The CA certificates',
  est: 'The certificate, over EST',
  rest: 'The certificate, over REST',
  cmp: 'The certificate, over CMP',
};

function printDevice({ commands, ...device }: AddedDevice): void {
  for (const [name, value] of Object.entries(device)) {
    if (value !== null) console.log(`${name.replaceAll('_', ' ').padEnd(18)} ${value}`);
  }
  for (const [name, line] of Object.entries(commands)) console.log(`\n# ${titles[name] ?? name}\n${line}`);
}
