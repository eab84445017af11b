import { Type } from '@sinclair/typebox';
import type { ApprovalVerdict } from '#core/approvals/approvals.ts';
import type { Gateway } from '#core/gateway.ts';
import { readBody } from '../body.ts';
import { recordId } from '../collection.ts';
import { inputSchema, recordSchema, shownExample } from '../collection-operations.ts';
import type { FieldDescription } from '../description.ts';
import { json } from '../errors.ts';
import { text } from '../fields.ts';
import { readInput } from '../input.ts';
import { jsonResponse, type Route } from '../route.ts';
import { approvals } from './approvals.ts';

const { path, tag } = approvals;

/** The routes to approve and reject a request. */
export const approvalRoutes = (gateway: Gateway): readonly Route[] => [
  decision(
    gateway,
    'approve',
    'Approve a request',
    'The request is granted with the last required approval. An account that registered, imported or changed the device, or has read or set its secrets, cannot approve what the device requests (403).',
  ),
  decision(
    gateway,
    'reject',
    'Reject a request',
    'One rejection is enough, even if other accounts have approved the request.',
  ),
];

const hash = (of: string) =>
  text(64, { min: 64, description: `of ${of} that was read; 409 if it has changed` });

const upperCase = (value: unknown): string => (value as string).toUpperCase();

const fields = {
  comment: {
    schema: Type.String({ maxLength: 2000, description: 'why' }),
    whenMissing: '',
  },
  request_hash: { schema: hash('the request'), record: 'requestDigest', toInput: upperCase },
  outcome_hash: { schema: hash('the expected outcome'), record: 'outcomeDigest', toInput: upperCase },
} as const satisfies Record<string, FieldDescription>;

const decision = (
  gateway: Gateway,
  verb: 'approve' | 'reject',
  summary: string,
  description: string,
): Route => ({
  method: 'POST',
  path: `${path}/:id/${verb}`,
  operation: {
    id: `${verb}Request`,
    tag,
    summary,
    description: `${description} An account decides once, and never on its own request (403).`,
    permission: 'approvals.decide',
    body: {
      schema: inputSchema(fields, 'create', 'ApprovalDecisionInput'),
      example: { comment: 'seen on site', request_hash: approvals.example.request_hash },
      optional: true,
    },
    responses: {
      200: jsonResponse(
        'The updated approval.',
        recordSchema(approvals.fields, true, 'Approval'),
        shownExample(approvals),
      ),
    },
    failures: {
      409: 'The approval is no longer pending, the account has already decided, or the request has changed since it was read.',
    },
  },
  async handle(principal, request, { id }) {
    const input = readInput(fields, await readBody(request), 'create');
    const verdict = { comment: '', ...input } as ApprovalVerdict;
    return json(200, approvals.toJson(await gateway.approvals[verb](principal, recordId(id), verdict), true));
  },
});
