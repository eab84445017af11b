import { Type } from '@sinclair/typebox';
import { readCertificateFile } from '#adapters/wire/certificate-file.ts';
import { encodePem } from '#adapters/wire/pem.ts';
import type { TruststoreInput } from '#core/administration/truststores.ts';
import { atField, Fault } from '#core/fault.ts';
import type { Gateway } from '#core/gateway.ts';
import { intendedUsage, type Truststore } from '#core/records/domain.ts';
import { fingerprint, parseCertificate } from '#core/x509/certificate.ts';
import { formatDistinguishedName } from '#core/x509/name.ts';
import { recordId } from '../collection.ts';
import { type Description, timestamp } from '../description.ts';
import { dateTime, file, integerEnum, secret, text } from '../fields.ts';
import { attachment, readFile } from '../files.ts';
import { equalInteger, equalText } from '../filters.ts';
import type { Route } from '../route.ts';
import { createdAtField, idField } from './common-fields.ts';

const usages = integerEnum({
  [intendedUsage.idevid]: 'IDevID',
  [intendedUsage.tls]: 'TLS',
  [intendedUsage.generic]: 'Generic',
  [intendedUsage.deviceOwnerId]: 'Device Owner ID',
});

const path = '/api/truststores';

interface Input {
  readonly uniqueName?: string;
  readonly intendedUsage: number;
  readonly trustStoreFile: string | Uint8Array;
  readonly password?: string;
}

const fileUri = (baseUrl: string, id: number): string => `${baseUrl}${path}/${id}/file/`;

/** `baseUrl`: how clients reach this service. */
export const truststores = (baseUrl: string): Description<'truststore', Input, Truststore> => ({
  path,
  tag: 'truststores',
  kind: 'truststore',
  permissions: { read: 'truststores.read', write: 'truststores.write' },
  fields: {
    id: idField,
    unique_name: {
      schema: text(255, { description: 'default: the common name of the first certificate' }),
      orderable: true,
    },
    intended_usage: { schema: usages, required: true, orderable: true },
    created_at: createdAtField,
    trust_store_file: {
      schema: file(
        1024 * 1024,
        'PEM, DER, PKCS #7 or PKCS #12, detected by content: a file of a form; in JSON, PEM or a `data:` URI. The URI of the current file leaves it unchanged',
      ),
      shown: Type.String({ format: 'uri', description: 'URI of the certificates in PEM' }),
      required: true,
      // The URI contains the id.
      orderable: { by: 'id' },
    },
    password: { schema: secret(1024, 'of a PKCS #12 file; default: none'), writeOnly: true },
    certificates: {
      schema: Type.Array(
        Type.Object(
          {
            subject: Type.String({ description: 'RFC 4514' }),
            not_valid_after: dateTime('notAfter'),
            fingerprint: Type.String({ description: 'SHA-256, upper-case hexadecimal' }),
          },
          { additionalProperties: false },
        ),
      ),
      readOnly: true,
      detailOnly: true,
    },
  },
  filters: { intended_usage: equalInteger('intendedUsage', usages), unique_name: equalText('uniqueName') },
  toJson: ({ id, uniqueName, intendedUsage, createdAt, certificates }, detail) => ({
    id,
    unique_name: uniqueName,
    intended_usage: intendedUsage,
    created_at: timestamp(createdAt),
    trust_store_file: fileUri(baseUrl, id),
    ...(detail && { certificates: certificates.map(summary) }),
  }),
  example: {
    id: 3,
    unique_name: 'Pump maker IDevID root',
    intended_usage: intendedUsage.idevid,
    created_at: '2026-03-02T08:00:00.000',
    trust_store_file: 'https://localhost:8443/api/truststores/3/file/',
    password: '',
    certificates: [
      {
        subject: 'CN=Pump maker IDevID root,O=Pump maker',
        not_valid_after: '2046-03-02T08:00:00.000',
        fingerprint: '9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08',
      },
    ],
  },
  conflicts: {
    update: 'Devices authenticate with certificates below this truststore, so its usage must stay IDevID.',
    remove: 'An onboarding configuration or a DevID registration still uses it.',
  },
  operations: ({ truststores: { create, update, ...others } }) => ({
    ...others,
    async create(principal, { trustStoreFile, password, ...input }) {
      return create(principal, { ...input, certificates: await read(trustStoreFile, password) });
    },
    async update(principal, id, { trustStoreFile, password, ...changes }) {
      const unchanged = trustStoreFile === undefined || trustStoreFile === fileUri(baseUrl, id);
      return update(principal, id, {
        ...changes,
        ...(!unchanged && { certificates: await read(trustStoreFile, password) }),
      } satisfies Partial<TruststoreInput>);
    },
  }),
});

async function read(value: string | Uint8Array, password = ''): Promise<readonly Uint8Array[]> {
  try {
    return await readCertificateFile(readFile(value), password);
  } catch (error) {
    const field = 'trustStoreFile';
    if (error instanceof Fault && error.code === 'unsupported')
      throw new Fault('malformed', error.detail, { field, cause: error });
    throw atField(error, field);
  }
}

function summary(der: Uint8Array) {
  const { subject, notAfter } = parseCertificate(der);
  return {
    subject: formatDistinguishedName(subject),
    not_valid_after: timestamp(notAfter),
    fingerprint: fingerprint(der),
  };
}

/** `GET /api/truststores/{id}/file/`. */
export const truststoreFile = (gateway: Gateway): Route => ({
  method: 'GET',
  path: `${path}/:id/file`,
  operation: {
    id: 'downloadTruststore',
    tag: 'truststores',
    summary: 'Download the certificates of a truststore',
    permission: 'truststores.read',
    responses: {
      200: {
        description: 'The certificates, PEM.',
        headers: { 'Content-Disposition': 'The file name.' },
        content: {
          'application/x-pem-file': {
            schema: Type.String(),
            example: '-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n',
          },
        },
      },
    },
  },
  async handle(principal, _request, { id }) {
    const { uniqueName, certificates } = await gateway.truststores.read(principal, recordId(id));
    const pem = certificates.map((der) => encodePem('CERTIFICATE', der)).join('');
    return attachment(pem, 'application/x-pem-file', uniqueName, '.pem');
  },
});
