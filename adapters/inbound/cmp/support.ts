import { controlTypes } from '#adapters/wire/cmp/controls.ts';
import { infoTypes } from '#adapters/wire/cmp/info-types.ts';
import { findValue, type TypedValue, typedValue } from '#adapters/wire/cmp/typed-value.ts';
import type { WantedCrl } from '#core/enrolment/information.ts';
import { parseCertTemplate } from '#core/x509/crmf.ts';
import { buildCertTemplate } from '#core/x509/crmf-builder.ts';
import type { GeneralName } from '#core/x509/general-name.ts';
import type { CmpSurroundings, Dialogue, Handler } from './dialogue.ts';
import { keyAlgorithms, rsaAlgorithm } from './key-algorithms.ts';
import { reply } from './reply.ts';

type Answerer = (
  surroundings: CmpSurroundings,
  dialogue: Dialogue,
  infos: readonly TypedValue[],
) => Promise<TypedValue> | TypedValue;

/** What is asked for → what answers it; without a value when there is nothing to say (RFC 9483 §4.3). */
const answerers: ReadonlyMap<string, Answerer> = new Map<string, Answerer>([
  [infoTypes.caCerts.oid, caCerts],
  [infoTypes.rootCaCert.oid, rootCaUpdate],
  [infoTypes.certReqTemplate.oid, certReqTemplate],
  [infoTypes.crlStatusList.oid, crlUpdate],
  [infoTypes.currentCrl.oid, currentCrl],
  [infoTypes.signKeyPairTypes.oid, () => typedValue(infoTypes.signKeyPairTypes, keyAlgorithms())],
  [infoTypes.encKeyPairTypes.oid, () => typedValue(infoTypes.encKeyPairTypes, [rsaAlgorithm])],
  [infoTypes.suppLangTags.oid, () => typedValue(infoTypes.suppLangTags, ['en'])],
]);

/** To those who ask for nothing in particular (RFC 9810 §5.3.19). */
const usual = [infoTypes.caCerts, infoTypes.currentCrl, infoTypes.signKeyPairTypes].map(({ oid }) => oid);

/** genm (RFC 9483 §4.3). Of types that are not known the answer says so. */
export const inform: Handler<'genm'> = async (surroundings, dialogue, { infos }) => {
  const asked = infos.length > 0 ? [...new Set(infos.map(({ type }) => type))] : usual;
  const answers: TypedValue[] = [];
  const unknown: string[] = [];
  for (const type of asked) {
    const answer = answerers.get(type);
    if (answer) answers.push(await answer(surroundings, dialogue, infos));
    else unknown.push(type);
  }
  if (unknown.length > 0) answers.push(typedValue(infoTypes.unsupportedOids, unknown));
  const { message, seal } = dialogue;
  return (await reply(surroundings, message, seal, { type: 'genp', infos: answers })).message;
};

async function caCerts({ gateway }: CmpSurroundings, { requester }: Dialogue): Promise<TypedValue> {
  return typedValue(infoTypes.caCerts, await gateway.caCertificates(requester.domain.uniqueName));
}

async function rootCaUpdate(
  { gateway }: CmpSurroundings,
  { requester }: Dialogue,
  infos: readonly TypedValue[],
): Promise<TypedValue> {
  const root = findValue(infos, infoTypes.rootCaCert);
  const update = root && (await gateway.information.newerRoot(requester, root));
  return update ? typedValue(infoTypes.rootCaKeyUpdate, update) : { type: infoTypes.rootCaKeyUpdate.oid };
}

async function certReqTemplate({ gateway }: CmpSurroundings, { requester }: Dialogue): Promise<TypedValue> {
  const { subject, keys, minimumRsaBits } = await gateway.information.expectedRequest(requester);
  const template = parseCertTemplate(buildCertTemplate({ subject }));
  return typedValue(infoTypes.certReqTemplate, { template, keySpec: keySpec(keys, minimumRsaBits) });
}

/** RFC 9483 §4.3.3: the kinds of keys among which the requester may choose; for RSA the fewest bits. */
function keySpec(allowed: readonly string[] | undefined, minimumRsaBits: number): TypedValue[] {
  if (!allowed) return [];
  const others = keyAlgorithms(allowed).map((algorithm) => typedValue(controlTypes.algId, algorithm));
  const sizes = allowed.flatMap((kind) =>
    kind === 'rsa' ? [minimumRsaBits] : kind.startsWith('rsa-') ? [Number(kind.slice(4))] : [],
  );
  return [...others, ...sizes.map((bits) => typedValue(controlTypes.rsaKeyLen, bits))];
}

async function crlUpdate(
  { gateway }: CmpSurroundings,
  _: Dialogue,
  infos: readonly TypedValue[],
): Promise<TypedValue> {
  const statuses = findValue(infos, infoTypes.crlStatusList) ?? [];
  const wanted = statuses.map(({ source, thisUpdate }): WantedCrl => {
    const names = source.kind === 'relativeName' ? [] : source.names;
    return { issuers: directoryNames(names), uris: uris(names), thisUpdate };
  });
  const crls = await gateway.information.newerCrls(wanted);
  return crls.length > 0 ? typedValue(infoTypes.crls, crls) : { type: infoTypes.crls.oid };
}

const directoryNames = (names: readonly GeneralName[]) =>
  names.flatMap((name) => (name.kind === 'directory' ? [name.value] : []));
const uris = (names: readonly GeneralName[]) =>
  names.flatMap((name) => (name.kind === 'uri' ? [name.value] : []));

async function currentCrl({ gateway }: CmpSurroundings, { requester }: Dialogue): Promise<TypedValue> {
  const crl = await gateway.information.currentCrl(requester);
  return crl ? typedValue(infoTypes.currentCrl, crl) : { type: infoTypes.currentCrl.oid };
}
