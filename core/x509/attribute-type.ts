import { tag } from '../der/tag.ts';

/** An attribute type of distinguished names. */
export interface AttributeType {
  readonly oid: string;
  /** The name in distinguished names that Postern writes (RFC 4514 §3, RFC 4519). */
  readonly name: string;
  /** The string type that Postern writes. */
  readonly tag: number;
  readonly shortest: number;
  /** The maximum number of characters (RFC 5280 §A.1, X.520 Annex C). */
  readonly longest: number;
}

/** ub-name */
const unbounded = 32768;

/** OID, maximum number of characters, name, further names that are accepted. */
const rows: readonly (readonly [oid: string, longest: number, name: string, ...aliases: string[]])[] = [
  ['2.5.4.3', 64, 'CN', 'commonName'],
  ['2.5.4.4', unbounded, 'SN', 'surname'],
  ['2.5.4.5', 64, 'serialNumber'],
  ['2.5.4.6', 2, 'C', 'countryName'],
  ['2.5.4.7', 128, 'L', 'localityName'],
  ['2.5.4.8', 128, 'ST', 'S', 'stateOrProvinceName'],
  ['2.5.4.9', 128, 'STREET', 'streetAddress'],
  ['2.5.4.10', 64, 'O', 'organizationName'],
  ['2.5.4.11', 64, 'OU', 'organizationalUnitName'],
  ['2.5.4.12', 64, 'title', 'T'],
  ['2.5.4.13', 1024, 'description'],
  ['2.5.4.15', 128, 'businessCategory'],
  ['2.5.4.17', 40, 'postalCode'],
  ['2.5.4.41', unbounded, 'name'],
  ['2.5.4.42', unbounded, 'givenName', 'GN'],
  ['2.5.4.43', unbounded, 'initials'],
  ['2.5.4.44', unbounded, 'generationQualifier'],
  ['2.5.4.46', unbounded, 'dnQualifier'],
  ['2.5.4.65', 128, 'pseudonym'],
  ['2.5.4.97', 256, 'organizationIdentifier'],
  ['0.9.2342.19200300.100.1.1', 256, 'UID', 'userId'],
  ['0.9.2342.19200300.100.1.25', 63, 'DC', 'domainComponent'],
  ['1.2.840.113549.1.9.1', 255, 'emailAddress', 'E', 'email'],
  ['1.2.840.113549.1.9.2', 255, 'unstructuredName'],
  ['1.2.840.113549.1.9.8', 255, 'unstructuredAddress'],
  ['1.3.6.1.4.1.311.60.2.1.1', 128, 'jurisdictionLocalityName'],
  ['1.3.6.1.4.1.311.60.2.1.2', 128, 'jurisdictionStateOrProvinceName'],
  ['1.3.6.1.4.1.311.60.2.1.3', 2, 'jurisdictionCountryName'],
];

/** The attribute types with only one permitted string type (RFC 5280 §4.1.2.4, §A.1). */
const fixedTags: Readonly<Record<string, number>> = {
  C: tag.printableString,
  jurisdictionCountryName: tag.printableString,
  serialNumber: tag.printableString,
  dnQualifier: tag.printableString,
  DC: tag.ia5String,
  emailAddress: tag.ia5String,
};

const byOid = new Map<string, AttributeType>();
const byName = new Map<string, AttributeType>();

for (const [oid, longest, name, ...aliases] of rows) {
  const type = {
    oid,
    name,
    tag: fixedTags[name] ?? tag.utf8String,
    shortest: longest === 2 ? 2 : 1,
    longest,
  };
  byOid.set(oid, type);
  for (const known of [name, ...aliases]) byName.set(known.toLowerCase(), type);
}

export const attributeTypeOf = (oid: string): AttributeType | undefined => byOid.get(oid);

/** Returns the attribute type with this name or alias, in any letter case. */
export const attributeTypeNamed = (name: string): AttributeType | undefined => byName.get(name.toLowerCase());
