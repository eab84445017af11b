/**
 * The module `postern` for external plugins: the contract, the ports and their types. Exports are not removed or changed
 * while `contractVersion` stays the same.
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
  // X.509 extensions, which certificates, CRLs and OCSP have in common.
  addExtensions,
  // DER, strict in both directions.
  context,
  contextConstructed,
  // The contract, Faults, and the schema builder of TypeBox.
  contractVersion,
  DerBuilder,
  DerReader,
  definePlugin,
  der,
  Fault,
  // The built-in store, for stores that extend it.
  openSqliteStore,
  // The signature algorithms of the key store port.
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
