import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemEntropy } from '#adapters/outbound/system/platform.ts';
import { createVault } from '#adapters/outbound/system/vault.ts';
import type { InboundSurroundings, Surroundings } from '#plugins/kit/contract.ts';
import { recordingLog } from '#tests/fakes/log.ts';
import { installation, testClock } from '#tests/fixtures/installation.ts';

/** `remove` deletes everything that they created. */
type Removable<T> = T & { remove(): Promise<void> };

/** Returns what a plugin in another slot than `inbound` gets when it is opened, with its own data directory. */
export function testSurroundings(name: string): Removable<Surroundings> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'postern-plugin-'));
  return {
    name,
    dataDirectory,
    log: recordingLog(),
    clock: testClock(),
    entropy: systemEntropy,
    vault: createVault(new Uint8Array(32).fill(5)),
    remove: async () => rmSync(dataDirectory, { recursive: true, force: true }),
  };
}

/**
 * Returns what an inbound plugin gets: the same over a whole service after its first start, with SQLite in
 * memory, a root and an issuing CA.
 */
export async function testGateway(name: string): Promise<Removable<InboundSurroundings>> {
  const service = await installation();
  const { remove, ...surroundings } = testSurroundings(name);
  return {
    ...surroundings,
    clock: service.clock,
    gateway: service.gateway,
    baseUrl: 'https://pki.example:8443',
    async remove() {
      await service[Symbol.asyncDispose]();
      await remove();
    },
  };
}
