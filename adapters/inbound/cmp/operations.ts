import type { BodyType, PkiBody } from '#adapters/wire/cmp/body.ts';
import { infoTypes } from '#adapters/wire/cmp/info-types.ts';

interface Operation {
  readonly bodies: readonly BodyType[];
  /** For genm: the OID of the only infoType allowed. */
  readonly info?: string;
}

/** The bodies that may follow a request, sent to the same path. */
const following = ['certConf', 'pollReq', 'error'] as const;
const enrolment = (body: BodyType): Operation => ({ bodies: [body, ...following] });
const revocation: Operation = { bodies: ['rr', ...following] };
const information = (kind?: { readonly oid: string }): Operation => ({
  bodies: ['genm', 'pollReq', 'error'],
  ...(kind && { info: kind.oid }),
});

/** The path labels of operations, in lower case: the names of the bodies, and those of RFC 9483 §6.1. */
const operations: ReadonlyMap<string, Operation> = new Map([
  ['ir', enrolment('ir')],
  ['initialization', enrolment('ir')],
  ['cr', enrolment('cr')],
  ['certification', enrolment('cr')],
  ['kur', enrolment('kur')],
  ['keyupdate', enrolment('kur')],
  ['p10cr', enrolment('p10cr')],
  ['pkcs10', enrolment('p10cr')],
  ['rr', revocation],
  ['revocation', revocation],
  ['certconf', { bodies: ['certConf', 'error'] }],
  ['pollreq', { bodies: ['pollReq', 'error'] }],
  ['genm', information()],
  ['getcacerts', information(infoTypes.caCerts)],
  ['getrootupdate', information(infoTypes.rootCaCert)],
  ['getcertreqtemplate', information(infoTypes.certReqTemplate)],
  ['getcrls', information(infoTypes.crlStatusList)],
  ['nested', { bodies: [] }],
]);

/** Whether `word` is the label of an operation. Without a label, the body decides about the operation. */
export const isOperation = (word: string | undefined): boolean => word === undefined || operations.has(word);

/** Whether a path with this label accepts a body of this type. Any path accepts a nested body; its inner bodies are checked later. */
export function acceptsBody(word: string | undefined, type: BodyType): boolean {
  const operation = word === undefined ? undefined : operations.get(word);
  if (!operation || word === 'nested' || type === 'nested') return word !== 'nested' || type === 'nested';
  return operation.bodies.includes(type);
}

/** Whether the infoTypes of a genm are those of the operation; true for any other body. */
export function matchesInfoType(word: string | undefined, body: PkiBody): boolean {
  const info = word === undefined ? undefined : operations.get(word)?.info;
  return info === undefined || body.type !== 'genm' || body.infos.every(({ type }) => type === info);
}
