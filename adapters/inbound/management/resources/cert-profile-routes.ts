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

/** Operations on certificate profiles other than CRUD: the schema of the rules, and previews. */
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
        'the device to issue for; default: none, the name in the request is used as with `POST /api/certificates/`',
      ),
    ),
    toInput: (value: unknown) => value ?? undefined,
  },
  domain: {
    schema: nullable(reference('the domain; default: the domain of the device, or else the default domain')),
    toInput: (value: unknown) => value ?? undefined,
  },
  profile: {
    ...rulesField('unsaved rules to use instead of those of the profile'),
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
  'Runs an enrolment up to the signature. `objections` lists every reason for a rejection, with its source and ' +
  'location. `certificate` is what would be issued, and `explanations` says for each field, including omitted ones ' +
  '(empty value), where its value comes from. Nothing is stored, and no serial number is used. `device` needs the permission `devices.read`, ' +
  '`domain` needs `domains.read`.';

const responses: Operation['responses'] = {
  200: jsonResponse('The certificate to be issued, and the objections.', previewSchema, previewExample),
};

const previewOf = (gateway: Gateway): Route => ({
  method: 'POST',
  path: `${path}/:id/preview`,
  operation: {
    id: 'previewProfile',
    tag,
    summary: 'Preview the certificate that a profile makes of a request',
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
    summary: 'Preview the certificate that unsaved rules make of a request',
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
