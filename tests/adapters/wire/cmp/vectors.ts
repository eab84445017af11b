import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dir, '../../../vectors/cmp');

/** Returns a recorded message or certificate of tests/vectors/cmp (DER). */
export const vector = (name: string): Uint8Array => new Uint8Array(readFileSync(join(folder, name)));

/** Names of the recorded messages. */
export const messageNames = readdirSync(folder)
  .filter((name) => /\.(?:req|rsp)\.der$/.test(name))
  .sort();

/** The shared secret of the messages with a MAC. */
export const secret = new TextEncoder().encode('SiemensIT');
