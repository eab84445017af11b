/** Measures the cost of a certificate as a multiple of its cryptography. `./run` shows how to call it. */
import { parseArgs } from 'node:util';
import type { Case, Extent } from './cases/case.ts';
import { cmpCases } from './cases/cmp.ts';
import { consoleCase } from './cases/console.ts';
import { crlCase } from './cases/crl.ts';
import { deviceImportCase } from './cases/device-import.ts';
import { enrolmentCases } from './cases/enrolment.ts';
import { filledCase } from './cases/filled.ts';
import { gatewaysCase } from './cases/gateways.ts';
import { hsmCase } from './cases/hsm.ts';
import { layersCase } from './cases/layers.ts';
import { memoryCase } from './cases/memory.ts';
import { renewalCase } from './cases/renewal.ts';
import { startCase } from './cases/start.ts';
import { upstreamCase } from './cases/upstream.ts';
import { startLoad } from './load-process.ts';
import { printTable, type Result, writeJson } from './report.ts';

const cases: readonly Case[] = [
  ...enrolmentCases,
  layersCase,
  ...cmpCases,
  renewalCase,
  gatewaysCase,
  hsmCase,
  upstreamCase,
  filledCase,
  memoryCase,
  startCase,
  crlCase,
  consoleCase,
  deviceImportCase,
];

const full: Extent = {
  servers: 3,
  rounds: 9,
  perRound: 5000,
  warmUp: 30_000,
  filled: 1_000_000,
  watched: 50_000,
  starts: 7,
  revoked: 1_000_000,
  inventory: 100_000,
  imported: 100_000,
};
const quick: Extent = {
  servers: 1,
  rounds: 3,
  perRound: 2000,
  warmUp: 10_000,
  filled: 100_000,
  watched: 10_000,
  starts: 3,
  revoked: 100_000,
  inventory: 10_000,
  imported: 20_000,
};

const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string', multiple: true } },
});
const names = cases.map(({ name }) => name);
const unknown = values.only?.find((name) => !names.includes(name));
if (unknown !== undefined) {
  console.error(`there is no case ${unknown}: choose from ${names.join(', ')}`);
  process.exit(2);
}

const extent = values.quick ? quick : full;
const results: Result[] = [];
let failed = false;
{
  await using load = startLoad();
  for (const { name, run } of cases) {
    if (values.only && !values.only.includes(name)) continue;
    console.error(`${name} …`);
    try {
      results.push(...(await run(load, extent)));
    } catch (error) {
      failed = true;
      console.error(`${name} could not be measured:`, error);
    }
  }
}
console.log(
  'Times are CPU time of the server per certificate. Unless a case says otherwise, the limit is the CPU time of one\n' +
    'P-256 verification and one P-256 signature, and "×" a multiple of the limit.\n',
);
printTable(results);
console.log(`\n${writeJson(results, { quick: values.quick, extent })}`);
process.exit(failed ? 1 : 0);
