import { Fault } from '../fault.ts';
import { type Certificate, parseCertificate } from './certificate.ts';
import { formatDistinguishedName } from './name.ts';

/** A certificate whose names can also be printed and compared, which lists and path validation do. Faults: malformed. */
export function readCertificate(der: Uint8Array): Certificate {
  const certificate = parseCertificate(der);
  formatDistinguishedName(certificate.subject);
  formatDistinguishedName(certificate.issuer);
  return certificate;
}

/**
 * What `read` returns. Before a record is stored this proves that it can be loaded again: whatever goes wrong is the fault of the
 * input. Faults: malformed with `field`.
 */
export function proven<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const detail = cause instanceof Fault && cause.code !== 'internal' ? cause.detail : 'this cannot be read';
    throw new Fault('malformed', detail, { field, cause });
  }
}
