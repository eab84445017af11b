import { contextConstructed, type DerReader, Fault, readDer, readExtensions, tag } from 'postern';

/** CertID (RFC 6960 §4.1.1): a serial number and its issuer. */
export interface CertificateId {
  /** The CertID as received, which the response repeats. */
  readonly der: Uint8Array;
  /** The name of the hash function in node:crypto; undefined if it is not supported. */
  readonly hash: string | undefined;
  readonly nameHash: Uint8Array;
  readonly keyHash: Uint8Array;
  /** Contents octets of the INTEGER. */
  readonly serial: Uint8Array;
}

export interface OcspRequest {
  readonly ids: readonly CertificateId[];
  readonly nonce: Uint8Array | undefined;
}

/** The maximum number of requests in a message. Each one costs a query of the store. */
const mostRequests = 50;
/** In octets (RFC 9654 §2.1); RFC 8954 allowed 32. */
const longestNonce = 128;

/**
 * Reads an OCSPRequest (DER, RFC 6960 §4.1.1). Requestor and signature are ignored: all clients get the same responses. Throws
 * Fault `malformed`, also for an unknown critical extension.
 */
export function readOcspRequest(bytes: Uint8Array): OcspRequest {
  return readDer(bytes, (reader) => {
    const request = reader.sequence();
    const content = request.sequence();
    const signature = request.optional(contextConstructed(0));
    if (signature) skipSignature(signature);
    request.finish();
    return readContent(content);
  });
}

function readContent(content: DerReader): OcspRequest {
  const version = content.optional(contextConstructed(0));
  version?.smallInteger(0);
  version?.finish();
  const requestor = content.optional(contextConstructed(1));
  requestor?.element();
  requestor?.finish();
  const list = content.sequence();
  const ids: CertificateId[] = [];
  do {
    ids.push(readRequest(list.sequence()));
    if (ids.length > mostRequests) throw new Fault('malformed', 'too many requests in one message');
  } while (!list.empty);
  const nonce = readExtensionsAt(content, 2).find(({ oid }) => oid === nonceExtension);
  content.finish();
  return { ids, nonce: nonce && readNonce(nonce.value) };
}

function readRequest(request: DerReader): CertificateId {
  const der = request.element(tag.sequence);
  // The only defined extension, serviceLocator, asks to forward the request, which is optional (§4.4.6).
  readExtensionsAt(request, 0);
  request.finish();
  return readDer(der, (reader) => {
    const id = reader.sequence();
    const algorithm = id.sequence();
    const hash = hashes.get(algorithm.oid());
    if (!algorithm.empty) algorithm.element();
    algorithm.finish();
    const nameHash = id.octetString();
    const keyHash = id.octetString();
    const serial = id.integerBytes();
    id.finish();
    return { der, hash, nameHash, keyHash, serial };
  });
}

function readExtensionsAt(reader: DerReader, n: number): ReturnType<typeof readExtensions> {
  const explicit = reader.optional(contextConstructed(n));
  if (!explicit) return [];
  const extensions = readExtensions(explicit);
  explicit.finish();
  const unknown = extensions.find(({ oid, critical }) => critical && oid !== nonceExtension);
  if (unknown) throw new Fault('malformed', `unknown critical extension ${unknown.oid}`);
  return extensions;
}

function readNonce(value: Uint8Array): Uint8Array {
  const nonce = readDer(value, (reader) => reader.octetString());
  if (nonce.length === 0 || nonce.length > longestNonce) {
    throw new Fault('malformed', `a nonce must have 1 to ${longestNonce} octets`);
  }
  return nonce;
}

function skipSignature(explicit: DerReader): void {
  const signature = explicit.sequence();
  explicit.finish();
  signature.element(tag.sequence);
  signature.bitString();
  signature.optional(contextConstructed(0));
  signature.finish();
}

/** RFC 6960 §4.2.1, §4.4.1. */
export const basicResponse = '1.3.6.1.5.5.7.48.1.1';
export const nonceExtension = '1.3.6.1.5.5.7.48.1.2';

/** The hash functions for the issuer in a CertID: most clients use SHA-1 (RFC 5019 §2.1.1), RFC 9654 requires SHA-256. */
export const hashes: ReadonlyMap<string, string> = new Map([
  ['1.3.14.3.2.26', 'sha1'],
  ['2.16.840.1.101.3.4.2.1', 'sha256'],
  ['2.16.840.1.101.3.4.2.2', 'sha384'],
  ['2.16.840.1.101.3.4.2.3', 'sha512'],
]);
