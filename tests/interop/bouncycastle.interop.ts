import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Server, shell, startServer } from '#tests/fixtures/server.ts';
import { javaLibraries } from './install.ts';

const sources = join(import.meta.dir, 'bouncycastle');
const libraries = await javaLibraries(join(sources, 'pom.xml'));

describe.skipIf(!libraries)("Bouncy Castle's EST client", () => {
  let server: Server;

  beforeAll(async () => {
    server = await startServer();
    writeFileSync(join(server.directory, 'root.pem'), server.cli('ca', 'export', '1'));
    const built = shell(server.directory, `javac -cp '${libraries}' -d classes '${sources}/EstClient.java'`);
    expect(built).toMatchObject({ status: 0 });
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  /** The options of `EstClient.java`; its standard output. */
  function client(operation: string, options: Record<string, string | number> = {}): string {
    const all = { server: `localhost:${server.httpsPort}`, root: 'root.pem', ...options };
    const words = Object.entries(all).map(([name, value]) => `'${name}=${value}'`);
    const command = `java -cp 'classes:${libraries}' EstClient ${operation} ${words.join(' ')}`;
    const { status, stdout, stderr } = shell(server.directory, command);
    if (status !== 0) throw new Error(stderr);
    return stdout.trim();
  }

  test('fetches the CA certificates', () => {
    expect(client('cacerts').match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
  });
});
