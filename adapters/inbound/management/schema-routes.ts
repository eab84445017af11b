import { Type } from '@sinclair/typebox';
import type { HttpRequest } from '../http/exchange.ts';
import { ValidationError } from './errors.ts';
import { openApiDocument } from './openapi.ts';
import type { PublicRoute, Route } from './route.ts';

const mediaTypes = {
  yaml: 'application/vnd.oai.openapi',
  json: 'application/vnd.oai.openapi+json',
} as const;

type Format = keyof typeof mediaTypes;

/** Serves the OpenAPI document of `documented` and of these routes themselves at `/schema` and `/api/schema`. */
export function schemaRoutes(documented: readonly (Route | PublicRoute)[]): readonly PublicRoute[] {
  const rendered = new Map<Format, string>();
  const render = async (format: Format): Promise<string> => {
    const document = openApiDocument([...documented, ...routes]);
    if (format === 'json') return JSON.stringify(document);
    const { stringify } = await import('yaml');
    return stringify(document, { aliasDuplicateObjects: false });
  };
  const handle = async (request: HttpRequest): Promise<Response> => {
    const format = requestedFormat(request);
    const text = rendered.get(format) ?? (await render(format));
    rendered.set(format, text);
    return new Response(text, { headers: { 'content-type': mediaTypes[format] } });
  };
  const routes = (['/schema', '/api/schema'] as const).map(
    (path): PublicRoute => ({
      method: 'GET',
      path,
      operation: {
        id: path === '/schema' ? 'readSchema' : 'readApiSchema',
        tag: 'schema',
        summary: 'Read this document',
        description: 'The format is YAML, unless `format` or the Accept header asks for JSON.',
        query: {
          format: Type.String({
            enum: ['yaml', 'json'],
            description: 'takes precedence over the Accept header',
          }),
          lang: Type.String({ description: 'ignored: the document is in English' }),
        },
        failures: { 400: 'The format is not supported.' },
        responses: {
          200: {
            description: 'The OpenAPI document.',
            content: {
              [mediaTypes.yaml]: { schema: Type.String(), example: 'openapi: 3.1.0\n' },
              [mediaTypes.json]: {
                schema: Type.Object({}, { additionalProperties: true }),
                example: { openapi: '3.1.0' },
              },
            },
          },
        },
      },
      handle,
    }),
  );
  return routes;
}

function requestedFormat({ query, headers }: HttpRequest): Format {
  const format = new URLSearchParams(query).get('format');
  if (format === 'json' || format === 'yaml') return format;
  if (format) throw new ValidationError({ format: ['one of yaml, json is expected'] });
  return preferred(headers.accept ?? '');
}

const accepted: Readonly<Record<string, Format>> = {
  [mediaTypes.json]: 'json',
  'application/json': 'json',
  [mediaTypes.yaml]: 'yaml',
  'application/yaml': 'yaml',
  'application/*': 'yaml',
  '*/*': 'yaml',
};

/** Returns the format with the highest quality (RFC 9110 §12.5.1), or YAML if Accept names none that is supported. */
function preferred(accept: string): Format {
  let best: { format: Format; quality: number } = { format: 'yaml', quality: 0 };
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const format = Object.hasOwn(accepted, type) ? accepted[type] : undefined;
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    const quality = weight === undefined ? 1 : Number(weight);
    if (format && quality > best.quality) best = { format, quality };
  }
  return best.format;
}
