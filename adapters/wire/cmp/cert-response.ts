import type { DerBuilder } from '#core/der/builder.ts';
import type { DerReader } from '#core/der/reader.ts';
import { contextConstructed, tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';
import { addEncryptedKey, type EncryptedKey, readEncryptedKey } from './encrypted-key.ts';
import { readEncoded, readExplicit } from './sequence-of.ts';
import { addPkiStatusInfo, type PkiStatusInfo, readPkiStatusInfo } from './status.ts';

/** CertifiedKeyPair (RFC 9810 §5.3.4). */
export interface CertifiedKeyPair {
  /** CertOrEncCert: a certificate in DER, or an encrypted one. */
  readonly certificate: Uint8Array | EncryptedKey;
  readonly privateKey?: EncryptedKey | undefined;
  /** PKIPublicationInfo (RFC 4211 §6.3) in DER. */
  readonly publicationInfo?: Uint8Array | undefined;
}

/** CertResponse (RFC 9810 §5.3.4). */
export interface CertResponse {
  /** -1 in the response to p10cr. */
  readonly certReqId: number;
  readonly status: PkiStatusInfo;
  readonly certifiedKeyPair?: CertifiedKeyPair | undefined;
  readonly rspInfo?: Uint8Array | undefined;
}

/** Consumes a certReqId: 0 or more, or the -1 of RFC 9483 §4.1.4. Faults: malformed. */
export function readCertReqId(reader: DerReader): number {
  const value = reader.integerBytes();
  if (value.length === 1 && value[0] === 0xff) return -1;
  const id =
    value.length > 4 || value[0]! >= 0x80 ? undefined : value.reduce((n, octet) => n * 256 + octet, 0);
  if (id === undefined) throw new Fault('malformed', 'CMP: certReqId out of range');
  return id;
}

/** Consumes a CertResponse. Faults: malformed. */
export function readCertResponse(reader: DerReader): CertResponse {
  const response = reader.sequence();
  const certReqId = readCertReqId(response);
  const status = readPkiStatusInfo(response);
  const certifiedKeyPair = response.peek() === tag.sequence ? readCertifiedKeyPair(response) : undefined;
  const rspInfo = response.peek() === tag.octetString ? response.octetString() : undefined;
  response.finish();
  return { certReqId, status, certifiedKeyPair, rspInfo };
}

export function addCertResponse(builder: DerBuilder, response: CertResponse): void {
  builder.sequence((s) => {
    s.integer(response.certReqId);
    addPkiStatusInfo(s, response.status);
    if (response.certifiedKeyPair) addCertifiedKeyPair(s, response.certifiedKeyPair);
    if (response.rspInfo) s.octetString(response.rspInfo);
  });
}

/** Consumes a CertifiedKeyPair. Faults: malformed. */
export function readCertifiedKeyPair(reader: DerReader): CertifiedKeyPair {
  const pair = reader.sequence();
  const certificate =
    readExplicit(pair, contextConstructed(0), readEncoded) ??
    readExplicit(pair, contextConstructed(1), readEncryptedKey);
  if (!certificate) throw new Fault('malformed', 'CMP: key pair without a certificate');
  const privateKey = readExplicit(pair, contextConstructed(0), readEncryptedKey);
  const publicationInfo = readExplicit(pair, contextConstructed(1), readEncoded);
  pair.finish();
  return { certificate, privateKey, publicationInfo };
}

export function addCertifiedKeyPair(builder: DerBuilder, pair: CertifiedKeyPair): void {
  const { certificate, privateKey, publicationInfo } = pair;
  builder.sequence((s) => {
    if (certificate instanceof Uint8Array) s.explicit(0, certificate);
    else s.explicit(1, (b) => addEncryptedKey(b, certificate));
    if (privateKey) s.explicit(0, (b) => addEncryptedKey(b, privateKey));
    if (publicationInfo) s.explicit(1, publicationInfo);
  });
}
