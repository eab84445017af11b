import { encodePem } from '#adapters/wire/pem.ts';
import { wholeSecond } from '#core/der/time.ts';
import { Fault } from '#core/fault.ts';
import type { Condition } from '#core/ports/store.ts';
import type { StoredCertificate } from '#core/records/certificate.ts';
import { parseCertificate, subjectAltNamesOf } from '#core/x509/certificate.ts';
import { formatGeneralName } from '#core/x509/general-name.ts';
import {
  type Command,
  exit,
  limitOption,
  type Opened,
  placeOptions,
  printFacts,
  printJson,
  printTable,
  withGateway,
} from './command.ts';
import { deviceNamed, pages } from './records.ts';
import { number, text, word, wordsOf } from './values.ts';

const isoTime = (at: number): string => new Date(at).toISOString();

export const describeCertificate = (record: StoredCertificate) => ({
  id: record.id,
  common_name: record.commonName,
  serial_number: record.serialNumber,
  subject: record.subject,
  status: record.status,
  not_valid_before: isoTime(record.notValidBefore),
  not_valid_after: isoTime(record.notValidAfter),
  revoked_at: record.revokedAt === null ? null : isoTime(record.revokedAt),
  revocation_reason: record.revocationReason,
  issuing_ca: record.ca,
  device: record.device,
  fingerprint: record.fingerprint,
});

/** Returns the serial number in its stored form; undefined if the text is not a serial number. Ids have fewer digits. */
function serialNumber(given: string): string | undefined {
  const digits = given.replaceAll(':', '').toUpperCase();
  if (!/^[0-9A-F]{16,64}$/.test(digits)) return undefined;
  const trimmed = digits.replace(/^0+/, '') || '0';
  return trimmed.length % 2 === 0 ? trimmed : `0${trimmed}`;
}

/** Finds a certificate by id or by serial number. Faults: notFound; conflict if several CAs issued the serial number. */
export async function certificateNamed(
  { gateway, principal }: Opened,
  name: string,
): Promise<StoredCertificate> {
  const serial = serialNumber(name);
  if (serial === undefined) {
    if (/^[1-9]\d{0,14}$/.test(name)) return gateway.certificates.read(principal, Number(name));
    throw new Fault('notFound', `${name} is neither the id nor the serial number of a certificate`);
  }
  const { records } = await gateway.certificates.list(principal, {
    where: [{ field: 'serialNumber', is: 'equal', value: serial }],
    limit: 10,
  });
  const [certificate, another] = records;
  if (!certificate) throw new Fault('notFound', `there is no certificate with the serial number ${serial}`);
  if (another) {
    const ids = records.map(({ id }) => id).join(', ');
    throw new Fault('conflict', `several CAs have issued serial number ${serial}: use one of the ids ${ids}`);
  }
  return certificate;
}

const states = ['good', 'hold', 'revoked'] as const;
const usualLimit = 100;
const day = 24 * 3_600_000;

export const certificateFind: Command = {
  name: 'certificate find',
  positionals: ['[WORDS]'],
  summary: 'Find certificates by words in their name, subject, serial number or fingerprint.',
  details: `WORDS is one argument: quote several words. Every word must match. Lists the newest first, at most ${usualLimit} unless
--limit is given.`,
  options: {
    device: { type: 'string', value: 'NAME', help: 'Only certificates of this device' },
    status: { type: 'string', value: 'S', help: `Only certificates with this status: ${states.join(', ')}` },
    'expires-within': {
      type: 'string',
      value: 'DAYS',
      help: 'Only valid certificates that expire within DAYS days',
    },
    limit: limitOption,
    ...placeOptions,
  },
  async run(invocation) {
    const { options, positionals } = invocation;
    const status = word(options, 'status', states);
    const days = number(options, 'expires-within', 36_500);
    const device = text(options, 'device');
    const limit = number(options, 'limit') ?? usualLimit;
    const serial = serialNumber(positionals[0] ?? '');
    const search = serial === undefined ? wordsOf(positionals[0]) : [];
    const found = await withGateway(invocation, async (opened) => {
      const { gateway, principal } = opened;
      const where: Condition<'certificate'>[] = [];
      const wanted = days === undefined ? status : 'good';
      if (serial !== undefined) where.push({ field: 'serialNumber', is: 'equal', value: serial });
      if (wanted !== undefined) where.push({ field: 'status', is: 'equal', value: wanted });
      if (device !== undefined) {
        where.push({ field: 'device', is: 'equal', value: (await deviceNamed(opened, device)).id });
      }
      if (days !== undefined) {
        const now = gateway.now();
        where.push(
          { field: 'notValidAfter', is: 'greaterOrEqual', value: wholeSecond(now) },
          { field: 'notValidAfter', is: 'less', value: now + days * day },
        );
      }
      const query = { where, search, order: { field: 'id', descending: true } } as const;
      // One record more than the limit shows whether the list is complete.
      const records = await pages<'certificate', StoredCertificate>(
        (q) => gateway.certificates.list(principal, q),
        query,
        limit + 1,
      );
      return records.map(describeCertificate);
    });
    const shown = found.slice(0, limit);
    if (options.json === true) printJson(shown);
    else {
      printTable(
        ['ID', 'NAME', 'SERIAL NUMBER', 'STATUS', 'UNTIL'],
        shown.map((one) => [
          one.id,
          one.common_name,
          one.serial_number,
          one.status,
          one.not_valid_after.slice(0, 10),
        ]),
      );
    }
    if (found.length > limit)
      console.error(`postern: more than ${limit} certificates match: raise --limit to see more`);
    return exit.success;
  },
};

export const certificateShow: Command = {
  name: 'certificate show',
  positionals: ['ID'],
  summary: 'Show a certificate, with its PEM.',
  details: 'ID is the id or the serial number (hexadecimal) of the certificate.',
  options: placeOptions,
  async run(invocation) {
    const record = await withGateway(invocation, (opened) =>
      certificateNamed(opened, invocation.positionals[0]!),
    );
    const pem = encodePem('CERTIFICATE', record.der);
    const names = subjectAltNamesOf(parseCertificate(record.der)).map(formatGeneralName);
    const described = describeCertificate(record);
    if (invocation.options.json === true) printJson({ ...described, subject_alternative_names: names, pem });
    else {
      printFacts({ ...described, subject_alternative_names: names.join(', ') || null });
      console.log(`\n${pem.trimEnd()}`);
    }
    return exit.success;
  },
};
