/** The properties of a device that its commands need. */
export interface EnrolledDevice {
  readonly id: number;
  readonly commonName: string;
  /** The unique name of its domain. */
  readonly domain: string;
  /** Null if there is no secret. */
  readonly password: string | null;
  readonly sharedSecret: string | null;
  /** The device still has to onboard with its IDevID. */
  readonly awaitsIdevid: boolean;
  /** The base URL of the service. */
  readonly baseUrl: string;
  readonly publicUrl: string;
  /** The enabled protocols that the device may use: `est`, `rest`, `cmp`. */
  readonly protocols: ReadonlySet<string>;
}

/** Quotes a text as one word for a POSIX shell. */
const quote = (text: string): string =>
  /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

const toDer = 'openssl base64 -d | openssl pkcs7 -inform DER -print_certs';
const toPem = `awk -F '"certificate":"' '{ split($2, part, "\\""); gsub(/\\\\n/, "\\n", part[1]); printf "%s", part[1] }'`;

/** Returns whether the text can be typed on any terminal and means the same to every program. */
const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

/**
 * Returns shell commands, to be run one after the other: key and request, CA certificates, then enrolment and renewal
 * over each protocol. Each one writes `<name>.pem`. They need only OpenSSL and curl. Names are quoted, so that no part
 * of a device name is run as a command.
 */
export function enrolmentLines(device: EnrolledDevice): Readonly<Record<string, string>> {
  const { id, commonName, password, sharedSecret, awaitsIdevid, baseUrl, publicUrl, protocols } = device;
  const file = commonName.replace(/[^\w.-]/g, '_').replace(/^[.-]/, '_');
  // OpenSSL treats / and + as the start of the next part of the name, unless they are escaped.
  const subject = quote(`/CN=${commonName.replace(/[\\/+=]/g, '\\$&')}`);
  const utf8 = isAscii(commonName) ? '' : '-utf8 ';
  // HTTP Basic ends the user name at its first colon (RFC 7617 §2), and its character set is uncertain.
  const username = isAscii(commonName) && !commonName.includes(':') ? commonName : String(id);
  const domain = encodeURIComponent(device.domain);
  const curl = 'curl -sSf --cacert ca.pem';
  const login = `--user ${quote(`${username}:${password}`)}`;
  const certificate = `--cert ${file}.pem --key ${file}.key`;
  const idevid = '--cert idevid.pem --key idevid.key';
  const request = `openssl req -in ${file}.csr -outform DER | openssl base64 -A`;
  // The new certificate replaces the old one only when it is complete.
  const keep = `> ${file}.new && mv ${file}.new ${file}.pem`;
  const est = (credential: string, operation: string): string =>
    `${request} | ${curl} ${credential} -H 'Content-Type: application/pkcs10' --data-binary @- ${baseUrl}/.well-known/est/${domain}/${operation} | ${toDer} ${keep}`;
  const rest = (credential: string, operation: string): string =>
    `printf '{"csr":"%s"}' "$(${request})" | ${curl} ${credential} -H 'Content-Type: application/json' --data-binary @- ${baseUrl}/rest/${domain}/${operation} | ${toPem} ${keep}`;
  // CMP messages are protected themselves, so plain HTTP is sufficient.
  const cmp = (operation: string): string =>
    `openssl cmp -cmd ${operation} -server ${new URL(publicUrl).host} -path .well-known/cmp/p/${domain}`;
  // `openssl cmp` reads this option as Latin-1; the request contains the exact name.
  const named = isAscii(commonName) ? `-subject ${subject}` : `-csr ${file}.csr`;
  const idevidCmp = `${cmp('ir')} -trusted ca.pem -cert idevid.pem -key idevid.key -extracerts idevid.pem`;
  return {
    key: `openssl req -new ${utf8}-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ${file}.key -out ${file}.csr -subj ${subject}`,
    ...(protocols.has('est') && {
      ca: `curl -sSf --insecure ${baseUrl}/.well-known/est/${domain}/cacerts | ${toDer} -out ca.pem`,
      ...(awaitsIdevid && { est_idevid: est(idevid, 'simpleenroll') }),
      ...(password !== null && { est: est(login, 'simpleenroll') }),
      est_renew: est(certificate, 'simplereenroll'),
    }),
    ...(protocols.has('rest') && {
      ...(password !== null && { rest: rest(login, 'enroll') }),
      rest_renew: rest(certificate, 'reenroll'),
    }),
    ...(protocols.has('cmp') && {
      ...(awaitsIdevid && { cmp_idevid: `${idevidCmp} -newkey ${file}.key ${named} -certout ${file}.pem` }),
      ...(sharedSecret !== null && {
        cmp: `${cmp('ir')} -ref ${quote(isAscii(commonName) ? commonName : String(id))} -secret ${quote(`pass:${sharedSecret}`)} -newkey ${file}.key ${named} -cacertsout root.pem -certout ${file}.pem`,
      }),
      cmp_renew: `${cmp('kur')} -cert ${file}.pem -key ${file}.key -newkey ${file}.key -trusted ${sharedSecret === null ? 'ca.pem' : 'root.pem'} -certout ${file}.new && mv ${file}.new ${file}.pem`,
    }),
  };
}

/** The purpose of each command. */
export const lineTitles: Readonly<Record<string, string>> = {
  key: 'Generate a key and a certificate request',
  ca: 'Fetch the CA certificates, without verification: compare them with those of `postern ca export`',
  est_idevid: 'Enrol over EST with the IDevID certificate (idevid.pem, idevid.key)',
  est: 'Enrol over EST with the password',
  est_renew: 'Renew the certificate over EST',
  rest: 'Enrol over REST with the password',
  rest_renew: 'Renew the certificate over REST',
  cmp_idevid: 'Enrol over CMP with the IDevID certificate (idevid.pem, idevid.key)',
  cmp: 'Enrol over CMP with the shared secret, and fetch the root CA certificate',
  cmp_renew: 'Renew the certificate over CMP',
};
