import { demand, type Principal, readsOf } from '../access/principal.ts';
import { type AuditNote, audit } from '../audit/record.ts';
import { hex } from '../der/bytes.ts';
import { hasExpired } from '../der/time.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Page, Query } from '../ports/store.ts';
import { type Credential, credentialType, type SignedMessage } from '../records/credential.ts';
import { type HashName, signatureHash } from '../x509/algorithm.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'keyStores' | 'log' | 'store'> {}

/** The hash of a signer's digests and its length. */
interface SignerHash {
  readonly name: HashName;
  readonly octets: number;
}

export interface Signature extends SignedMessage {
  readonly hash: HashName;
}

/** Credentials of type 5. They are created and deleted as credentials. */
export interface Signers {
  list(principal: Principal, query: Query<'credential'>): Promise<Page<Credential>>;
  /** Faults: notFound. */
  read(principal: Principal, id: number): Promise<Credential>;
  /**
   * Signs a digest and stores a record of the signature. Faults: notFound, malformed with field `hashValue` if the
   * digest's length does not match the signer's hash, conflict if its certificate has expired, unavailable or
   * unsupported if its key cannot sign.
   */
  sign(principal: Principal, id: number, digest: Uint8Array): Promise<Signature>;
  readonly messages: {
    list(principal: Principal, query: Query<'signedMessage'>): Promise<Page<SignedMessage>>;
    /** Faults: notFound. */
    read(principal: Principal, id: number): Promise<SignedMessage>;
  };
}

const isSigner = { field: 'type', is: 'equal', value: credentialType.signer } as const;

const digestOctets = { sha256: 32, sha384: 48, sha512: 64 } as const satisfies Record<HashName, number>;

/** Returns the hash of the signer's signature algorithm. */
function signerHash({ signatureSuite }: Pick<Credential, 'signatureSuite'>): SignerHash {
  const name = signatureHash(signatureSuite);
  if (!name) throw new Fault('unsupported', 'the key of this signer cannot sign digests');
  return { name, octets: digestOctets[name] };
}

export function signers(context: Dependencies): Signers {
  const { store, clock } = context;
  const find = async (id: number): Promise<Credential> => {
    const record = await store.get('credential', id);
    if (record?.type !== credentialType.signer) throw new Fault('notFound', 'there is no such signer');
    return record;
  };
  return {
    list(principal, query) {
      demand(principal, 'signers.read');
      return readsOf(context, principal).list('credential', {
        ...query,
        where: [...(query.where ?? []), isSigner],
      });
    },
    read(principal, id) {
      demand(principal, 'signers.read');
      return find(id);
    },
    async sign(principal, id, digest) {
      demand(principal, 'signers.sign');
      const signer = await find(id);
      const hash = signerHash(signer);
      if (digest.length !== hash.octets) {
        const detail = `this must have ${hash.octets * 2} hexadecimal digits: this signer signs ${hash.name} digests`;
        throw new Fault('malformed', detail, { field: 'hashValue' });
      }
      if (hasExpired(signer.notValidAfter, clock.now()))
        throw new Fault('conflict', 'the certificate of this signer has expired', {
          id: 'certificate_expired',
        });
      const signature = await signDigest(context, signer, digest);
      const values = {
        createdAt: clock.now(),
        signer: id,
        signerName: signer.uniqueName,
        hashValue: hex(digest).toLowerCase(),
        signature: hex(signature).toLowerCase(),
      };
      const event: AuditNote = {
        action: 'signer.sign',
        object: `credential:${id}`,
        detail: { signer: signer.uniqueName, hashValue: values.hashValue },
      };
      const [message] = await store.commit([
        { op: 'insert', kind: 'signedMessage', values },
        audit(context, principal.actor, event),
      ]);
      return { id: message!, ...values, hash: hash.name };
    },
    messages: {
      list(principal, query) {
        demand(principal, 'signers.read');
        return readsOf(context, principal).list('signedMessage', query);
      },
      async read(principal, id) {
        demand(principal, 'signers.read');
        const record = await store.get('signedMessage', id);
        if (!record) throw new Fault('notFound', 'there is no such signed message');
        return record;
      },
    },
  };
}

async function signDigest(
  { keyStores }: Pick<Ports, 'keyStores'>,
  { key, signatureSuite }: Credential,
  digest: Uint8Array,
): Promise<Uint8Array> {
  const keys = keyStores.get(key.store);
  if (!keys) throw new Fault('unavailable', 'the key store of this signer is not configured');
  if (!keys.signDigest) throw new Fault('unsupported', 'the key store of this signer cannot sign digests');
  return keys.signDigest(key.id, signatureSuite, digest);
}
