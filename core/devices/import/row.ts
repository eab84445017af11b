import { deviceTypes, type EnrolmentProtocol } from '../../records/device.ts';
import type { ImportRefusal } from '../../records/device-import.ts';
import { hiddenProblem } from '../../x509/visible.ts';
import type { NoOnboardingInput } from '../configs.ts';

/** The columns of an import. Values are trimmed; an empty value counts as a missing column. */
export const importColumns = {
  common_name: 'the name: 1 to 100 characters, unique',
  serial_number: 'at most 100 characters',
  device_type: '0 Generic (default), 1 OPC UA GDS, 2 OPC UA GDS Push, 3 Agent',
  domain: 'the unique name of the domain; default: the default domain',
  protocols: 'cmp, est, rest, manual, separated by spaces; default: cmp est rest',
  est_password: '16 to 256 ASCII characters without spaces; default: generated; none: no password',
  cmp_shared_secret: 'the same for CMP',
  idevid_truststore:
    'the unique name of a truststore for IDevIDs: the device onboards with its IDevID, which has its serial number; secrets are then not generated',
} as const;

export type ImportColumn = keyof typeof importColumns;

export const isImportColumn = (name: string): name is ImportColumn => Object.hasOwn(importColumns, name);

/** A parsed row: its values by column, or why it could not be parsed. */
export type ImportRow =
  | { readonly line: number; readonly values: Readonly<Partial<Record<ImportColumn, string>>> }
  | { readonly line: number; readonly problem: string };

/** Looks up the names in a row: returns ids, or undefined. */
export interface RowNames {
  domain(uniqueName: string): number | undefined;
  idevidTruststore(uniqueName: string): number | undefined;
  readonly defaultDomain: number | null;
}

/** A device as described by a row. */
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

/** Returns the device of a row, or all errors of the row. */
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
    return name === '' ? undefined : (find(name) ?? refuse(column, 'this name does not exist'));
  };
  const secret = (column: ImportColumn): string | null | undefined => {
    const given = value(column);
    if (given === '') return undefined;
    if (given === 'none') return null;
    return /^[\x21-\x7e]{16,256}$/.test(given)
      ? given
      : refuse(column, 'this must be 16 to 256 ASCII characters without spaces, or none');
  };

  const commonName = text('common_name');
  if (commonName === '') refuse('common_name', 'this is needed');
  const serialNumber = text('serial_number');
  const type = value('device_type');
  const deviceType = /^\d$/.test(type) ? Number(type) : type === '' ? deviceTypes.generic : Number.NaN;
  if (!types.has(deviceType)) refuse('device_type', 'this must be 0, 1, 2 or 3');
  const wanted = value('protocols').toLowerCase().split(/\s+/).filter(Boolean);
  if (!wanted.every((one) => protocols.has(one)))
    refuse('protocols', 'this must be a list of cmp, est, rest, manual, separated by spaces');
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
