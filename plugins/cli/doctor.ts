import { loadConfiguration } from '../host/config-file.ts';
import type { Finding } from '../host/doctor.ts';
import { type Command, exit, placeOptions, printable, printJson, withGateway } from './command.ts';

export const doctorCommands: readonly Command[] = [
  {
    name: 'doctor',
    positionals: [],
    summary: 'Check the whole installation, and print a remedy for each problem.',
    details: `The command checks the configuration, file permissions, disk space, the clock, the database, key stores and HSMs, CAs, CRLs,
the TLS certificate, upstream CAs, backups, and the running gateway if there is one. It works beside a running gateway.
Exit status: 0 if nothing needs attention, 1 if there are problems, 78 if the configuration is invalid.`,
    options: placeOptions,
    async run(invocation) {
      const { diagnose } = await import('../host/doctor.ts');
      const loaded = await loadConfiguration(invocation.place, invocation.catalog);
      const findings = await diagnose(loaded, (use) => withGateway(invocation, use));
      const problems = findings.filter(({ state }) => state === 'problem');
      if (invocation.options.json === true) {
        printJson({ ok: problems.length === 0, findings: findings.map(asJson) });
      } else {
        for (const finding of findings) console.log(asLines(finding));
        console.log(
          problems.length === 0 ? '\nNothing needs attention.' : `\nProblems found: ${problems.length}.`,
        );
      }
      return problems.length === 0 ? exit.success : exit.failure;
    },
  },
];

const asJson = ({ check, state, what, remedy }: Finding) => ({
  check,
  state,
  what,
  remedy: remedy ?? null,
});

const marks = { ok: 'ok      ', note: 'note    ', problem: 'PROBLEM ' } as const;

function asLines({ check, state, what, remedy }: Finding): string {
  const line = printable(`${marks[state]} ${check}: ${what}`);
  return remedy === undefined ? line : `${line}\n         -> ${printable(remedy)}`;
}
