import { Type } from '@sinclair/typebox';
import { detail } from '#adapters/inbound/management/shared-schemas.ts';
import { encodePem } from '#adapters/wire/pem.ts';
import type { Gateway } from '#core/gateway.ts';
import type { Credential } from '#core/records/credential.ts';
import { readBody } from '../body.ts';
import { recordId } from '../collection.ts';
import { type Description, timestamp } from '../description.ts';
import { asServerError, json, ValidationError } from '../errors.ts';
import { dateTime, reference, text } from '../fields.ts';
import { attachment, prefersJson } from '../files.ts';
import { readInput } from '../input.ts';
import { jsonResponse, type Route } from '../route.ts';
import { idField } from './common-fields.ts';

const ordered = { readOnly: true, orderable: true } as const;
const path = '/api/signers';
const tag = 'signers';

export const signers: Description<'credential', never, Credential> = {
  path,
  tag,
  noun: ['signer', 'signers'],
  kind: 'credential',
  permissions: { read: 'signers.read' },
  fields: {
    id: idField,
    unique_name: { schema: Type.String(), ...ordered },
    certificate_cn: { schema: Type.String(), record: 'commonName', ...ordered },
    certificate_not_valid_after: { schema: dateTime('notAfter'), record: 'notValidAfter', ...ordered },
    signature_suite: { schema: Type.String({ description: 'key type and hash of the signer' }), ...ordered },
    created_at: { schema: dateTime('when the record was created'), ...ordered },
    updated_at: { schema: dateTime('when the record was last changed'), ...ordered },
  },
  toJson: (signer) => ({
    id: signer.id,
    unique_name: signer.uniqueName,
    certificate_cn: signer.commonName,
    certificate_not_valid_after: timestamp(signer.notValidAfter),
    signature_suite: signer.signatureSuite,
    created_at: timestamp(signer.createdAt),
    updated_at: timestamp(signer.updatedAt),
  }),
  example: {
    id: 6,
    unique_name: 'firmware',
    certificate_cn: 'Firmware signing',
    certificate_not_valid_after: '2029-03-02T08:00:00.000',
    signature_suite: 'ecdsa-sha256',
    created_at: '2026-03-02T08:00:00.000',
    updated_at: '2026-03-02T08:00:00.000',
  },
  operations: (gateway) => gateway.signers,
};

/** Signing with a signer, and its certificate. Signers are created as credentials of type 5. */
export const signerRoutes = (gateway: Gateway): readonly Route[] => [sign(gateway), certificate(gateway)];

const signFields = {
  signer_id: { schema: reference('the signer'), required: true },
  hash_value: {
    schema: text(1024, {
      min: 1,
      description: 'the digest, hexadecimal, with the length of the signer’s hash',
    }),
    required: true,
  },
} as const;

const signature = {
  signer_id: 6,
  signer_name: 'firmware',
  hash_algorithm: 'SHA256',
  hash_value: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
  signature: '3045022100…',
  signed_message_id: 12,
  created_at: '2026-03-02T08:00:00.000',
};

const sign = (gateway: Gateway): Route => ({
  method: 'POST',
  path: `${path}/sign`,
  operation: {
    id: 'signDigest',
    tag,
    summary: 'Sign a digest',
    description:
      'Signs the digest with RSASSA-PKCS1-v1_5 or ECDSA (DER), depending on the key of the signer. The signature is recorded.',
    permission: 'signers.sign',
    body: {
      schema: Type.Object(
        { signer_id: signFields.signer_id.schema, hash_value: signFields.hash_value.schema },
        { $id: 'SignInput', additionalProperties: false },
      ),
      example: { signer_id: signature.signer_id, hash_value: signature.hash_value },
    },
    responses: {
      200: jsonResponse(
        'The signature.',
        Type.Object(
          {
            signer_id: Type.Integer(),
            signer_name: Type.String(),
            hash_algorithm: Type.String(),
            hash_value: Type.String({ description: 'lower-case hexadecimal' }),
            signature: Type.String({ description: 'lower-case hexadecimal' }),
            signed_message_id: Type.Integer(),
            created_at: dateTime('when it was signed'),
          },
          { $id: 'Signature', additionalProperties: false },
        ),
        signature,
      ),
      500: jsonResponse('The digest could not be signed.', detail, {
        detail: 'the key store is unavailable',
        code: 'unavailable',
      }),
    },
    failures: { 404: 'The signer does not exist.' },
  },
  async handle(principal, request) {
    const input = readInput(signFields, await readBody(request), 'create');
    const { signerId, hashValue } = input as { signerId: number; hashValue: string };
    const digest = fromHex(hashValue);
    try {
      const message = await gateway.signers.sign(principal, signerId, digest);
      return json(200, {
        signer_id: message.signer,
        signer_name: message.signerName,
        hash_algorithm: message.hash.toUpperCase(),
        hash_value: message.hashValue,
        signature: message.signature,
        signed_message_id: message.id,
        created_at: timestamp(message.createdAt),
      });
    } catch (error) {
      throw asServerError(error);
    }
  },
});

function fromHex(text: string): Uint8Array {
  if (/^(?:[0-9a-f]{2})+$/i.test(text)) return Buffer.from(text, 'hex');
  throw new ValidationError({ hash_value: ['expected hexadecimal digits, two per octet'] });
}

const certificate = (gateway: Gateway): Route => ({
  method: 'GET',
  path: `${path}/:id/certificate`,
  operation: {
    id: 'downloadSignerCertificate',
    tag,
    summary: 'Download the certificate of a signer',
    description: 'Returns a PEM file. With `Accept: application/json` the PEM is a JSON member.',
    permission: 'signers.read',
    responses: {
      200: {
        description: 'The certificate, PEM.',
        headers: { 'Content-Disposition': 'The file name.' },
        content: {
          'application/x-pem-file': { schema: Type.String(), example: '-----BEGIN CERTIFICATE-----\nMIIB…' },
          'application/json': {
            schema: Type.Object(
              {
                signer_id: Type.Integer(),
                signer_name: Type.String(),
                certificate_pem: Type.String(),
              },
              { $id: 'SignerCertificate', additionalProperties: false },
            ),
            example: {
              signer_id: 6,
              signer_name: 'firmware',
              certificate_pem: '-----BEGIN CERTIFICATE-----\nMIIB…',
            },
          },
        },
      },
    },
  },
  async handle(principal, { headers }, parameters) {
    const { id, uniqueName, certificate } = await gateway.signers.read(principal, recordId(parameters.id));
    const pem = encodePem('CERTIFICATE', certificate);
    return prefersJson(headers.accept)
      ? json(200, { signer_id: id, signer_name: uniqueName, certificate_pem: pem })
      : attachment(pem, 'application/x-pem-file', uniqueName, '.pem');
  },
});
