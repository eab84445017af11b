import { Type } from '@sinclair/typebox';
import { encodePem } from '#adapters/wire/pem.ts';
import { buildCertsOnly } from '#adapters/wire/pkcs7.ts';
import type { CaPosition } from '#core/administration/ca-hierarchy.ts';
import type { Gateway } from '#core/gateway.ts';
import { fingerprint, parseCertificate } from '#core/x509/certificate.ts';
import { formatDistinguishedName } from '#core/x509/name.ts';
import { contentsExample, contentsOf, contentsSchema } from '../certificate-contents.ts';
import { recordId } from '../collection.ts';
import { timestamp } from '../description.ts';
import { json, ValidationError } from '../errors.ts';
import { dateTime, nullable } from '../fields.ts';
import { attachment } from '../files.ts';
import { jsonResponse, type Route } from '../route.ts';
import { certificates } from './certificates.ts';
import { issuingCas } from './issuing-cas.ts';

/** Routes that show the contents, the chain and the files of the certificates of devices and CAs. */
export const certificateViews = (gateway: Gateway): readonly Route[] => [
  ...views(certificates.path, certificates.tag, 'Certificate', 'certificates.read', async (principal, id) => {
    const [{ commonName, der }, above] = await Promise.all([
      gateway.certificates.read(principal, id),
      gateway.certificates.above(principal, id),
    ]);
    return { name: commonName, links: [{ certificate: der, ca: null }, ...above] };
  }),
  ...views(issuingCas.path, issuingCas.tag, 'IssuingCa', 'cas.read', async (principal, id) => {
    const [{ uniqueName }, links] = await Promise.all([
      gateway.issuingCas.read(principal, id),
      gateway.issuingCas.links(principal, id),
    ]);
    return { name: uniqueName, links };
  }),
  hierarchy(gateway),
];

const linkSchema = Type.Object(
  {
    subject: Type.String({ description: 'RFC 4514' }),
    serial_number: Type.String({ description: 'upper-case hexadecimal' }),
    not_valid_after: dateTime('notAfter'),
    fingerprint: Type.String({ description: 'SHA-256, upper-case hexadecimal' }),
    issuing_ca: nullable(Type.Integer(), 'the issuing CA here that owns this certificate'),
  },
  { $id: 'ChainLink', additionalProperties: false },
);

const viewSchema = Type.Object(
  {
    contents: contentsSchema,
    chain: Type.Array(linkSchema, { description: 'from the certificate to the root' }),
  },
  { $id: 'CertificateView', additionalProperties: false },
);

const viewExample = {
  contents: contentsExample,
  chain: [
    {
      subject: 'CN=pump-7',
      serial_number: '4C6F9D0E1B7A3358A1D2C4E60789BB21',
      not_valid_after: '2027-03-02T08:15:30.000',
      fingerprint: '9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08',
      issuing_ca: null,
    },
  ],
};

interface Chain {
  readonly name: string;
  readonly links: readonly { readonly certificate: Uint8Array; readonly ca: number | null }[];
}

const formats = ['pem', 'der', 'chain', 'pkcs7'] as const;
type Format = (typeof formats)[number];

function views(
  path: string,
  tag: string,
  noun: string,
  permission: 'certificates.read' | 'cas.read',
  chainOf: (principal: Parameters<Route['handle']>[0], id: number) => Promise<Chain>,
): readonly Route[] {
  return [
    {
      method: 'GET',
      path: `${path}/:id/contents`,
      operation: {
        id: `read${noun}Contents`,
        tag,
        summary: 'Show the contents and the chain of a certificate',
        permission,
        responses: { 200: jsonResponse('The contents.', viewSchema, viewExample) },
      },
      async handle(principal, _request, { id }) {
        const { links } = await chainOf(principal, recordId(id));
        return json(200, {
          contents: contentsOf(links[0]!.certificate),
          chain: links.map(({ certificate, ca }) => {
            const { subject, serialNumber, notAfter } = parseCertificate(certificate);
            return {
              subject: formatDistinguishedName(subject),
              serial_number: serialNumber,
              not_valid_after: timestamp(notAfter),
              fingerprint: fingerprint(certificate),
              issuing_ca: ca,
            };
          }),
        });
      },
    },
    {
      method: 'GET',
      path: `${path}/:id/file`,
      operation: {
        id: `download${noun}File`,
        tag,
        summary: 'Download a certificate',
        permission,
        query: {
          encoding: Type.String({
            enum: [...formats],
            description: 'pem (default), der, chain (PEM, up to the root) or pkcs7 (the chain, DER)',
          }),
        },
        failures: { 400: 'The encoding is unknown.' },
        responses: {
          200: {
            description: 'A file.',
            headers: { 'Content-Disposition': 'The file name.' },
            content: {
              'application/x-pem-file': {
                schema: Type.String(),
                example: '-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n',
              },
              'application/pkix-cert': {
                schema: Type.String({ contentEncoding: 'binary' }),
                example: 'the certificate in DER',
              },
              'application/pkcs7-mime': {
                schema: Type.String({ contentEncoding: 'binary' }),
                example: 'certificates in a SignedData',
              },
            },
          },
        },
      },
      async handle(principal, { query }, { id }) {
        const asked = new URLSearchParams(query).get('encoding') || 'pem';
        const format = formats.find((one) => one === asked.toLowerCase());
        if (!format) throw new ValidationError({ encoding: [`one of ${formats.join(', ')} is expected`] });
        const { name, links } = await chainOf(principal, recordId(id));
        return file(
          format,
          name,
          links.map(({ certificate }) => certificate),
        );
      },
    },
  ];
}

function file(format: Format, name: string, chain: readonly Uint8Array[]): Response {
  const pem = (certificates: readonly Uint8Array[]): string =>
    certificates.map((der) => encodePem('CERTIFICATE', der)).join('');
  switch (format) {
    case 'pem':
      return attachment(pem(chain.slice(0, 1)), 'application/x-pem-file', name, '.pem');
    case 'der':
      return attachment(chain[0]!, 'application/pkix-cert', name, '.cer');
    case 'chain':
      return attachment(pem(chain), 'application/x-pem-file', name, '-chain.pem');
    case 'pkcs7':
      return attachment(buildCertsOnly(chain), 'application/pkcs7-mime', name, '.p7c');
  }
}

const positionSchema = Type.Object(
  {
    id: Type.Integer(),
    unique_name: Type.String(),
    issuing_ca_type: Type.Integer(),
    is_active: Type.Boolean(),
    subject: Type.String({ description: 'RFC 4514' }),
    issuer: Type.String({ description: 'RFC 4514' }),
    parent: nullable(Type.Integer(), 'the issuing CA here that signed it'),
    not_valid_before: dateTime('notBefore'),
    not_valid_after: dateTime('notAfter'),
    crl: nullable(
      Type.Object(
        {
          number: Type.Integer(),
          this_update: dateTime('thisUpdate'),
          next_update: dateTime('nextUpdate'),
        },
        { additionalProperties: false },
      ),
      'the newest',
    ),
  },
  { $id: 'CaPosition', additionalProperties: false },
);

const hierarchy = (gateway: Gateway): Route => ({
  method: 'GET',
  path: '/api/ca-hierarchy',
  operation: {
    id: 'readCaHierarchy',
    tag: issuingCas.tag,
    summary: 'List the CA hierarchy with the newest CRL of each CA',
    permission: 'cas.read',
    responses: {
      200: jsonResponse('The CAs.', Type.Array(positionSchema), [
        {
          id: 2,
          unique_name: 'issuing-ca',
          issuing_ca_type: 1,
          is_active: true,
          subject: 'CN=Postern Issuing CA 5F0C2A91,O=Postern',
          issuer: 'CN=Postern Root CA 5F0C2A91,O=Postern',
          parent: 1,
          not_valid_before: '2026-03-02T08:00:00.000',
          not_valid_after: '2036-03-02T08:00:00.000',
          crl: {
            number: 12,
            this_update: '2026-03-02T08:00:00.000',
            next_update: '2026-03-09T08:00:00.000',
          },
        },
      ]),
    },
  },
  handle: async (principal) => json(200, (await gateway.issuingCas.hierarchy(principal)).map(positionJson)),
});

const positionJson = ({ record, certificate, parent, crl }: CaPosition) => ({
  id: record.id,
  unique_name: record.uniqueName,
  issuing_ca_type: record.type,
  is_active: record.isActive,
  subject: formatDistinguishedName(certificate.subject),
  issuer: formatDistinguishedName(certificate.issuer),
  parent,
  not_valid_before: timestamp(certificate.notBefore),
  not_valid_after: timestamp(certificate.notAfter),
  crl: crl && {
    number: crl.number,
    this_update: timestamp(crl.thisUpdate),
    next_update: timestamp(crl.nextUpdate),
  },
});
