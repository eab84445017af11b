import { der } from '#core/der/builder.ts';
import type { KeyType } from '#core/x509/algorithm.ts';
import { oid } from '#core/x509/oids.ts';
import { ckm } from './cryptoki.ts';
import type { KeyTemplate, TokenFacts } from './messages.ts';

interface Kind {
  readonly type: KeyType;
  readonly template: KeyTemplate;
  /** The mechanism that the token must support for keys of this length. */
  readonly makes: number;
  readonly signs: number;
  readonly bits: number;
}

const rsa = (bits: number): Kind => ({
  type: `rsa-${bits}`,
  template: { kind: 'rsa', bits },
  makes: ckm.rsaKeyPairGen,
  signs: ckm.rsaPkcs,
  bits,
});

const ec = (type: KeyType, bits: number, curve: string): Kind => ({
  type,
  template: { kind: 'ec', parameters: der((b) => b.oid(curve)) },
  makes: ckm.ecKeyPairGen,
  signs: ckm.ecdsa,
  bits,
});

const kinds: readonly Kind[] = [
  rsa(2048),
  rsa(3072),
  rsa(4096),
  ec('p-256', 256, oid.p256),
  ec('p-384', 384, oid.p384),
  ec('p-521', 521, oid.p521),
  {
    type: 'ed25519',
    template: { kind: 'edwards', parameters: der((b) => b.oid(oid.ed25519)) },
    makes: ckm.edwardsKeyPairGen,
    signs: ckm.eddsa,
    bits: 255,
  },
];

/** The key types that any token may generate. */
export const possibleKeyTypes: readonly KeyType[] = kinds.map(({ type }) => type);

/**
 * Returns the key types with which this token generates keys and signs. Tokens report different lengths for Edwards
 * curves.
 */
export const keyTypesOf = ({ mechanisms }: TokenFacts): readonly KeyType[] =>
  kinds
    .filter(({ makes, signs, bits, template }) => {
      const [least, most] = mechanisms[makes] ?? [1, 0];
      return mechanisms[signs] && (template.kind === 'edwards' || (least <= bits && bits <= most));
    })
    .map(({ type }) => type);

export const templateOf = (wanted: KeyType): KeyTemplate | undefined =>
  kinds.find(({ type }) => type === wanted)?.template;
