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

/** How requests are passed on. */
export interface Manner {
  /**
   * `request`: in messages of our own. `nested`: the message that the device has signed goes along as it is, inside one of ours
   * (RFC 9483 §5.2.2.1), where there is one that asks for what the certificate is to be. `nested-only`: nothing else is passed on.
   */
  readonly forward: 'request' | 'nested' | 'nested-only';
  /** The upstream takes our word for it that the device has the key (RFC 9483 §5.2.3.2), and so names of the profile's. */
  readonly raVerified: boolean;
  readonly enrolWith: 'ir' | 'cr';
  readonly renewWith: 'cr' | 'kur';
}

/** An enrolment message, and the numbers under which it may be answered. */
export interface Wish {
  readonly body: PkiBody;
  readonly certReqIds: readonly number[];
  /** Of the device's message inside it. */
  readonly inside?: { readonly transactionID: Uint8Array; readonly senderNonce: Uint8Array };
}

/**
 * What of an order is sent: the device's own message, if that is wanted; else a PKCS#10 request as the device has signed it (RFC 9483 §4.1.4); of a CRMF request, or where its names
 * are to be others, what the profile makes of it, vouched for by us, if the upstream allows; else the device's own CRMF, with its own
 * proof of possession. Faults: unsupported, badCsr.
 */
export function wishOf({ prepared, operation, renews, message }: Order, manner: Manner): Wish {
  const { request, template } = prepared;
  if (!request) throw new Fault('unsupported', 'an upstream CA needs a certification request');
  const fits =
    sameName(request.subject, template.subject) &&
    sameGeneralNames(request.subjectAltNames, subjectAltNamesOf(template));
  const nestedOnly = manner.forward === 'nested-only';
  if (manner.forward !== 'request' && message && fits) return nested(message, request);
  if (nestedOnly && !message)
    throw new Fault('unsupported', 'forward = "nested-only" needs a CMP message signed by the device');
  if (request.kind === 'pkcs10' && fits)
    return { body: { type: 'p10cr', request: request.der }, certReqIds: ofPkcs10 };
  const type = operation === 'renew' ? manner.renewWith : manner.enrolWith;
  if (manner.raVerified && !nestedOnly) {
    const extensions = template.extensions.filter((one) => asked.includes(one.oid));
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
      'the upstream CA needs a request with the final subject and alternative names, which the profile changes',
    );
  const { proof, certReqId, controls } = parseCertReqMsg(request.der);
  if (proof.kind === 'raVerified')
    throw new Fault('unsupported', 'the upstream CA needs a proof of possession by the device itself');
  const isUpdate = controls.some((control) => control.type === controlTypes.oldCertId.oid);
  return {
    body: { type: type === 'kur' && !isUpdate ? 'cr' : type, requests: [request.der] },
    certReqIds: [certReqId],
  };
}

/** RFC 9483 §4.1.4 has -1; RFC 4210 said nothing, and some answer 0. */
const ofPkcs10: readonly number[] = [-1, 0];

/** RFC 9483 §5.2.2.1: transactionID and senderNonce are those of the message inside. */
function nested(message: Uint8Array, { kind, der }: EncodedRequest): Wish {
  const { transactionID, senderNonce } = openPkiMessage(message).header;
  if (!transactionID || !senderNonce)
    throw new Fault('unsupported', 'the message of the device has no transactionID or no senderNonce');
  return {
    body: { type: 'nested', messages: [message] },
    certReqIds: kind === 'pkcs10' ? ofPkcs10 : [parseCertReqMsg(der).certReqId],
    inside: { transactionID, senderNonce },
  };
}

/** The rest of what stands in a certificate is the upstream's own: addresses, policies, key identifiers. */
const asked: readonly string[] = [
  oid.basicConstraints,
  oid.keyUsage,
  oid.extendedKeyUsage,
  oid.subjectAltName,
];

/** The control that names the certificate to be renewed (RFC 4211 §6.5). DER. */
export function oldCertId(certificate: Uint8Array): Control {
  const { issuer, serial } = parseCertificate(certificate);
  const { type, value } = typedValue(controlTypes.oldCertId, {
    issuer: { kind: 'directory', value: issuer } as const,
    serial,
  });
  return { type, value };
}
