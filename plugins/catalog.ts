import { cmp, est, management, publication, rest, webConsole } from './builtin/inbound.ts';
import { keyfile, pkcs11 } from './builtin/keys.ts';
import { remoteCmp } from './builtin/remote-cmp.ts';
import { remoteEst } from './builtin/remote-est.ts';
import { postgres, sqlite } from './builtin/stores.ts';
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
