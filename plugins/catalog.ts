import { cmp } from './cmp.ts';
import { webConsole } from './console.ts';
import type { Plugin } from './contract.ts';
import { est } from './est.ts';
import { keyfile } from './keyfile.ts';
import { management } from './management.ts';
import { pkcs11 } from './pkcs11.ts';
import { postgres } from './postgres.ts';
import { publication } from './publication.ts';
import { remoteCmp } from './remote-cmp.ts';
import { remoteEst } from './remote-est.ts';
import { rest } from './rest.ts';
import { sqlite } from './sqlite.ts';

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
