import { expect, test } from 'bun:test';
import { moduleEnvironment } from '#adapters/outbound/pkcs11/module-environment.ts';

const handedOn = (...names: readonly string[]): readonly string[] =>
  Object.keys(moduleEnvironment(Object.fromEntries(names.map((name) => [name, 'a value']))));

test.each([
  ['the place of programs and files', ['PATH', 'HOME', 'TMPDIR']],
  ['locale and linker', ['LANG', 'LC_TIME', 'LD_LIBRARY_PATH']],
  ['what the engine is set up by', ['BUN_JSC_useWarmUpMarkedBlocks', 'MIMALLOC_PURGE_DELAY']],
  ['whom to trust over the network', ['SSL_CERT_FILE', 'SSL_CERT_DIR']],
  ['proxies', ['http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']],
  ['what modules are set up by', ['SOFTHSM2_CONF', 'ChrystokiConfigurationPath', 'CKNFAST_DEBUG']],
])('the process of a module gets %s', (_, names) => {
  expect(handedOn(...names)).toEqual(names);
});

test.each([
  ['what the gateway is set up by', ['DATABASE_URL', 'POSTERN_ADMIN_PASSWORD', 'PGPASSWORD', 'PIN']],
  ['what would change the program that it runs', ['BUN_OPTIONS', 'NODE_OPTIONS', 'BUN_INSPECT']],
  ['names that only begin or look alike', ['PATHS', 'path', 'MY_LD_PATH', 'SSL_CERT_FILE_PASSWORD']],
])('it does not get %s', (_, names) => {
  expect(handedOn(...names)).toEqual([]);
});
