import { cmp } from './builtin/cmp.ts';
import { webConsole } from './builtin/console.ts';
import { est } from './builtin/est.ts';
import { keyfile } from './builtin/keyfile.ts';
import { management } from './builtin/management.ts';
import { pkcs11 } from './builtin/pkcs11.ts';
import { postgres } from './builtin/postgres.ts';
import { publication } from './builtin/publication.ts';
import { remoteCmp } from './builtin/remote-cmp.ts';
import { remoteEst } from './builtin/remote-est.ts';
import { rest } from './builtin/rest.ts';
import { sqlite } from './builtin/sqlite.ts';
import type { Plugin } from './kit/contract.ts';

/**
 * Every plugin that comes with Postern. Inbound ones are open where the configuration names none. What they open is loaded
 * when they are opened, as far as it takes long: a command that only checks or lists does without.
 */
export const catalog: readonly Plugin[] = [
  // store
  sqlite,
  postgres,
  // keys
  keyfile,
  pkcs11,
  // issuers
  remoteEst,
  remoteCmp,
  // inbound
  cmp,
  est,
  rest,
  management,
  publication,
  webConsole,
];
