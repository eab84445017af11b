import { Type } from '@sinclair/typebox';
import type { PublicRoute } from './route.ts';

const path = '/api/schema/swagger-ui';

const html = `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Postern Management API</title>
    <link rel="stylesheet" href="${path}/swagger-ui.css">
    <link rel="icon" type="image/png" href="${path}/favicon-32x32.png">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="${path}/swagger-ui-bundle.js"></script>
    <script src="${path}/start.js"></script>
  </body>
</html>
`;

/**
 * `validatorUrl: null` keeps the page from sending the document to a validator on the internet. The operations are collapsed:
 * there are so many that, expanded, only those in view would be drawn, and links to the others would not work.
 */
const start = `SwaggerUIBundle({
  url: '/api/schema/?format=json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  docExpansion: 'none',
  validatorUrl: null,
});
`;

/** Allows no other origin, no inline script and no framing by other pages. */
const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

const answer = (contentType: string, body: string | Uint8Array<ArrayBuffer>): Response =>
  new Response(body, { headers: { ...headers, 'content-type': contentType } });

const page: PublicRoute = {
  method: 'GET',
  path,
  operation: {
    id: 'readSwaggerUi',
    tag: 'schema',
    summary: 'Open the API browser (Swagger UI)',
    description:
      'The page loads nothing from other servers. Sign in as a user: tokens of service accounts are rejected in browsers.',
    responses: {
      200: {
        description: 'The page.',
        content: { 'text/html': { schema: Type.String(), example: '<!DOCTYPE html>' } },
      },
    },
  },
  handle: () => answer('text/html; charset=utf-8', html),
};

/** Serves a file of the installed package swagger-ui-dist; `url`: where the file is. */
const packaged = (name: string, contentType: string, url: string): PublicRoute =>
  file(name, async () => answer(contentType, await Bun.file(new URL(url)).bytes()));

const file = (name: string, handle: PublicRoute['handle']): PublicRoute => ({
  method: 'GET',
  path: `${path}/${name}`,
  operation: { id: name, tag: 'schema', summary: name, responses: {} },
  handle,
});

/** The OpenAPI document lists the page, but not the files that it loads. */
export const swaggerUi: { readonly page: PublicRoute; readonly files: readonly PublicRoute[] } = {
  page,
  files: [
    packaged(
      'swagger-ui.css',
      'text/css; charset=utf-8',
      import.meta.resolve('swagger-ui-dist/swagger-ui.css'),
    ),
    packaged(
      'swagger-ui-bundle.js',
      'text/javascript; charset=utf-8',
      import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js'),
    ),
    packaged('favicon-32x32.png', 'image/png', import.meta.resolve('swagger-ui-dist/favicon-32x32.png')),
    file('start.js', () => answer('text/javascript; charset=utf-8', start)),
  ],
};
