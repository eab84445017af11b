import { Type } from '@sinclair/typebox';
import { streamed } from '#adapters/inbound/management/bridge.ts';
import { detail } from '#adapters/inbound/management/shared-schemas.ts';
import { pemPieces } from '#adapters/wire/pem.ts';
import type { Gateway } from '#core/gateway.ts';
import type { IssuingCa, StoredCrl } from '#core/records/issuing-ca.ts';
import { recordId } from '../collection.ts';
import { recordSchema, shownExample } from '../collection-operations.ts';
import { timestamp } from '../description.ts';
import { asServerError, json } from '../errors.ts';
import { zonedDateTime } from '../fields.ts';
import { attachmentHeaders, prefersJson } from '../files.ts';
import { jsonResponse, type Operation, type Route } from '../route.ts';
import { issuingCas } from './issuing-cas.ts';

const { path, tag } = issuingCas;
const record = recordSchema(issuingCas.fields, true, 'IssuingCa');

/** Operations on an issuing CA other than CRUD: its CRL, and activation. */
export const issuingCaRoutes = (gateway: Gateway): readonly Route[] => [
  crlDownload(gateway),
  crlGeneration(gateway),
  activation(gateway, 'activate'),
  activation(gateway, 'deactivate'),
];

const help = Type.Object(
  {
    error: Type.String({ description: 'the error' }),
    hint: Type.String({ description: 'how to fix it' }),
  },
  { $id: 'CrlError', additionalProperties: false },
);

const unknownEncoding = { error: 'unknown encoding', hint: 'encoding is "pem" (the default) or "der"' };
const noCrl = (id: number) => ({
  error: 'this issuing CA has no CRL yet',
  hint: `issue one first: POST ${path}/${id}/generate-crl/`,
});

const exampleCrl = '-----BEGIN X509 CRL-----\nMIIB…\n-----END X509 CRL-----\n';

const crlOperation: Operation = {
  id: 'downloadCrl',
  tag,
  summary: 'Download the newest CRL of an issuing CA',
  description:
    'Returns a PEM file, or DER with `encoding=der`. With `Accept: application/json` the PEM is a JSON member.',
  query: {
    encoding: Type.String({ enum: ['pem', 'der'], description: 'default: pem' }),
    format: Type.String({ enum: ['pem', 'der'], description: 'alias of `encoding`' }),
  },
  responses: {
    200: {
      description: 'The CRL (RFC 5280 §5).',
      headers: { 'Content-Disposition': 'The file name.' },
      content: {
        'application/x-pem-file': { schema: Type.String(), example: exampleCrl },
        'application/pkix-crl': {
          schema: Type.String({ contentEncoding: 'binary' }),
          example: 'the CRL in DER',
        },
        'application/json': {
          schema: Type.Object(
            { detail: Type.String({ description: 'the CRL, PEM' }) },
            { $id: 'CrlText', additionalProperties: false },
          ),
          example: { detail: exampleCrl },
        },
      },
    },
    400: jsonResponse('The encoding is unknown.', help, unknownEncoding),
    404: jsonResponse(
      'The CA has no CRL yet (`hint` says how to issue one), or the CA does not exist.',
      Type.Union([help, detail]),
      noCrl(2),
    ),
  },
};

const crlDownload = (gateway: Gateway): Route => ({
  method: 'GET',
  path: `${path}/:id/crl`,
  operation: { ...crlOperation, permission: 'crls.read' },
  async handle(principal, { query, headers }, parameters) {
    const asked = new URLSearchParams(query);
    const encoding = (asked.get('encoding') || asked.get('format') || 'pem').toLowerCase();
    if (encoding !== 'pem' && encoding !== 'der') return json(400, unknownEncoding);
    const id = recordId(parameters.id);
    const [ca, crl] = await Promise.all([
      gateway.issuingCas.read(principal, id),
      gateway.issuingCas.crl(principal, id),
    ]);
    if (!crl) return json(404, noCrl(id));
    return crlResponse(ca, crl, encoding, prefersJson(headers.accept));
  },
});

function crlResponse(
  { uniqueName }: IssuingCa,
  { crl }: StoredCrl,
  encoding: 'pem' | 'der',
  asJson: boolean,
): Response {
  if (asJson) {
    // A line feed is the only character of PEM that JSON escapes.
    const [pem, length] = pemPieces('X509 CRL', crl, '\\n');
    const [before, after] = [ascii.encode('{"detail":"'), ascii.encode('"}')];
    const headers = { 'content-type': 'application/json' };
    return streamed(joined([before], pem, [after]), before.length + length + after.length, headers);
  }
  if (encoding === 'der') {
    return streamed(slices(crl), crl.length, attachmentHeaders('application/pkix-crl', uniqueName, '.crl'));
  }
  const [pem, length] = pemPieces('X509 CRL', crl);
  return streamed(pem, length, attachmentHeaders('application/x-pem-file', uniqueName, '.crl.pem'));
}

const ascii = new TextEncoder();
const sliceLength = 64 * 1024;

function* slices(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += sliceLength) yield bytes.subarray(at, at + sliceLength);
}

function* joined(...parts: readonly Iterable<Uint8Array>[]): Generator<Uint8Array> {
  for (const part of parts) yield* part;
}

const crlGeneration = (gateway: Gateway): Route => ({
  method: 'POST',
  path: `${path}/:id/generate-crl`,
  operation: {
    id: 'generateCrl',
    tag,
    summary: 'Issue a CRL now',
    description: 'Issues a CRL with all currently revoked certificates and the next CRL number.',
    permission: 'crls.generate',
    responses: {
      200: jsonResponse(
        'The CRL is published.',
        Type.Object(
          { message: Type.String(), last_crl_issued_at: zonedDateTime('its thisUpdate') },
          { $id: 'GeneratedCrl', additionalProperties: false },
        ),
        { message: 'the CRL has been issued', last_crl_issued_at: '2026-03-02T08:00:05.000Z' },
      ),
      500: jsonResponse('The CRL could not be issued.', detail, {
        detail: 'the key store of this CA is not configured',
        code: 'unavailable',
      }),
    },
  },
  async handle(principal, _request, { id }) {
    try {
      const { thisUpdate } = await gateway.issuingCas.generateCrl(principal, recordId(id));
      return json(200, {
        message: 'the CRL has been issued',
        last_crl_issued_at: `${timestamp(thisUpdate)}Z`,
      });
    } catch (error) {
      throw asServerError(error);
    }
  },
});

const activation = (gateway: Gateway, verb: 'activate' | 'deactivate'): Route => ({
  method: 'POST',
  path: `${path}/:id/${verb}`,
  operation: {
    id: `${verb}IssuingCa`,
    tag,
    summary: verb === 'activate' ? 'Activate an issuing CA' : 'Deactivate an issuing CA',
    ...(verb === 'deactivate' && {
      description:
        'The CA signs no more certificates but keeps publishing CRLs. You can reactivate it at any time.',
    }),
    permission: 'cas.write',
    responses: { 200: jsonResponse('The issuing CA.', record, shownExample(issuingCas)) },
    ...(verb === 'activate' && { failures: { 409: 'The certificate of the CA has expired or is revoked.' } }),
  },
  handle: async (principal, _request, { id }) =>
    json(200, issuingCas.toJson(await gateway.issuingCas[verb](principal, recordId(id)), true)),
});
