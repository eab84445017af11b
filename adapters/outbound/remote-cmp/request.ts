import type { PkiBody } from '#adapters/wire/cmp/body.ts';
import { controlTypes } from '#adapters/wire/cmp/controls.ts';
import { openPkiMessage } from '#adapters/wire/cmp/message.ts';
import { typedValue } from '#adapters/wire/cmp/typed-value.ts';
import { Fault } from '#core/fault.ts';
import type { EncodedRequest } from '#core/issuance/enrolment-request.ts';
import type { Order } from '#core/ports/issuer.ts';
import { parseCertificate, subjectAltNamesOf } from '#core/x509/certificate.ts';
import { type Control, parseCertReqMsg } from '#core/x509/crmf.ts';
import { buildCertReqMsg, buildCertRequest, buildCertTemplate } from '#core/x509/crmf-builder.ts';
import { sameGeneralNames } from '#core/x509/general-name.ts';
import { sameName } from '#core/x509/name.ts';
import { oid } from '#core/x509/oids.ts';

/** How requests are forwarded to the upstream CA. */
export interface Forwarding {
  /**
   * `request`: in messages of the gateway. `nested`: the unchanged message that the device signed is nested in a message of the
   * gateway (RFC 9483 §5.2.2.1), if it requests the final subject and alternative names. `nested-only`: all other requests are rejected.
   */
  readonly forward: 'request' | 'nested' | 'nested-only';
  /** The upstream accepts raVerified as proof of possession (RFC 9483 §5.2.3.2), and so also names set by the profile. */
  readonly raVerified: boolean;
  readonly enrolWith: 'ir' | 'cr';
  readonly renewWith: 'cr' | 'kur';
}

/** The body of an enrolment request, and the certReqIds that its response may have. */
export interface EnrolmentRequest {
  readonly body: PkiBody;
  readonly certReqIds: readonly number[];
  /** The header values of the nested device message. */
  readonly inside?: { readonly transactionID: Uint8Array; readonly senderNonce: Uint8Array };
}

/**
 * Builds the enrolment request for an order. In this order of preference: the device's own message, if `forward` says so; the
 * PKCS#10 request that the device signed (RFC 9483 §4.1.4); a CRMF request with the names of the profile and raVerified, if
 * the upstream accepts it; the device's own CRMF request with its proof of possession. Faults: unsupported, badCsr.
 */
export function enrolmentRequestOf(
  { prepared, operation, renews, message }: Order,
  forwarding: Forwarding,
): EnrolmentRequest {
  const { request, template } = prepared;
  if (!request) throw new Fault('unsupported', 'an upstream CA requires a certification request');
  const fits =
    sameName(request.subject, template.subject) &&
    sameGeneralNames(request.subjectAltNames, subjectAltNamesOf(template));
  const nestedOnly = forwarding.forward === 'nested-only';
  if (forwarding.forward !== 'request' && message && fits) return nested(message, request);
  if (nestedOnly && !message)
    throw new Fault('unsupported', 'forward = "nested-only" requires a CMP message signed by the device');
  if (request.kind === 'pkcs10' && fits)
    return { body: { type: 'p10cr', request: request.der }, certReqIds: ofPkcs10 };
  const type = operation === 'renew' ? forwarding.renewWith : forwarding.enrolWith;
  if (forwarding.raVerified && !nestedOnly) {
    const extensions = template.extensions.filter((one) => requestedExtensions.includes(one.oid));
    const { subject, spki } = template;
    const controls = type === 'kur' && renews ? [oldCertId(renews)] : [];
    const wanted = buildCertRequest(0, buildCertTemplate({ subject, spki, extensions }), controls);
    return {
      body: { type, requests: [buildCertReqMsg(wanted, { kind: 'raVerified' })] },
      certReqIds: [0],
    };
  }
  if (!fits)
    throw new Fault(
      'badCsr',
      'the upstream CA requires a request with the final subject and subject alternative names, but the profile changes them',
    );
  const { proof, certReqId, controls } = parseCertReqMsg(request.der);
  if (proof.kind === 'raVerified')
    throw new Fault(
      'unsupported',
      'the upstream CA requires a proof of possession made by the device itself',
    );
  const isUpdate = controls.some((control) => control.type === controlTypes.oldCertId.oid);
  return {
    body: { type: type === 'kur' && !isUpdate ? 'cr' : type, requests: [request.der] },
    certReqIds: [certReqId],
  };
}

/** RFC 9483 §4.1.4 requires -1; RFC 4210 left the value open, and some servers send 0. */
const ofPkcs10: readonly number[] = [-1, 0];

/** RFC 9483 §5.2.2.1: transactionID and senderNonce are those of the message inside. */
function nested(message: Uint8Array, { kind, der }: EncodedRequest): EnrolmentRequest {
  const { transactionID, senderNonce } = openPkiMessage(message).header;
  if (!transactionID || !senderNonce)
    throw new Fault('unsupported', 'the message of the device has no transactionID or no senderNonce');
  return {
    body: { type: 'nested', messages: [message] },
    certReqIds: kind === 'pkcs10' ? ofPkcs10 : [parseCertReqMsg(der).certReqId],
    inside: { transactionID, senderNonce },
  };
}

/** The extensions to request. The upstream CA sets all others itself: URLs, policies, key identifiers. */
const requestedExtensions: readonly string[] = [
  oid.basicConstraints,
  oid.keyUsage,
  oid.extendedKeyUsage,
  oid.subjectAltName,
];

/** Returns the control that names the certificate to be renewed (RFC 4211 §6.5). */
export function oldCertId(certificate: Uint8Array): Control {
  const { issuer, serial } = parseCertificate(certificate);
  const { type, value } = typedValue(controlTypes.oldCertId, {
    issuer: { kind: 'directory', value: issuer } as const,
    serial,
  });
  return { type, value };
}
