import type { DerBuilder } from '#core/der/builder.ts';
import type { DerReader } from '#core/der/reader.ts';
import { contextConstructed, tag } from '#core/der/tag.ts';
import { readCertReqId } from './cert-response.ts';
import { readEncoded, readExplicit } from './sequence-of.ts';
import {
  addFreeText,
  addPkiStatusInfo,
  type PkiStatusInfo,
  readFreeText,
  readPkiStatusInfo,
} from './status.ts';

/** CertStatus (RFC 9810 §5.3.18). */
export interface CertStatus {
  readonly certHash: Uint8Array;
  readonly certReqId: number;
  /** Absent: accepted. */
  readonly statusInfo?: PkiStatusInfo | undefined;
  /** AlgorithmIdentifier (DER); absent: the hash of the certificate's signature algorithm. */
  readonly hashAlg?: Uint8Array | undefined;
}

/** One entry of PollRepContent (RFC 9810 §5.3.22). */
export interface Poll {
  /** -1 for messages that are not about certificate requests (RFC 9483 §4.4). */
  readonly certReqId: number;
  /** Seconds to wait before the next poll. */
  readonly checkAfter: number;
  readonly reason?: readonly string[] | undefined;
}

const longestWait = 2 ** 31 - 1;

/** Consumes a CertStatus. Faults: malformed. */
export function readCertStatus(reader: DerReader): CertStatus {
  const status = reader.sequence();
  const certHash = status.octetString();
  const certReqId = readCertReqId(status);
  const statusInfo = status.peek() === tag.sequence ? readPkiStatusInfo(status) : undefined;
  const hashAlg = readExplicit(status, contextConstructed(0), readEncoded);
  status.finish();
  return { certHash, certReqId, statusInfo, hashAlg };
}

export function addCertStatus(builder: DerBuilder, status: CertStatus): void {
  builder.sequence((s) => {
    s.octetString(status.certHash).integer(status.certReqId);
    if (status.statusInfo) addPkiStatusInfo(s, status.statusInfo);
    if (status.hashAlg) s.explicit(0, status.hashAlg);
  });
}

/** Consumes an entry of PollReqContent: its certReqId. Faults: malformed. */
export function readPollRequest(reader: DerReader): number {
  const entry = reader.sequence();
  const certReqId = readCertReqId(entry);
  entry.finish();
  return certReqId;
}

/** Consumes an entry of PollRepContent. Faults: malformed. */
export function readPoll(reader: DerReader): Poll {
  const entry = reader.sequence();
  const certReqId = readCertReqId(entry);
  const checkAfter = entry.smallInteger(longestWait);
  const reason = entry.empty ? undefined : readFreeText(entry);
  entry.finish();
  return { certReqId, checkAfter, reason };
}

export function addPoll(builder: DerBuilder, { certReqId, checkAfter, reason }: Poll): void {
  builder.sequence((s) => {
    s.integer(certReqId).integer(checkAfter);
    if (reason?.length) addFreeText(s, reason);
  });
}
