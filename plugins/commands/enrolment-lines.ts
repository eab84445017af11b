/** A device as its enrolment lines need it. */
export interface Enrolling {
  readonly commonName: string;
  readonly domain: string;
  readonly password: string | null;
  readonly sharedSecret: string | null;
  /** How the service is reached. */
  readonly baseUrl: string;
  readonly publicUrl: string;
  /** Names of the inbound plugins that are open. */
  readonly protocols: ReadonlySet<string>;
}

/** One word for a POSIX shell. */
const quote = (text: string): string =>
  /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

const toDer = 'openssl base64 -d | openssl pkcs7 -inform DER -print_certs';
const toPem = `awk -F '"certificate":"' '{ split($2, part, "\\""); gsub(/\\\\n/, "\\n", part[1]); printf "%s", part[1] }'`;

/**
 * Lines for a shell, to be pasted one after the other: the key and the request, the CA certificates, then enrolment and
 * renewal over each protocol that is open. Each leaves `<name>.pem`. OpenSSL and curl are all they need.
 */
export function enrolmentLines(device: Enrolling): Readonly<Record<string, string>> {
  const { commonName, password, sharedSecret, baseUrl, publicUrl, protocols } = device;
  const file = commonName.replace(/[^\w.-]/g, '_').replace(/^[.-]/, '_');
  // OpenSSL takes / and + for the start of the next part of the name, unless escaped.
  const subject = quote(`/CN=${commonName.replace(/[\\/+=]/g, '\\$&')}`);
  const domain = encodeURIComponent(device.domain);
  const curl = 'curl -sSf --cacert ca.pem';
  const login = `--user ${quote(`${commonName}:${password}`)}`;
  const certificate = `--cert ${file}.pem --key ${file}.key`;
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
  return {
    key: `openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ${file}.key -out ${file}.csr -subj ${subject}`,
    ...(protocols.has('est') && {
      ca: `curl -sSf --insecure ${baseUrl}/.well-known/est/${domain}/cacerts | ${toDer} -out ca.pem`,
      est: est(login, 'simpleenroll'),
      est_renew: est(certificate, 'simplereenroll'),
    }),
    ...(protocols.has('rest') && {
      rest: rest(login, 'enroll'),
      rest_renew: rest(certificate, 'reenroll'),
    }),
    ...(protocols.has('cmp') && {
      cmp: `${cmp('ir')} -ref ${quote(commonName)} -secret pass:${sharedSecret} -newkey ${file}.key -subject ${subject} -cacertsout root.pem -certout ${file}.pem`,
      cmp_renew: `${cmp('kur')} -cert ${file}.pem -key ${file}.key -newkey ${file}.key -trusted root.pem -certout ${file}.new && mv ${file}.new ${file}.pem`,
    }),
  };
}

/** What each of the lines is for. */
export const lineTitles: Readonly<Record<string, string>> = {
  key: 'A key, and a request for a certificate',
  ca: 'The CA certificates, unchecked: compare them with those of `postern ca export`',
  est: 'A certificate over EST',
  est_renew: 'A new one for it, over EST',
  rest: 'A certificate over REST',
  rest_renew: 'A new one for it, over REST',
  cmp: 'A certificate over CMP, and the root CA certificate, vouched for by the shared secret',
  cmp_renew: 'A new one for it, over CMP',
};
