import { encodePem } from '#adapters/wire/pem.ts';
import { Fault } from '#core/fault.ts';
import type { IssuingCa } from '#core/records/issuing-ca.ts';
import { fingerprint, parseCertificate } from '#core/x509/certificate.ts';
import {
  type Command,
  exit,
  type Invocation,
  placeOptions,
  printJson,
  printTable,
  UsageError,
  withGateway,
} from './command.ts';
import { pages } from './records.ts';

const caTypes = [
  'auto-generated root',
  'auto-generated',
  'local',
  'local PKCS#11',
  'remote EST',
  'remote CMP',
];

const date = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 10);

/** Returns the expiry date, or null for a damaged certificate, so that the list still shows the other CAs. */
function expiryOf({ certificate }: IssuingCa): string | null {
  try {
    return date(parseCertificate(certificate).notAfter);
  } catch {
    return null;
  }
}

const describeCa = (ca: IssuingCa) => ({
  id: ca.id,
  unique_name: ca.uniqueName,
  common_name: ca.commonName,
  type: caTypes[ca.type] ?? String(ca.type),
  is_active: ca.isActive,
  not_after: expiryOf(ca),
  fingerprint: fingerprint(ca.certificate),
});

function caId({ positionals }: Invocation): number {
  const id = Number(positionals[0]);
  if (!Number.isSafeInteger(id) || id < 1) throw new UsageError('ID must be a number: see postern ca list');
  return id;
}

export const caCommands: readonly Command[] = [
  {
    name: 'ca list',
    positionals: [],
    summary: 'List the issuing CAs with the expiry dates and SHA-256 fingerprints of their certificates.',
    details: `The column WARNING says if a CA has expired, expires within the setting ca_warning_days, or shortens the validity of
certificates because it expires before they would.`,
    options: placeOptions,
    async run(invocation) {
      const described = await withGateway(invocation, async ({ gateway, principal }) => {
        const cas = await pages<'issuingCa', IssuingCa>((query) => gateway.issuingCas.list(principal, query));
        const endings = await gateway.issuingCas.endings(principal);
        return cas.map((ca) => ({ ...describeCa(ca), warning: endings.get(ca.id) ?? null }));
      });
      if (invocation.options.json === true) printJson(described);
      else {
        printTable(
          ['ID', 'NAME', 'COMMON NAME', 'TYPE', 'ACTIVE', 'UNTIL', 'WARNING', 'FINGERPRINT'],
          described.map((ca) => [
            ca.id,
            ca.unique_name,
            ca.common_name,
            ca.type,
            ca.is_active ? 'yes' : 'no',
            ca.not_after ?? 'unreadable',
            ca.warning ?? '',
            ca.fingerprint,
          ]),
        );
      }
      return exit.success;
    },
  },
  {
    name: 'ca export',
    positionals: ['ID'],
    summary: 'Print the certificate of a CA in PEM.',
    options: { chain: { type: 'boolean', help: 'Print the chain up to the root as well' }, ...placeOptions },
    async run(invocation) {
      const id = caId(invocation);
      const ca = await withGateway(invocation, ({ gateway, principal }) =>
        gateway.issuingCas.read(principal, id),
      );
      const chain = invocation.options.chain === true ? ca.chain : [];
      const certificates = [ca.certificate, ...chain].map((der) => encodePem('CERTIFICATE', der));
      if (invocation.options.json === true) printJson({ ...describeCa(ca), certificates });
      else console.log(certificates.join('').trimEnd());
      return exit.success;
    },
  },
  {
    name: 'crl export',
    positionals: ['ID'],
    summary: 'Print the newest CRL of a CA in PEM.',
    details: 'ID is the id of the CA: see postern ca list. Send DER output to a file or a pipe.',
    options: { der: { type: 'boolean', help: 'Print DER instead of PEM' }, ...placeOptions },
    async run(invocation) {
      const { options } = invocation;
      const id = caId(invocation);
      if (options.der === true && options.json === true)
        throw new UsageError('--der and --json cannot be combined');
      if (options.der === true && process.stdout.isTTY)
        throw new UsageError('DER output is binary: redirect it to a file or a pipe');
      const stored = await withGateway(invocation, ({ gateway, principal }) =>
        gateway.issuingCas.crl(principal, id),
      );
      if (!stored) {
        throw new Fault('notFound', 'this issuing CA has no CRL yet', {
          hint: `Issue one: POST /api/issuing-cas/${id}/generate-crl/`,
        });
      }
      const { number, thisUpdate, nextUpdate, crl } = stored;
      if (options.json === true) {
        printJson({
          issuing_ca: id,
          number,
          this_update: new Date(thisUpdate).toISOString(),
          next_update: new Date(nextUpdate).toISOString(),
          pem: encodePem('X509 CRL', crl),
        });
      } else {
        // A CRL may be larger than a pipe accepts at once: Bun.write resolves when all of it is written.
        await Bun.write(Bun.stdout, options.der === true ? crl : encodePem('X509 CRL', crl));
      }
      return exit.success;
    },
  },
];
