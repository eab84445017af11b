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
    summary: 'Verify that no event of the audit trail was edited, removed or moved.',
    details: `Each event contains the hash of the event before it, and every minute the heads of all chains are sealed under the
master key. Even an attacker with write access to the database cannot change events older than the last seal. Such an
attacker could restore the whole database to an earlier state: to detect that, compare the number and digest of the
newest seal with the last line "audit log sealed" of a log that is stored elsewhere. Exit status: 0 if the trail is
intact, 1 if not.`,
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
        const state = problems.length === 0 ? 'intact' : 'NOT INTACT';
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
