import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { oid } from '#core/x509/oids.ts';
import { noon } from './certify.ts';

/** DER. */
export interface Chain {
  readonly leaf: Uint8Array;
  readonly intermediates: readonly Uint8Array[];
  readonly anchors: readonly Uint8Array[];
}

const pem = (label: string, der: Uint8Array): string => {
  const lines = Buffer.from(der)
    .toString('base64')
    .replace(/.{64}(?=.)/g, '$&\n');
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
};

/** A directory for the files of `openssl verify`, deleted on disposal. */
export class OpenSsl implements Disposable {
  readonly #directory = mkdtempSync(join(tmpdir(), 'postern-path-'));

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true });
  }

  /** Returns the result of `openssl verify -x509_strict -partial_chain`: `ok`, its first error, or `unreadable`. */
  verify(
    chain: Chain,
    options: {
      time?: number | undefined;
      purpose?: string | undefined;
      crls?: readonly Uint8Array[] | undefined;
    },
  ): string {
    const file = (name: string, label: string, blocks: readonly Uint8Array[]): string[] => {
      if (blocks.length === 0) return [];
      const path = join(this.#directory, name);
      writeFileSync(path, blocks.map((der) => pem(label, der)).join(''));
      return [`-${name}`, path];
    };
    const leaf = file('leaf', 'CERTIFICATE', [chain.leaf])[1]!;
    const { exitCode, stdout, stderr } = Bun.spawnSync([
      'openssl',
      'verify',
      '-x509_strict',
      '-partial_chain',
      '-policy_check',
      '-policy',
      oid.anyPolicy,
      '-auth_level',
      '2',
      '-no-CApath',
      '-no-CAstore',
      '-attime',
      String((options.time ?? noon) / 1000),
      ...(options.purpose ? ['-purpose', options.purpose] : []),
      ...(options.crls ? ['-crl_check_all', ...file('CRLfile', 'X509 CRL', options.crls)] : []),
      ...(chain.anchors.length > 0 ? file('CAfile', 'CERTIFICATE', chain.anchors) : ['-no-CAfile']),
      ...file('untrusted', 'CERTIFICATE', chain.intermediates),
      leaf,
    ]);
    if (exitCode === 0) return 'ok';
    const text = stdout.toString() + stderr.toString();
    if (text.startsWith('Could not read')) return 'unreadable';
    return /^error \d+ at \d+ depth lookup: (.*)$/m.exec(text)?.[1] ?? text.trim().split('\n')[0]!;
  }
}
