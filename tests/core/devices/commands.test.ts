import { expect, test } from 'bun:test';
import { enrolmentLines } from '#core/devices/enrolment-lines.ts';
import { installation } from '#tests/fixtures/installation.ts';

const device = {
  id: 7,
  commonName: 'pump-7',
  domain: 'default',
  password: 'a-password',
  sharedSecret: 'a-secret',
  awaitsIdevid: false,
  baseUrl: 'https://pki.example:8443',
  publicUrl: 'http://pki.example:8080',
  protocols: new Set(['est', 'rest', 'cmp']),
};

/** Splits a line into words as a shell does; only printf is run. */
function words(line: string): readonly string[] {
  const script = `curl() { printf '%s\\0' "$@"; }; openssl() { printf '%s\\0' "$@"; }; ${line}`;
  const { stdout, stderr, exitCode } = Bun.spawnSync(['sh', '-c', script]);
  expect([exitCode, stderr.toString()]).toEqual([0, '']);
  return stdout.toString().split('\0').slice(0, -1);
}

test.each([
  '$(touch /tmp/x)',
  '`id`; echo',
  "it's",
  '"; rm -rf x #',
  "'; exit 7; '",
  '-subj',
  '--help',
  'a\\b/c+d=e',
  '../../etc/passwd',
  '*?[a]~ ! & | < > ( )',
  'ü€🔑',
  '\u2028\u202e',
])('the name %s is one word in each command line', (commonName) => {
  const lines = enrolmentLines({ ...device, commonName, password: 'p', sharedSecret: "s'$x" });
  const key = words(lines.key!);
  expect(key.filter((_, n) => key[n - 1] === '-subj')).toEqual([
    `/CN=${commonName.replace(/[\\/+=]/g, '\\$&')}`,
  ]);
  expect(key.filter((word) => word.endsWith('.key') && !/^[\w.][\w.-]*$/.test(word))).toEqual([]);
  const cmp = words(lines.cmp!);
  const ascii = /^[\x20-\x7e]*$/.test(commonName);
  expect(cmp[cmp.indexOf('-ref') + 1]).toBe(ascii ? commonName : '7');
  expect(cmp[cmp.indexOf('-secret') + 1]).toBe("pass:s'$x");
});

test('a device whose name has a colon logs in by its id, as HTTP Basic does not allow colons', () => {
  expect(enrolmentLines({ ...device, commonName: 'a:b' }).est).toContain('--user 7:a-password ');
});

test('command lines are given for the protocols and credentials of the device', () => {
  expect(Object.keys(enrolmentLines(device))).toEqual([
    'key',
    'ca',
    'est',
    'est_renew',
    'rest',
    'rest_renew',
    'cmp',
    'cmp_renew',
  ]);
  const idevid = { ...device, password: null, sharedSecret: null, awaitsIdevid: true };
  expect(Object.keys(enrolmentLines(idevid))).toEqual([
    'key',
    'ca',
    'est_idevid',
    'est_renew',
    'rest_renew',
    'cmp_idevid',
    'cmp_renew',
  ]);
  expect(Object.keys(enrolmentLines({ ...device, protocols: new Set(['cmp']) }))).toEqual([
    'key',
    'cmp',
    'cmp_renew',
  ]);
});

test('secrets are only in the command lines of accounts that may read them', async () => {
  await using site = await installation();
  const { gateway, admin } = site;
  const { device, password } = await site.device('pump');
  const seen = await gateway.devices.commands(admin, device.id);
  expect(seen.commands.est).toContain(`pump:${password}`);
  const reader = { ...admin, permissions: new Set(['devices.read']) } as typeof admin;
  const hidden = await gateway.devices.commands(reader, device.id);
  expect(JSON.stringify(hidden)).not.toContain(password);
  expect(hidden.commands.est).toContain('--user pump:SECRET');
  expect(Object.keys(hidden.titles)).toEqual(Object.keys(hidden.commands));
});
