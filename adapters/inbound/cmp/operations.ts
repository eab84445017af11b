import type { BodyType, PkiBody } from '#adapters/wire/cmp/body.ts';
import { infoTypes } from '#adapters/wire/cmp/info-types.ts';

interface Operation {
  readonly bodies: readonly BodyType[];
  /** For genm: the type that the operation is about. */
  readonly info?: string;
}

/** What may come after such a request, at its path. */
const following = ['certConf', 'pollReq', 'error'] as const;
const enrolment = (body: BodyType): Operation => ({ bodies: [body, ...following] });
const revocation: Operation = { bodies: ['rr', ...following] };
const information = (kind?: { readonly oid: string }): Operation => ({
  bodies: ['genm', 'pollReq', 'error'],
  ...(kind && { info: kind.oid }),
});

/** The words for operations in a path, in lower case: the bodies' own names, and those of RFC 9483 §6.1. */
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

/** No word at all leaves it to the body. */
export const isOperation = (word: string | undefined): boolean => word === undefined || operations.has(word);

/** Whether a body of a type may come to the path of an operation. A nested one may come to any: those inside it are looked at then. */
export function takes(word: string | undefined, type: BodyType): boolean {
  const operation = word === undefined ? undefined : operations.get(word);
  if (!operation || word === 'nested' || type === 'nested') return word !== 'nested' || type === 'nested';
  return operation.bodies.includes(type);
}

/** Whether a body of a type that the operation takes asks for what the operation is about. */
export function agrees(word: string | undefined, body: PkiBody): boolean {
  const info = word === undefined ? undefined : operations.get(word)?.info;
  return info === undefined || body.type !== 'genm' || body.infos.every(({ type }) => type === info);
}
