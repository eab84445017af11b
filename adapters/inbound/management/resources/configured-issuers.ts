import { Type } from '@sinclair/typebox';
import type { ConfiguredIssuer } from '#core/administration/configured-issuers.ts';
import type { Gateway } from '#core/gateway.ts';
import { timestamp } from '../description.ts';
import { json } from '../errors.ts';
import { dateTime, nullable } from '../fields.ts';
import { jsonResponse, type Route } from '../route.ts';
import { issuingCas } from './issuing-cas.ts';

const circuitStates = { closed: 'closed', open: 'open', halfOpen: 'half-open' } as const;

const closed = { additionalProperties: false } as const;

const circuit = Type.Object(
  {
    state: Type.String({
      enum: Object.values(circuitStates),
      description:
        'open: Postern does not call the upstream CA until `next_try_at`; half-open: the next call decides',
    }),
    failures: Type.Integer({ description: 'consecutive calls without a response; the circuit opens at 3' }),
    since: nullable(dateTime('when the circuit opened'), 'null: it is closed'),
    next_try_at: nullable(dateTime('when calls are allowed again'), 'null: it is not open'),
  },
  closed,
);

const schema = Type.Object(
  {
    name: Type.String({ description: 'name in the configuration' }),
    protocol: nullable(
      Type.String({ enum: ['est', 'cmp'] }),
      'type 4 needs est, type 5 cmp; null: cannot be used for a CA',
    ),
    url: nullable(Type.String(), 'null: its plugin does not tell'),
    label: nullable(Type.String(), 'EST: the label in the URL'),
    profile: nullable(Type.String(), 'CMP: the certificate profile that is requested'),
    ok: Type.Boolean({ description: 'as in `/api/health/`' }),
    problem: nullable(Type.String(), 'null: none is known'),
    circuit,
    client_certificate: nullable(
      Type.Object(
        { subject: Type.String({ description: 'RFC 4514' }), not_valid_after: dateTime('when it expires') },
        closed,
      ),
      'the certificate with which the gateway authenticates itself; null: it uses a secret, or has none yet',
    ),
    last_success_at: nullable(dateTime('the last successful call'), 'null: none since the gateway started'),
    last_error: nullable(
      Type.Object({ at: dateTime('when it occurred'), detail: Type.String() }, closed),
      'the last failed call or refusal; null: none since the gateway started',
    ),
    pending_requests: Type.Integer({
      description: 'upstream requests without a result, of all gateways; counted up to 10000',
    }),
    issuing_cas: Type.Array(Type.Integer(), {
      description: 'the issuing CAs that forward requests to it, or that it certified',
    }),
    gateway: Type.String({
      description:
        'the process that responds: `ok`, `problem`, `circuit`, `client_certificate`, `last_success_at` and `last_error` are as it knows them',
    }),
  },
  { $id: 'ConfiguredIssuer', additionalProperties: false },
);

/** `GET /api/issuers`. */
export const configuredIssuers = (gateway: Gateway): Route => ({
  method: 'GET',
  path: '/api/issuers',
  operation: {
    id: 'listIssuers',
    tag: issuingCas.tag,
    summary: 'List the configured upstream CAs and their state',
    permission: 'cas.read',
    responses: {
      200: jsonResponse('The upstream CAs, in the order of the configuration.', Type.Array(schema), [
        {
          name: 'plant',
          protocol: 'est',
          url: 'https://ca.example/.well-known/est/machines',
          label: 'machines',
          profile: null,
          ok: false,
          problem: '3 failures in a row: the upstream CA cannot be reached (ECONNREFUSED)',
          circuit: {
            state: 'open',
            failures: 3,
            since: '2026-03-02T08:15:30.000',
            next_try_at: '2026-03-02T08:15:40.000',
          },
          client_certificate: { subject: 'CN=postern', not_valid_after: '2027-03-02T08:00:00.000' },
          last_success_at: '2026-03-02T08:10:12.000',
          last_error: {
            at: '2026-03-02T08:15:30.000',
            detail: 'the upstream CA cannot be reached (ECONNREFUSED)',
          },
          pending_requests: 2,
          issuing_cas: [4],
          gateway: 'gateway-1 (process 4711)',
        },
      ]),
    },
  },
  handle: async (principal) => json(200, (await gateway.issuingCas.issuers(principal)).map(toJson)),
});

const moment = (time: number | null): string | null => (time === null ? null : timestamp(time));

const toJson = ({
  name,
  protocol,
  url,
  label,
  profile,
  health,
  circuit: { state, failures, since, nextTryAt, lastSuccessAt, lastError },
  clientCertificate,
  pendingRequests,
  cas,
  instance,
}: ConfiguredIssuer) => ({
  name,
  protocol,
  url,
  label,
  profile,
  ok: health.ok,
  problem: health.detail ?? null,
  circuit: {
    state: circuitStates[state],
    failures,
    since: moment(since),
    next_try_at: moment(nextTryAt),
  },
  client_certificate: clientCertificate && {
    subject: clientCertificate.subject,
    not_valid_after: timestamp(clientCertificate.notAfter),
  },
  last_success_at: moment(lastSuccessAt),
  last_error: lastError && { at: timestamp(lastError.at), detail: lastError.detail },
  pending_requests: pendingRequests,
  issuing_cas: cas,
  gateway: instance,
});
