/**
 * What a plugin from outside imports as `postern`: the contract, the ports, and what they speak of. What is exported here stays for
 * as long as `contractVersion` does.
 */
import { Type } from '@sinclair/typebox';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { DerBuilder, der } from '#core/der/builder.ts';
import { sameBytes } from '#core/der/bytes.ts';
import { DerReader, readDer } from '#core/der/reader.ts';
import { context, contextConstructed, tag } from '#core/der/tag.ts';
import { Fault, toFault } from '#core/fault.ts';
import { pssSaltLength, signatureAlgorithmFits, signatureHash } from '#core/x509/algorithm.ts';
import { addExtensions, readExtensions } from '#core/x509/extension.ts';
import { revocationReasonCodes } from '#core/x509/extensions/revocation.ts';
import { contractVersion, definePlugin } from './contract.ts';

export type { HttpRequest, HttpResponse, Mount, Peer } from '#adapters/inbound/http/exchange.ts';
export type {
  Authority,
  Responder,
  RevocationStatus,
  RevocationStatuses,
} from '#core/ca/revocation-status.ts';
export type { FaultCode } from '#core/fault.ts';
export type { Gateway } from '#core/gateway.ts';
export type { Issuer, IssuerAnswer, IssuerDescription, Order } from '#core/ports/issuer.ts';
export type { KeyStore, StoredKey } from '#core/ports/keys.ts';
export type { Clock, Entropy, Health, Log, Vault } from '#core/ports/platform.ts';
export type { Store, Write } from '#core/ports/store.ts';
export type { KeyReference } from '#core/records/credential.ts';
export type { HashName, KeyType, SignatureAlgorithm } from '#core/x509/algorithm.ts';
export type { RevocationReason } from '#core/x509/crl.ts';
export type { Extension } from '#core/x509/extension.ts';
export type { Inbound, InboundSurroundings, Plugin, Slot, Surroundings } from './contract.ts';
export {
  // What X.509's formats share.
  addExtensions,
  // DER, strict in both directions.
  context,
  contextConstructed,
  // The contract, failures, and TypeBox's builder of schemas.
  contractVersion,
  DerBuilder,
  DerReader,
  definePlugin,
  der,
  Fault,
  // The shipped store, for stores that add to it.
  openSqliteStore,
  // What the signature algorithms of the key store port are.
  pssSaltLength,
  readDer,
  readExtensions,
  revocationReasonCodes,
  sameBytes,
  signatureAlgorithmFits,
  signatureHash,
  Type,
  tag,
  toFault,
};
