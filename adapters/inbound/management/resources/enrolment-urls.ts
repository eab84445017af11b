import { Type } from '@sinclair/typebox';
import type { Gateway } from '#core/gateway.ts';
import { recordId } from '../collection.ts';
import { json } from '../errors.ts';
import { nullable } from '../fields.ts';
import { jsonResponse, type Route } from '../route.ts';
import { domains } from './domains.ts';

const urls = Type.Object(
  {
    cert_profile: nullable(Type.Integer(), 'null: the URLs name no profile, so it is `domain_credential`'),
    name: nullable(Type.String(), 'how the URLs name the profile: its alias in the domain, or its own name'),
    est: nullable(Type.String(), 'null, as for the others: the protocol is not enabled'),
    rest: nullable(Type.String()),
    cmp: nullable(Type.String()),
  },
  { $id: 'EnrolmentUrls', additionalProperties: false },
);

/** `GET /api/domains/{id}/enrolment-urls`. */
export const enrolmentUrls = (gateway: Gateway): Route => ({
  method: 'GET',
  path: `${domains.path}/:id/enrolment-urls`,
  operation: {
    id: 'listEnrolmentUrls',
    tag: domains.tag,
    summary: 'List where devices of a domain request certificates',
    permission: 'domains.read',
    responses: {
      200: jsonResponse(
        'The URLs of each protocol: first those without a profile, then those of each offered profile.',
        Type.Array(urls),
        [
          {
            cert_profile: 4,
            name: 'tls_server',
            est: 'https://pki.example:8443/.well-known/est/plant-7/tls_server/simpleenroll',
            rest: 'https://pki.example:8443/rest/plant-7/tls_server/enroll',
            cmp: 'http://pki.example:8080/.well-known/cmp/p/plant-7/tls_server',
          },
        ],
      ),
    },
  },
  handle: async (principal, _request, { id }) =>
    json(
      200,
      (await gateway.enrolmentUrls(principal, recordId(id))).map(({ profile, ...rest }) => ({
        cert_profile: profile,
        ...rest,
      })),
    ),
});
