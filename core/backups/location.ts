import { Fault } from '../fault.ts';
import type { BackupLocation } from '../ports/backups.ts';

/**
 * What a `remote_directory` names: an absolute path of this machine, or `sftp://user@host[:port]/path`. Faults: malformed with field
 * `remoteDirectory`. Whether it can be written shows when it is.
 */
export function readLocation(remoteDirectory: string): BackupLocation {
  if (!/^[a-z][a-z0-9+.-]*:/i.test(remoteDirectory)) {
    // The directory that the service was started in is no place that an operator can rely on.
    if (!remoteDirectory.startsWith('/'))
      throw refused('a path of this machine must be absolute: begin it with /');
    return { kind: 'directory', path: remoteDirectory };
  }
  let url: URL;
  try {
    url = new URL(remoteDirectory);
  } catch {
    throw refused('a path, or a URL like sftp://user@host/path');
  }
  if (url.protocol !== 'sftp:') throw refused('only paths and sftp:// URLs are known');
  // It would stand in lists, in the audit trail and in the log.
  if (url.password !== '') throw refused('no password stands in a URL: backups sign in with a key');
  if (url.hostname === '' || url.username === '' || url.search !== '' || url.hash !== '') {
    throw refused('a URL like sftp://user@host/path');
  }
  return {
    kind: 'sftp',
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? 22 : Number(url.port),
    user: decoded(url.username),
    path: decoded(url.pathname) || '/',
  };
}

function decoded(text: string): string {
  try {
    const plain = decodeURIComponent(text);
    if (!/[\u0000-\u001f\u007f]/.test(plain)) return plain;
  } catch {}
  throw refused('a URL like sftp://user@host/path');
}

const refused = (detail: string): Fault => new Fault('malformed', detail, { field: 'remoteDirectory' });
