import type { DerBuilder } from '#core/der/builder.ts';
import type { DerReader } from '#core/der/reader.ts';
import { tag } from '#core/der/tag.ts';
import { type CertTemplate, parseCertTemplate } from '#core/x509/crmf.ts';
import { addExtensions, type Extension, readExtensions } from '#core/x509/extension.ts';
import { addGeneralName, type GeneralName, readGeneralName } from '#core/x509/general-name.ts';
import { readEncoded } from './sequence-of.ts';
import { addPkiStatus, type PkiStatus, readPkiStatus } from './status.ts';

/** RevDetails (RFC 9810 §5.3.9). */
export interface RevDetails {
  /** Identifies the certificate by issuer and serial number (RFC 9483 §4.2). */
  readonly certDetails: CertTemplate;
  /** Contains the reasonCode. */
  readonly crlEntryDetails: readonly Extension[];
}

/** CertId (RFC 4211 §6.5). */
export interface CertId {
  readonly issuer: GeneralName;
  /** Contents octets of the INTEGER. */
  readonly serial: Uint8Array;
}

/** RevAnnContent (RFC 9810 §5.3.15). */
export interface RevocationAnnouncement {
  readonly status: PkiStatus;
  readonly certId: CertId;
  /** Milliseconds since 1970. */
  readonly willBeRevokedAt: number;
  readonly badSinceDate: number;
  readonly crlDetails: readonly Extension[];
}

/** Consumes a RevDetails. Faults: malformed. */
export function readRevDetails(reader: DerReader): RevDetails {
  const details = reader.sequence();
  const certDetails = parseCertTemplate(readEncoded(details));
  const crlEntryDetails = details.empty ? [] : readExtensions(details);
  details.finish();
  return { certDetails, crlEntryDetails };
}

export function addRevDetails(builder: DerBuilder, details: RevDetails): void {
  builder.sequence((s) => {
    s.raw(details.certDetails.der);
    if (details.crlEntryDetails.length > 0) addExtensions(s, details.crlEntryDetails);
  });
}

/** Consumes a CertId. Faults: malformed. */
export function readCertId(reader: DerReader): CertId {
  const id = reader.sequence();
  const issuer = readGeneralName(id);
  const serial = id.shortIntegerBytes();
  id.finish();
  return { issuer, serial };
}

export function addCertId(builder: DerBuilder, { issuer, serial }: CertId): void {
  builder.sequence((s) => {
    addGeneralName(s, issuer);
    s.add(tag.integer, serial);
  });
}

/** Consumes a RevAnnContent. Faults: malformed. */
export function readRevocationAnnouncement(reader: DerReader): RevocationAnnouncement {
  const content = reader.sequence();
  const announcement = {
    status: readPkiStatus(content),
    certId: readCertId(content),
    willBeRevokedAt: content.generalizedTime(),
    badSinceDate: content.generalizedTime(),
    crlDetails: content.empty ? [] : readExtensions(content),
  };
  content.finish();
  return announcement;
}

export function addRevocationAnnouncement(builder: DerBuilder, announcement: RevocationAnnouncement): void {
  builder.sequence((s) => {
    addPkiStatus(s, announcement.status);
    addCertId(s, announcement.certId);
    s.generalizedTime(announcement.willBeRevokedAt).generalizedTime(announcement.badSinceDate);
    if (announcement.crlDetails.length > 0) addExtensions(s, announcement.crlDetails);
  });
}
