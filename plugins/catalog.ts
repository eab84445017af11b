import { cmp, documentation, est, management, publication, rest, webConsole } from './builtin/inbound.ts';
import { keyfile, pkcs11 } from './builtin/keys.ts';
import { remoteCmp } from './builtin/remote-cmp.ts';
import { remoteEst } from './builtin/remote-est.ts';
import { postgres, sqlite } from './builtin/stores.ts';
import type { Plugin } from './kit/contract.ts';

/**
 * All built-in plugins. If the configuration names no inbound plugin, all inbound ones are enabled. A plugin loads its adapter only
 * when it opens, so that commands that only check or list start quickly.
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
  documentation,
];
