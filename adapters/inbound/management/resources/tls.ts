import { Type } from '@sinclair/typebox';
import { encodePem } from '#adapters/wire/pem.ts';
import type { CredentialInput } from '#core/administration/make-credential.ts';
import type { Gateway } from '#core/gateway.ts';
import { type Credential, credentialType } from '#core/records/credential.ts';
import { fingerprint, parseCertificate, subjectAltNamesOf } from '#core/x509/certificate.ts';
import { formatGeneralName } from '#core/x509/general-name.ts';
import { recordId } from '../collection.ts';
import { recordSchema, shownExample } from '../collection-operations.ts';
import { type Description, timestamp } from '../description.ts';
import { json } from '../errors.ts';
import { dateTime, integerEnum, nullable, text } from '../fields.ts';
import { equalInteger, equalText, isTrue } from '../filters.ts';
import { jsonResponse, type Route } from '../route.ts';
import { createdAtField, idField, keyType } from './common-fields.ts';
import { type MaterialInput, materialFields, readMaterial } from './key-material.ts';

const types = integerEnum({
  [credentialType.tlsServer]: 'Service TLS Server',
  [credentialType.rootCa]: 'Root CA',
  [credentialType.issuingCa]: 'Issuing CA',
  [credentialType.issuedCredential]: 'Issued Credential',
  [credentialType.devOwnerId]: 'DevOwnerID',
  [credentialType.signer]: 'Signer',
});

const ordered = { readOnly: true, orderable: true } as const;
const shown = { readOnly: true, detailOnly: true } as const;

type Input = Omit<CredentialInput, 'material'> & MaterialInput;

export const credentials: Description<'credential', Input, Credential> = {
  path: '/api/tls',
  tag: 'tls',
  kind: 'credential',
  permissions: { read: 'credentials.read', write: 'credentials.write' },
  fields: {
    id: idField,
    credential_type: { schema: types, record: 'type', required: true, orderable: true },
    created_at: createdAtField,
    unique_name: {
      schema: text(255, { min: 1, description: 'default: a name with the type' }),
      orderable: true,
    },
    common_name: {
      schema: text(64, { min: 1, description: 'default: the name of this service, or the unique name' }),
      shown: Type.String(),
      createOnly: true,
      orderable: true,
    },
    is_active: {
      schema: Type.Boolean({ description: 'type 0: true for the credential that the listener uses' }),
      ...ordered,
    },
    not_valid_after: { schema: dateTime('notAfter'), ...ordered },
    signature_suite: { schema: Type.String({ description: 'key type and hash' }), ...ordered },
    updated_at: { schema: dateTime('when the record was last changed'), ...ordered },
    issuing_ca: {
      schema: nullable(Type.Integer(), 'types 1 and 2: the issuing CA with this certificate'),
      readOnly: true,
    },
    subject_alternative_names: {
      schema: Type.Array(text(1000), {
        maxItems: 32,
        description: '`DNS:pki.example`, `IP:192.0.2.1`, …; default for type 0: the names of this service',
      }),
      record: 'names',
      createOnly: true,
      detailOnly: true,
    },
    key_type: { schema: keyType('default: p-256; for a root CA p-384'), createOnly: true, writeOnly: true },
    ...materialFields,
    pem: { schema: Type.String({ description: 'the certificate, PEM' }), ...shown },
    fingerprint: { schema: Type.String({ description: 'SHA-256, upper-case hexadecimal' }), ...shown },
  },
  filters: {
    credential_type: equalInteger('type', types),
    is_active: isTrue('isActive'),
    unique_name: equalText('uniqueName'),
  },
  toJson: (credential, detail) => ({
    id: credential.id,
    credential_type: credential.type,
    created_at: timestamp(credential.createdAt),
    unique_name: credential.uniqueName,
    common_name: credential.commonName,
    is_active: credential.isActive,
    not_valid_after: timestamp(credential.notValidAfter),
    signature_suite: credential.signatureSuite,
    updated_at: timestamp(credential.updatedAt),
    issuing_ca: credential.issuingCa,
    ...(detail && contents(credential.certificate)),
  }),
  example: {
    id: 5,
    credential_type: credentialType.tlsServer,
    created_at: '2026-03-02T08:00:00.000',
    unique_name: 'tls-server-5f0c2a91',
    common_name: 'pki.example',
    is_active: true,
    not_valid_after: '2027-03-02T08:00:00.000',
    signature_suite: 'ecdsa-sha256',
    updated_at: '2026-03-02T08:00:00.000',
    issuing_ca: null,
    subject_alternative_names: ['DNS:pki.example'],
    key_type: 'p-256',
    pem: '-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n',
    fingerprint: '9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08',
  },
  conflicts: { remove: 'The listener uses it, or signed messages refer to it.' },
  operations: ({ credentials: { list, read, create, update, remove } }) => ({
    list,
    read,
    update,
    remove,
    create: async (principal, { privateKey, pkcs12, password, certificate, certificateChain, ...input }) => {
      const material = await readMaterial({ privateKey, pkcs12, password, certificate, certificateChain });
      return create(principal, { ...input, ...(material && { material }) });
    },
  }),
};

function contents(der: Uint8Array): Record<string, unknown> {
  return {
    subject_alternative_names: subjectAltNamesOf(parseCertificate(der)).map(formatGeneralName),
    pem: encodePem('CERTIFICATE', der),
    fingerprint: fingerprint(der),
  };
}

/** `POST /api/tls/{id}/activate/`. */
export const activateCredential = (gateway: Gateway): Route => ({
  method: 'POST',
  path: `${credentials.path}/:id/activate`,
  operation: {
    id: 'activateCredential',
    tag: 'tls',
    summary: 'Activate a TLS server credential',
    description: 'Takes effect with the next handshake, on all instances within seconds, without a restart.',
    permission: 'credentials.write',
    responses: {
      200: jsonResponse(
        'The credential.',
        recordSchema(credentials.fields, true, 'Credential'),
        shownExample(credentials),
      ),
    },
    failures: { 409: 'The credential has another type, or its certificate has expired.' },
  },
  handle: async (principal, _request, { id }) =>
    json(200, credentials.toJson(await gateway.credentials.activate(principal, recordId(id)), true)),
});
