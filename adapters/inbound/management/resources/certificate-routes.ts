import { Type } from '@sinclair/typebox';
import { writePkcs12 } from '#adapters/wire/pkcs12.ts';
import type { Gateway } from '#core/gateway.ts';
import { type RevocationReason, revocationReasonCodes } from '#core/x509/extensions/revocation.ts';
import { readBody } from '../body.ts';
import { recordId } from '../collection.ts';
import { inputSchema, recordSchema, shownExample } from '../collection-operations.ts';
import type { FieldDescription } from '../description.ts';
import { json, ValidationError } from '../errors.ts';
import { nullable, reference, text } from '../fields.ts';
import { attachment } from '../files.ts';
import { readInput } from '../input.ts';
import { jsonResponse, type Route } from '../route.ts';
import { certificates } from './certificates.ts';

const { path, tag } = certificates;

/** Operations on a certificate other than reading and renaming it. */
export const certificateRoutes = (gateway: Gateway): readonly Route[] => [
  revoke(gateway),
  revokeSeveral(gateway),
  pkcs12(gateway),
];

const names = Object.keys(revocationReasonCodes) as RevocationReason[];
const reasonOf = (code: unknown): RevocationReason | undefined =>
  names.find((name) => name === code || revocationReasonCodes[name] === code);

/** The field for a revocation reason, by name or by code. `only`: the allowed reasons. */
export const reasonField = (description: string, only: readonly RevocationReason[] = names) => {
  const some = only.map((name) => revocationReasonCodes[name]);
  return {
    schema: Type.Union([Type.String({ enum: [...only] }), Type.Integer({ enum: some })], {
      // Only for the error message: code generators cannot handle an enum of texts and integers.
      choices: [...only, ...some],
      description: `RFC 5280 §5.3.1, by name or code; ${description}`,
    }),
    toInput: reasonOf,
  };
};

/** The reasons for which several certificates can be revoked at once. */
export const commonReasons: readonly RevocationReason[] = names.filter((name) => name !== 'removeFromCRL');

const revokeFields = {
  reason: reasonField(
    'default: unspecified. certificateHold suspends the certificate, removeFromCRL reactivates it',
  ),
  invalidity_date: {
    schema: text(40, {
      min: 1,
      description: 'since when the key may have been compromised (RFC 5280 §5.3.2); ISO 8601, UTC',
    }),
  },
} as const satisfies Record<string, FieldDescription>;

const revoke = (gateway: Gateway): Route => ({
  method: 'POST',
  path: `${path}/:id/revoke`,
  operation: {
    id: 'revokeCertificate',
    tag,
    summary: 'Revoke, suspend or release a certificate',
    description:
      'A new CRL is issued immediately. If the certificate belongs to a CA of this service, that CA is deactivated.',
    permission: 'certificates.revoke',
    body: {
      schema: Type.Object(
        {
          reason: Type.Optional(revokeFields.reason.schema),
          invalidity_date: Type.Optional(revokeFields.invalidity_date.schema),
        },
        { $id: 'RevocationInput', additionalProperties: false },
      ),
      example: { reason: 'keyCompromise', invalidity_date: '2026-03-01T00:00:00Z' },
      optional: true,
    },
    responses: {
      200: jsonResponse('The certificate.', recordSchema(certificates.fields, true, 'Certificate'), {
        ...shownExample(certificates),
        status: 'revoked',
        revoked_at: '2026-04-01T08:00:00.000',
        revocation_reason: 'keyCompromise',
      }),
    },
    failures: { 409: 'The certificate is already revoked, is not on hold, or belongs to a root CA.' },
  },
  async handle(principal, request, { id }) {
    const input = readInput(revokeFields, await readBody(request), 'create');
    const { reason = 'unspecified', invalidityDate } = input as {
      reason?: RevocationReason;
      invalidityDate?: string;
    };
    const record = await gateway.certificates.revoke(principal, recordId(id), {
      reason,
      ...(invalidityDate !== undefined && { invalidityDate: readMoment('invalidity_date', invalidityDate) }),
    });
    return json(200, certificates.toJson(record, true));
  },
});

const mostRevoked = 100;

const severalFields = {
  ids: {
    schema: Type.Array(reference('a certificate'), { minItems: 1, maxItems: mostRevoked, uniqueItems: true }),
    required: true,
  },
  reason: reasonField('default: unspecified', commonReasons),
} as const satisfies Record<string, FieldDescription>;

const revokeSeveral = (gateway: Gateway): Route => ({
  method: 'POST',
  path: `${path}/revoke`,
  operation: {
    id: 'revokeCertificates',
    tag,
    summary: 'Revoke or suspend several certificates',
    description: `Revokes at most ${mostRevoked} certificates. Each CA then issues one new CRL. The response has the result for each certificate; a failure does not affect the others.`,
    permission: 'certificates.revoke',
    body: {
      schema: inputSchema(severalFields, 'create', 'RevocationsInput'),
      example: { ids: [31, 32], reason: 'superseded' },
    },
    responses: {
      200: jsonResponse(
        'The result for each certificate.',
        Type.Array(
          Type.Object(
            {
              id: Type.Integer(),
              revoked: Type.Boolean(),
              detail: nullable(Type.String(), 'reason why the certificate was not revoked'),
            },
            { $id: 'RevocationResult', additionalProperties: false },
          ),
        ),
        [
          { id: 31, revoked: true, detail: null },
          { id: 32, revoked: false, detail: 'the certificate is already revoked' },
        ],
      ),
    },
  },
  async handle(principal, request) {
    const { ids, reason = 'unspecified' } = readInput(severalFields, await readBody(request), 'create') as {
      ids: readonly number[];
      reason?: RevocationReason;
    };
    const results = await gateway.certificates.revokeSeveral(principal, ids, { reason });
    return json(
      200,
      results.map(({ id, problem = null }) => ({ id, revoked: problem === null, detail: problem })),
    );
  },
});

/** Parses a date or a date-time in UTC. Returns milliseconds since 1970. Throws ValidationError. */
function readMoment(field: string, text: string): number {
  const match = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d:\d\d)(?:\.\d{1,6})?(?:Z|\+00:00)?)?$/.exec(text);
  const [, date = '', clock = '00:00:00'] = match ?? [];
  const time = Date.parse(`${date}T${clock}Z`);
  // Date.parse reads 31 February as 3 March.
  if (match && !Number.isNaN(time) && new Date(time).toISOString().startsWith(date)) return time;
  throw new ValidationError({ [field]: ['expected an ISO 8601 date, or a date-time in UTC'] });
}

const pkcs12Fields = {
  password: {
    schema: Type.String({
      minLength: 8,
      maxLength: 1024,
      description: 'encrypts the file',
      verbatim: true,
    }),
    required: true,
  },
} as const satisfies Record<string, FieldDescription>;

const pkcs12 = (gateway: Gateway): Route => ({
  method: 'POST',
  path: `${path}/:id/pkcs12`,
  operation: {
    id: 'fetchPkcs12',
    tag,
    summary: 'Download a certificate with its server-generated key',
    description: 'Possible only once: Postern deletes the key after the download.',
    permission: 'certificates.issue',
    body: {
      schema: Type.Object(
        { password: pkcs12Fields.password.schema },
        { $id: 'Pkcs12Input', additionalProperties: false },
      ),
      example: { password: 'correct horse battery' },
    },
    responses: {
      200: {
        description: 'The certificate, its key and its chain: PKCS #12 (RFC 7292).',
        headers: { 'Content-Disposition': 'The file name.' },
        content: {
          'application/x-pkcs12': {
            schema: Type.String({ contentEncoding: 'binary' }),
            example: 'a PKCS #12 file in DER',
          },
        },
      },
    },
    failures: {
      409: 'The private key has already been downloaded or was not generated by Postern, or the certificate is revoked.',
    },
  },
  async handle(principal, request, { id }) {
    const { password } = readInput(pkcs12Fields, await readBody(request), 'create') as { password: string };
    const taken = await gateway.certificates.takeKey(principal, recordId(id));
    const file = await writePkcs12({ ...taken, name: taken.commonName }, password);
    return attachment(file, 'application/x-pkcs12', taken.commonName, '.p12');
  },
});
