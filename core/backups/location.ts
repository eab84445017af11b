import { Fault } from '../fault.ts';
import type { BackupLocation } from '../ports/backups.ts';

/**
 * Parses a `remote_directory`: an absolute path on this machine, or `sftp://user@host[:port]/path`. Does not test
 * whether it is writable. Faults: malformed with field `remoteDirectory`.
 */
export function readLocation(remoteDirectory: string): BackupLocation {
  if (!/^[a-z][a-z0-9+.-]*:/i.test(remoteDirectory)) {
    // The working directory of the service is not a place that an operator can rely on.
    if (!remoteDirectory.startsWith('/'))
      throw refused('a path on this machine must be absolute: start it with /');
    return { kind: 'directory', path: remoteDirectory };
  }
  let url: URL;
  try {
    url = new URL(remoteDirectory);
  } catch {
    throw refused('this must be a path, or a URL such as sftp://user@host/path');
  }
  if (url.protocol !== 'sftp:') throw refused('only paths and sftp:// URLs are supported');
  // A password would appear in lists, in the audit trail and in the log.
  if (url.password !== '') throw refused('remove the password from the URL: backups authenticate with a key');
  if (url.hostname === '' || url.username === '' || url.search !== '' || url.hash !== '') {
    throw refused('this must be a URL such as sftp://user@host/path');
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
  throw refused('this must be a URL such as sftp://user@host/path');
}

const refused = (detail: string): Fault => new Fault('malformed', detail, { field: 'remoteDirectory' });
