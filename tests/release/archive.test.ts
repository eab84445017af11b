import { afterEach, beforeEach, expect, test } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pack } from '#release/archive.ts';
import { signChecksums, writeChecksums } from '#release/checksums.ts';
import { installed } from '#release/components.ts';
import { thirdParty } from '#release/licences.ts';
import { billOfMaterials } from '#release/sbom.ts';
import { describeSource, root } from '#release/source.ts';
import { shell } from '#tests/fixtures/server.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'postern-release-test-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** A folder `name/program` with the same files, made in the given order, at the given time and with the given mode. */
function program(name: string, files: readonly string[], seconds: number, mode: number): string {
  const folder = join(directory, name, 'program');
  mkdirSync(folder, { recursive: true });
  for (const file of files) {
    writeFileSync(join(folder, file), file);
    chmodSync(join(folder, file), mode);
    utimesSync(join(folder, file), seconds, seconds);
  }
  return folder;
}

test('archives of the same files are equal, whatever their order, times and the umask were', async () => {
  const [one, other, changed] = ['1', '2', '3'].map((name) => join(directory, `${name}.tar.gz`));
  await pack(program('a', ['x', 'y'], 1_000, 0o644), one!, 1_700_000_000);
  await pack(program('b', ['y', 'x'], 2_000, 0o600), other!, 1_700_000_000);
  await pack(program('c', ['y', 'z'], 2_000, 0o600), changed!, 1_700_000_000);
  expect(readFileSync(one!).equals(readFileSync(other!))).toBe(true);
  expect(readFileSync(one!).equals(readFileSync(changed!))).toBe(false);
  const listed = shell(directory, 'tar -tvzf 1.tar.gz --numeric-owner --utc').stdout;
  expect(listed).toMatch(/^-rw-r--r-- 0\/0 +1 2023-11-14 22:13 program\/x$/m);
});

const verification = readFileSync(join(root, 'docs/how-to/verify-a-release.md'), 'utf8');
const commands = /## Steps\n+```sh\n(.*?)```/s.exec(verification)![1]!;

test('the commands of the manual accept a signed release and reject a changed one', async () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const keyFile = join(directory, 'private.pem');
  writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const dist = join(directory, 'dist');
  mkdirSync(dist);
  writeFileSync(join(dist, 'a.tar.gz'), 'archive');
  await writeChecksums(dist);
  await signChecksums(dist, keyFile);
  const verify = () => shell(dist, `set -e\n${commands}`);
  expect(verify()).toMatchObject({ status: 0, stdout: 'Signature Verified Successfully\na.tar.gz: OK\n' });
  writeFileSync(join(dist, 'a.tar.gz'), 'another');
  expect(verify().status).not.toBe(0);
  writeFileSync(join(dist, 'a.tar.gz'), 'archive');
  writeFileSync(join(dist, 'SHA256SUMS'), `${readFileSync(join(dist, 'SHA256SUMS'))}\n`);
  expect(verify().status).not.toBe(0);
});

test('a key that is not Ed25519 is rejected', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keyFile = join(directory, 'private.pem');
  writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await writeChecksums(directory);
  await expect(signChecksums(directory, keyFile)).rejects.toThrow('not an Ed25519 key');
});

test('every production package has a version, a licence and an integrity, and is in THIRD-PARTY.txt', async () => {
  const components = await installed(root);
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const names = components.map(({ name }) => name);
  expect(Object.keys(dependencies).filter((name) => !names.includes(name))).toEqual([]);
  const wanted = components.filter(({ name }) => ['kysely', 'ssh2', '@oven/bun-linux-x64'].includes(name));
  const text = await thirdParty(root, wanted);
  expect(text).toMatch(/^ssh2 1\.\d+\.\d+, MIT$/m);
  expect(text).toContain('JavaScriptCore');
});

test.skipIf(Bun.which('git') === null)(
  'a release carries the version of package.json and the date of the commit',
  async () => {
    const source = await describeSource();
    expect(source.commit).toMatch(/^[0-9a-f]{40}$/);
    expect(source.epoch).toBeGreaterThan(1_700_000_000);
    expect(source.version).toMatch(/^\d+\.\d+\.\d+$/);
  },
);

test('the SBOM names each package with its version, licence and hash, and is the same for the same commit', async () => {
  const source = { version: '1.2.3', commit: 'c0ffee', epoch: 1_700_000_000 };
  const components = await installed(root);
  const bill = JSON.parse(billOfMaterials(source, 'postern-1.2.3-linux-x64', components));
  expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.5', version: 1 });
  expect(bill.metadata).toMatchObject({ timestamp: '2023-11-14T22:13:20Z', component: { version: '1.2.3' } });
  const curves = bill.components.find(({ name }: { name: string }) => name === '@noble/curves');
  expect(curves.purl).toBe(`pkg:npm/%40noble/curves@${curves.version}`);
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const { integrity } = lock.packages['node_modules/@noble/curves'];
  expect(`sha512-${Buffer.from(curves.hashes[0].content, 'hex').toString('base64')}`).toBe(integrity);
  const refs = bill.components.map((one: Record<string, string>) => one['bom-ref']);
  expect(new Set(refs).size).toBe(refs.length);
  expect(billOfMaterials(source, 'postern-1.2.3-linux-x64', components)).toBe(
    `${JSON.stringify(bill, null, 2)}\n`,
  );
  expect(bill.serialNumber).toMatch(
    /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
  );
});
