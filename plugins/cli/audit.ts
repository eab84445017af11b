import type { AuditProblem } from '#core/audit/verify.ts';
import {
  type Command,
  configOption,
  dataOption,
  exit,
  jsonOption,
  operatorName,
  printable,
  printJson,
  withGateway,
} from './command.ts';

export const auditCommands: readonly Command[] = [
  {
    name: 'audit verify',
    positionals: [],
    summary: 'Read the audit trail and say whether anybody has edited, removed or moved an event.',
    details: `Each event carries a hash over the one before, and every minute the ends of all chains are sealed under the master
key. So not even who can write to the database can change what is older than the last seal. What they can do is to put the
whole database back to an earlier state: compare the number and the digest of the newest seal with the last line "audit
trail anchored" of a log that is kept elsewhere. Exit status 0 when all is in order, 1 when it is not.`,
    options: { json: jsonOption, data: dataOption, config: configOption },
    async run(invocation) {
      const { events, chains, anchor, problems } = await withGateway(invocation, ({ gateway }) =>
        gateway.auditEvents.verify(gateway.accounts.operator(operatorName())),
      );
      if (invocation.options.json === true) {
        printJson({ events, chains, anchor: anchor ?? null, problems: problems.map(asJson) });
      } else {
        for (const problem of problems) console.log(printable(asLine(problem)));
        const sealed = anchor ? `sealed ${anchor.number} times, last ${anchor.digest}` : 'not sealed yet';
        const state = problems.length === 0 ? 'in order' : 'NOT IN ORDER';
        console.log(`${events} events in ${chains} chains, ${sealed}: ${state}`);
      }
      return problems.length === 0 ? exit.success : exit.failure;
    },
  },
];

const asJson = ({ event, chain, sequence, what }: AuditProblem) => ({
  event: event ?? null,
  chain,
  sequence,
  what,
});

const asLine = ({ event, chain, sequence, what }: AuditProblem): string =>
  `${event === undefined ? 'no event' : `event ${event}`} (chain ${chain}, sequence ${sequence}): ${what}`;
