import { controlTypes } from '#adapters/wire/cmp/controls.ts';
import { infoTypes } from '#adapters/wire/cmp/info-types.ts';
import { findValue, type TypedValue, typedValue } from '#adapters/wire/cmp/typed-value.ts';
import { der } from '#core/der/builder.ts';
import type { WantedCrl } from '#core/enrolment/information.ts';
import { parseCertTemplate } from '#core/x509/crmf.ts';
import { buildCertTemplate } from '#core/x509/crmf-builder.ts';
import type { GeneralName } from '#core/x509/general-name.ts';
import { oid } from '#core/x509/oids.ts';
import type { CmpServices, Handler, MessageContext } from './message-context.ts';
import { reply } from './reply.ts';

type InfoHandler = (
  services: CmpServices,
  context: MessageContext,
  infos: readonly TypedValue[],
) => Promise<TypedValue> | TypedValue;

/** The handler of each infoType; it returns an infoType without a value when there is no information (RFC 9483 §4.3). */
const handlers: ReadonlyMap<string, InfoHandler> = new Map<string, InfoHandler>([
  [infoTypes.caCerts.oid, caCerts],
  [infoTypes.rootCaCert.oid, rootCaUpdate],
  [infoTypes.certReqTemplate.oid, certReqTemplate],
  [infoTypes.crlStatusList.oid, crlUpdate],
  [infoTypes.currentCrl.oid, currentCrl],
  [infoTypes.signKeyPairTypes.oid, () => typedValue(infoTypes.signKeyPairTypes, keyAlgorithms())],
  [infoTypes.encKeyPairTypes.oid, () => typedValue(infoTypes.encKeyPairTypes, [rsaAlgorithm])],
  [infoTypes.suppLangTags.oid, () => typedValue(infoTypes.suppLangTags, ['en'])],
]);

/** Sent in response to an empty genm (RFC 9810 §5.3.19). */
const defaults = [infoTypes.caCerts, infoTypes.currentCrl, infoTypes.signKeyPairTypes].map(({ oid }) => oid);

/** Handles genm (RFC 9483 §4.3). The response lists unknown infoTypes as unsupportedOIDs. */
export const inform: Handler<'genm'> = async (services, context, { infos }) => {
  const requested = infos.length > 0 ? [...new Set(infos.map(({ type }) => type))] : defaults;
  const found: TypedValue[] = [];
  const unknown: string[] = [];
  for (const type of requested) {
    const handler = handlers.get(type);
    if (handler) found.push(await handler(services, context, infos));
    else unknown.push(type);
  }
  if (unknown.length > 0) found.push(typedValue(infoTypes.unsupportedOids, unknown));
  const { message, seal } = context;
  return (await reply(services, message, seal, { type: 'genp', infos: found })).message;
};

async function caCerts({ gateway }: CmpServices, { requester }: MessageContext): Promise<TypedValue> {
  return typedValue(infoTypes.caCerts, await gateway.caCertificates(requester.domain.uniqueName));
}

async function rootCaUpdate(
  { gateway }: CmpServices,
  { requester }: MessageContext,
  infos: readonly TypedValue[],
): Promise<TypedValue> {
  const root = findValue(infos, infoTypes.rootCaCert);
  const update = root && (await gateway.information.newerRoot(requester, root));
  return update ? typedValue(infoTypes.rootCaKeyUpdate, update) : { type: infoTypes.rootCaKeyUpdate.oid };
}

async function certReqTemplate({ gateway }: CmpServices, { requester }: MessageContext): Promise<TypedValue> {
  const { subject, keys, minimumRsaBits } = await gateway.information.expectedRequest(requester);
  const template = parseCertTemplate(buildCertTemplate({ subject }));
  return typedValue(infoTypes.certReqTemplate, { template, keySpec: keySpec(keys, minimumRsaBits) });
}

/** Returns the key types that the requester may choose from, for RSA with the minimum size in bits (RFC 9483 §4.3.3). */
function keySpec(allowed: readonly string[] | undefined, minimumRsaBits: number): TypedValue[] {
  if (!allowed) return [];
  const others = keyAlgorithms(allowed).map((algorithm) => typedValue(controlTypes.algId, algorithm));
  const sizes = allowed.flatMap((kind) =>
    kind === 'rsa' ? [minimumRsaBits] : kind.startsWith('rsa-') ? [Number(kind.slice(4))] : [],
  );
  return [...others, ...sizes.map((bits) => typedValue(controlTypes.rsaKeyLen, bits))];
}

async function crlUpdate(
  { gateway }: CmpServices,
  _: MessageContext,
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

async function currentCrl({ gateway }: CmpServices, { requester }: MessageContext): Promise<TypedValue> {
  const crl = await gateway.information.currentCrl(requester);
  return crl ? typedValue(infoTypes.currentCrl, crl) : { type: infoTypes.currentCrl.oid };
}

const named = (which: string): Uint8Array => der((b) => b.sequence((s) => s.oid(which)));
const curve = (which: string): Uint8Array => der((b) => b.sequence((s) => s.oid(oid.ecPublicKey).oid(which)));

/** The AlgorithmIdentifier (DER) of RSA public keys. */
const rsaAlgorithm = der((b) => b.sequence((s) => s.oid(oid.rsaEncryption).null()));

const others: ReadonlyMap<string, Uint8Array> = new Map([
  ['p-256', curve(oid.p256)],
  ['p-384', curve(oid.p384)],
  ['p-521', curve(oid.p521)],
  ['ed25519', named(oid.ed25519)],
  ['ml-dsa-44', named(oid.mlDsa44)],
  ['ml-dsa-65', named(oid.mlDsa65)],
  ['ml-dsa-87', named(oid.mlDsa87)],
]);

/**
 * Returns the AlgorithmIdentifiers (DER) of all public keys that Postern certifies or, with `kinds` (key types as in certificate
 * profiles), of those among them that are not RSA.
 */
function keyAlgorithms(kinds?: readonly string[]): readonly Uint8Array[] {
  if (!kinds) return [rsaAlgorithm, ...others.values()];
  return kinds.flatMap((kind) => others.get(kind) ?? []);
}
