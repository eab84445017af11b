/** A device as its enrolment lines need it. */
export interface EnrolledDevice {
  readonly id: number;
  readonly commonName: string;
  /** Unique name of its domain. */
  readonly domain: string;
  /** Null where it has none. */
  readonly password: string | null;
  readonly sharedSecret: string | null;
  /** It waits for the certificate of its manufacturer. */
  readonly awaitsIdevid: boolean;
  /** How the service is reached. */
  readonly baseUrl: string;
  readonly publicUrl: string;
  /** What is served and what the device may use: `est`, `rest`, `cmp`. */
  readonly protocols: ReadonlySet<string>;
}

/** One word for a POSIX shell. */
const quote = (text: string): string =>
  /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

const toDer = 'openssl base64 -d | openssl pkcs7 -inform DER -print_certs';
const toPem = `awk -F '"certificate":"' '{ split($2, part, "\\""); gsub(/\\\\n/, "\\n", part[1]); printf "%s", part[1] }'`;

/** What may be typed on any terminal and means the same to every program. */
const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

/**
 * Lines for a shell, to be pasted one after the other: the key and the request, the CA certificates, then enrolment and
 * renewal over each protocol. Each leaves `<name>.pem`. OpenSSL and curl are all they need; whatever the device is called, no word
 * of it is taken for anything else than its name.
 */
export function enrolmentLines(device: EnrolledDevice): Readonly<Record<string, string>> {
  const { id, commonName, password, sharedSecret, awaitsIdevid, baseUrl, publicUrl, protocols } = device;
  const file = commonName.replace(/[^\w.-]/g, '_').replace(/^[.-]/, '_');
  // OpenSSL takes / and + for the start of the next part of the name, unless escaped.
  const subject = quote(`/CN=${commonName.replace(/[\\/+=]/g, '\\$&')}`);
  const utf8 = isAscii(commonName) ? '' : '-utf8 ';
  // HTTP Basic ends the user name at its first colon (RFC 7617 §2), and knows of no character set for sure.
  const username = isAscii(commonName) && !commonName.includes(':') ? commonName : String(id);
  const domain = encodeURIComponent(device.domain);
  const curl = 'curl -sSf --cacert ca.pem';
  const login = `--user ${quote(`${username}:${password}`)}`;
  const certificate = `--cert ${file}.pem --key ${file}.key`;
  const idevid = '--cert idevid.pem --key idevid.key';
  const request = `openssl req -in ${file}.csr -outform DER | openssl base64 -A`;
  // The new certificate takes the place of the old one only when it is whole.
  const keep = `> ${file}.new && mv ${file}.new ${file}.pem`;
  const est = (credential: string, operation: string): string =>
    `${request} | ${curl} ${credential} -H 'Content-Type: application/pkcs10' --data-binary @- ${baseUrl}/.well-known/est/${domain}/${operation} | ${toDer} ${keep}`;
  const rest = (credential: string, operation: string): string =>
    `printf '{"csr":"%s"}' "$(${request})" | ${curl} ${credential} -H 'Content-Type: application/json' --data-binary @- ${baseUrl}/rest/${domain}/${operation} | ${toPem} ${keep}`;
  // Messages of CMP are protected themselves: plain HTTP will do.
  const cmp = (operation: string): string =>
    `openssl cmp -cmd ${operation} -server ${new URL(publicUrl).host} -path .well-known/cmp/p/${domain}`;
  // `openssl cmp` reads the option as Latin-1; the request has the name as it is.
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

/** What each of the lines is for. */
export const lineTitles: Readonly<Record<string, string>> = {
  key: 'A key, and a request for a certificate',
  ca: 'The CA certificates, unchecked: compare them with those of `postern ca export`',
  est_idevid: 'A certificate over EST, with the one of its manufacturer (idevid.pem, idevid.key)',
  est: 'A certificate over EST',
  est_renew: 'A new one for it, over EST',
  rest: 'A certificate over REST',
  rest_renew: 'A new one for it, over REST',
  cmp_idevid: 'A certificate over CMP, with the one of its manufacturer (idevid.pem, idevid.key)',
  cmp: 'A certificate over CMP, and the root CA certificate, vouched for by the shared secret',
  cmp_renew: 'A new one for it, over CMP',
};
