import { deviceTypes, type EnrolmentProtocol } from '../../records/device.ts';
import type { ImportRefusal } from '../../records/device-import.ts';
import { hiddenProblem } from '../../x509/visible.ts';
import type { NoOnboardingInput } from '../configs.ts';

/** What a column of an import means. Values are trimmed; an empty one is as if its column were not there. */
export const importColumns = {
  common_name: 'its name: 1 to 100 characters, of no other device',
  serial_number: 'at most 100 characters',
  device_type: '0 Generic (default), 1 OPC UA GDS, 2 OPC UA GDS Push, 3 Agent',
  domain: 'the unique name of its domain; default: the default domain',
  protocols: 'cmp, est, rest, manual, with spaces between them; default: cmp est rest',
  est_password: '16 to 256 characters of ASCII without spaces; default: one is made; none: it has none',
  cmp_shared_secret: 'the same for CMP',
  idevid_truststore:
    'the unique name of a truststore for IDevIDs: the device comes with the certificate of its manufacturer, which bears its serial number; unless given it has no secrets then',
} as const;

export type ImportColumn = keyof typeof importColumns;

export const isImportColumn = (name: string): name is ImportColumn => Object.hasOwn(importColumns, name);

/** A row as it was read: its values by column, or why it has none. */
export type ImportRow =
  | { readonly line: number; readonly values: Readonly<Partial<Record<ImportColumn, string>>> }
  | { readonly line: number; readonly problem: string };

/** What names in a row stand for: ids, or undefined where there is none. */
export interface RowNames {
  domain(uniqueName: string): number | undefined;
  idevidTruststore(uniqueName: string): number | undefined;
  readonly defaultDomain: number | null;
}

/** A device as a row describes it. */
export interface RowDevice {
  readonly commonName: string;
  readonly serialNumber: string;
  readonly deviceType: number;
  readonly domain: number | null;
  readonly config: NoOnboardingInput;
  readonly idevidTruststore: number | undefined;
}

const longest = 100;
const protocols: ReadonlySet<string> = new Set(['cmp', 'est', 'rest', 'manual']);
const types: ReadonlySet<number> = new Set(Object.values(deviceTypes));

/** The device of a row, or everything that is wrong with it. */
export function readRow(row: ImportRow, names: RowNames): RowDevice | readonly ImportRefusal[] {
  const { line } = row;
  if ('problem' in row) return [{ line, field: '', message: row.problem }];
  const refusals: ImportRefusal[] = [];
  const refuse = (field: ImportColumn, message: string): undefined => {
    refusals.push({ line, field, message });
    return undefined;
  };
  const value = (column: ImportColumn): string => row.values[column]?.trim() ?? '';
  const text = (column: ImportColumn): string => {
    const given = value(column);
    const problem = hiddenProblem(given);
    if (problem !== undefined) refuse(column, problem);
    else if (given.length > longest) refuse(column, `at most ${longest} characters are allowed`);
    return given;
  };
  const named = (column: ImportColumn, find: (name: string) => number | undefined): number | undefined => {
    const name = value(column);
    return name === '' ? undefined : (find(name) ?? refuse(column, 'there is none of this name'));
  };
  const secret = (column: ImportColumn): string | null | undefined => {
    const given = value(column);
    if (given === '') return undefined;
    if (given === 'none') return null;
    return /^[\x21-\x7e]{16,256}$/.test(given)
      ? given
      : refuse(column, '16 to 256 characters of ASCII without spaces, or none, are expected');
  };

  const commonName = text('common_name');
  if (commonName === '') refuse('common_name', 'this is needed');
  const serialNumber = text('serial_number');
  const type = value('device_type');
  const deviceType = /^\d$/.test(type) ? Number(type) : type === '' ? deviceTypes.generic : Number.NaN;
  if (!types.has(deviceType)) refuse('device_type', 'one of 0, 1, 2, 3 is expected');
  const wanted = value('protocols').toLowerCase().split(/\s+/).filter(Boolean);
  if (!wanted.every((one) => protocols.has(one)))
    refuse('protocols', 'cmp, est, rest, manual are expected, with spaces between them');
  const domain = named('domain', (name) => names.domain(name)) ?? names.defaultDomain;
  const idevidTruststore = named('idevid_truststore', (name) => names.idevidTruststore(name));
  if (idevidTruststore !== undefined && serialNumber === '')
    refuse('serial_number', 'this is needed: the IDevID is known by it');
  const orElse = (given: string | null | undefined): string | null | undefined =>
    given === undefined && idevidTruststore !== undefined ? null : given;
  const estPassword = orElse(secret('est_password'));
  const cmpSharedSecret = orElse(secret('cmp_shared_secret'));
  if (refusals.length > 0) return refusals;
  const config: NoOnboardingInput = {
    ...(wanted.length > 0 && { protocols: [...new Set(wanted)] as EnrolmentProtocol[] }),
    ...(estPassword !== undefined && { estPassword }),
    ...(cmpSharedSecret !== undefined && { cmpSharedSecret }),
  };
  return { commonName, serialNumber, deviceType, domain, config, idevidTruststore };
}
