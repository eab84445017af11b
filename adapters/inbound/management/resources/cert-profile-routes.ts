import { Type } from '@sinclair/typebox';
import { decodeCertificationRequest } from '#adapters/wire/certification-request.ts';
import type { PreviewInput } from '#core/enrolment/preview.ts';
import { atField } from '#core/fault.ts';
import type { Gateway } from '#core/gateway.ts';
import { profileRulesSchema } from '#core/profiles/language.ts';
import { readBody } from '../body.ts';
import { recordId } from '../collection.ts';
import { inputSchema } from '../collection-operations.ts';
import type { FieldDescription } from '../description.ts';
import { json } from '../errors.ts';
import { file, nullable, reference } from '../fields.ts';
import { readInput } from '../input.ts';
import { jsonResponse, type Operation, type Route } from '../route.ts';
import { certProfiles, exampleRules, rulesField } from './cert-profiles.ts';
import { previewExample, previewSchema, previewToJson } from './preview.ts';

const { path, tag } = certProfiles;

/** What can be done with profiles beyond keeping them. */
export const certProfileRoutes = (gateway: Gateway): readonly Route[] => [
  rulesSchema,
  previewOf(gateway),
  previewOfRules(gateway),
];

/** The language of profiles as a document of its own, for editors. */
const rulesDocument = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Rules of a certificate profile',
  ...profileRulesSchema,
};

const rulesSchema: Route = {
  method: 'GET',
  path: `${path}/schema`,
  operation: {
    id: 'readProfileSchema',
    tag,
    summary: 'Read the JSON Schema of the rules of certificate profiles',
    permission: 'profiles.read',
    responses: {
      200: jsonResponse(
        'A JSON Schema (2020-12).',
        Type.Object({}, { additionalProperties: true, description: 'a JSON Schema' }),
        { $schema: rulesDocument.$schema, title: rulesDocument.title, type: 'object' },
      ),
    },
  },
  handle: () => json(200, rulesDocument),
};

const fields = {
  csr: {
    schema: file(64 * 1024, 'a PKCS #10 request, PEM, DER or base64'),
    required: true,
  },
  device: {
    schema: nullable(
      reference(
        'for which device it would be; without one, for the name in the request, as with `POST /api/certificates/`',
      ),
    ),
    toInput: (value: unknown) => value ?? undefined,
  },
  domain: {
    schema: nullable(reference('in which domain; default: that of the device, or else the default domain')),
    toInput: (value: unknown) => value ?? undefined,
  },
  profile: {
    ...rulesField('rules that are not stored (yet), in place of those of the profile'),
    record: 'rules',
  },
} satisfies Record<string, FieldDescription>;

const fieldsOfRules = { ...fields, profile: { ...fields.profile, required: true } };

const example = {
  csr: '-----BEGIN CERTIFICATE REQUEST-----\nMIIB…\n-----END CERTIFICATE REQUEST-----\n',
  device: 7,
  profile: exampleRules,
};

const description =
  'Goes the way of an enrolment up to the signature. Whatever would be refused is in `objections`, each with who objects and ' +
  'where; whatever would be issued is in `certificate`, with a line in `explanations` for each field that came out, or was left ' +
  'out (an empty value), and why. Nothing is stored, and no serial number is used. A device needs the permission `devices.read`, a ' +
  'domain `domains.read`.';

const responses: Operation['responses'] = {
  200: jsonResponse('What would be issued, and what would be refused.', previewSchema, previewExample),
};

const previewOf = (gateway: Gateway): Route => ({
  method: 'POST',
  path: `${path}/:id/preview`,
  operation: {
    id: 'previewProfile',
    tag,
    summary: 'See what a certificate profile would make of a request, and why',
    description,
    permission: 'profiles.read',
    body: { schema: inputSchema(fields, 'create', 'PreviewInput'), example },
    responses,
  },
  async handle(principal, request, { id }) {
    const input = readInput(fields, await readBody(request), 'create');
    return json(
      200,
      previewToJson(await gateway.profiles.preview(principal, recordId(id), toPreviewInput(input))),
    );
  },
});

const previewOfRules = (gateway: Gateway): Route => ({
  method: 'POST',
  path: `${path}/preview`,
  operation: {
    id: 'previewRules',
    tag,
    summary: 'See what rules that are no profile yet would make of a request, and why',
    description,
    permission: 'profiles.read',
    body: { schema: inputSchema(fieldsOfRules, 'create', 'RulesPreviewInput'), example },
    responses,
  },
  async handle(principal, request) {
    const input = readInput(fieldsOfRules, await readBody(request), 'create');
    return json(
      200,
      previewToJson(await gateway.profiles.preview(principal, undefined, toPreviewInput(input))),
    );
  },
});

function toPreviewInput(input: Readonly<Record<string, unknown>>): PreviewInput {
  const { csr, device, domain, rules } = input as Omit<PreviewInput, 'csr'> & { csr: string | Uint8Array };
  const given = { ...(device !== undefined && { device }), ...(domain !== undefined && { domain }) };
  try {
    return { csr: decodeCertificationRequest(csr), ...given, ...(rules !== undefined && { rules }) };
  } catch (error) {
    throw atField(error, 'csr');
  }
}
