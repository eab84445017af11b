import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { adminPassword, type Server, shell, startServer } from '#tests/fixtures/server.ts';

// From factory to plant with stock clients: `openssl` is the manufacturer, curl and `openssl cmp` are the devices.
let server: Server;
let token: string;

/** Runs a line in the server's directory; its output. Fails the test when the line does. */
function run(line: string): string {
  const { status, stdout, stderr } = shell(server.directory, line);
  expect({ line, status, stderr }).toEqual({ line, status: 0, stderr });
  return stdout;
}

/** A call of the Management API; its JSON. */
function api(method: string, path: string, ...args: readonly string[]) {
  const curl = `curl -sS --fail-with-body --cacert ca.pem -X ${method} -H 'Authorization: Bearer ${token}'`;
  const text = run(`${curl} ${args.join(' ')} ${server.baseUrl}/api${path}`);
  return text === '' ? undefined : JSON.parse(text);
}
const json = (value: unknown): string => `-H 'Content-Type: application/json' -d '${JSON.stringify(value)}'`;

const makerConfig = `
[ca]
default_ca = maker
[maker]
database = index.txt
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = optional
serialNumber = optional
organizationName = optional
[ca_ext]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign
subjectKeyIdentifier = hash
[bare]
keyUsage = critical,digitalSignature
`;

const newKey = (file: string) => `openssl ecparam -name prime256v1 -genkey -noout -out ${file}.key`;

/** What the factory does: an IDevID without authorityKeyIdentifier and without end, as they are met. */
function manufacture(name: string, issuer: string, chain: readonly string[]): void {
  run(newKey(name));
  run(
    `openssl req -new -key ${name}.key -config maker.cnf -subj '/O=Acme/serialNumber=${name}/CN=Pump 3000' -out ${name}.csr`,
  );
  run(
    `openssl ca -batch -notext -config maker.cnf -extensions bare -cert ${issuer}.pem -keyfile ${issuer}.key -enddate 99991231235959Z -in ${name}.csr -out ${name}.leaf`,
  );
  run(`cat ${[`${name}.leaf`, ...chain.map((ca) => `${ca}.pem`)].join(' ')} > ${name}.idevid`);
}

function makerCa(name: string, issuer?: string): void {
  run(newKey(name));
  run(`openssl req -new -key ${name}.key -config maker.cnf -subj '/O=Acme/CN=Acme ${name}' -out ${name}.csr`);
  const signer = issuer ? `-cert ${issuer}.pem -keyfile ${issuer}.key` : `-selfsign -keyfile ${name}.key`;
  run(
    `openssl ca -batch -notext -config maker.cnf -extensions ca_ext ${signer} -days 7300 -in ${name}.csr -out ${name}.pem`,
  );
}

beforeAll(async () => {
  server = await startServer();
  writeFileSync(join(server.directory, 'maker.cnf'), `${makerConfig}[req]\ndistinguished_name = dn\n[dn]\n`);
  run('touch index.txt');
  run('printf "" > index.txt.attr');
  const est = `${server.baseUrl}/.well-known/est`;
  run(
    `curl -sSf --insecure ${est}/cacerts | openssl base64 -d | openssl pkcs7 -inform DER -print_certs -out ca.pem`,
  );
  writeFileSync(join(server.directory, 'root.pem'), server.cli('ca', 'export', '1'));
  const login = { username: 'admin', password: adminPassword };
  token = JSON.parse(run(`curl -sSf --cacert ca.pem ${json(login)} ${server.baseUrl}/api/token/`)).access;

  makerCa('root-ca');
  makerCa('issuing-ca', 'root-ca');
  const file = '-F unique_name=Acme -F intended_usage=0 -F trust_store_file=@root-ca.pem';
  const { id: truststore } = api('POST', '/truststores/', file);
  const registration = {
    unique_name: 'Acme pumps',
    truststore,
    domain: 1,
    serial_number_pattern: 'PMP-[0-9]{4}',
  };
  api('POST', '/devid-registrations/', json(registration));
}, 60_000);
afterAll(() => server[Symbol.asyncDispose]());

/** The answer to a request over EST with a certificate: its status, and the certificate in `out` when there is one. */
function est(operation: string, credential: string, csr: string, out: string, tls = ''): string {
  const post = `curl -sS ${tls} --cacert ca.pem ${credential} -H 'Content-Type: application/pkcs10' --data-binary @-`;
  const status = run(
    `openssl req -in ${csr} -outform DER | openssl base64 -A | ${post} -o answer -w '%{http_code}' ${server.baseUrl}/.well-known/est/${operation}`,
  );
  if (status === '200')
    run(`openssl base64 -d -in answer | openssl pkcs7 -inform DER -print_certs -out ${out}`);
  return status;
}

const csr = (key: string, subject: string): void => {
  run(`openssl req -new -key ${key}.key -config maker.cnf -subj '${subject}' -out ${key}.csr`);
};
const by = (certificate: string, key: string): string => `--cert ${certificate} --key ${key}.key`;
const subjectOf = (file: string): string =>
  run(`openssl x509 -in ${file} -noout -subject -nameopt RFC2253`).trim();
const verified = (file: string): string =>
  run(`openssl verify -x509_strict -CAfile root.pem -untrusted ca.pem ${file}`);
const serialOf = (file: string): string =>
  run(`openssl x509 -in ${file} -noout -serial`).trim().slice('serial='.length);

function revoke(file: string): void {
  const [{ id }] = api('GET', `/certificates/?serial_number=${serialOf(file)}`);
  api('POST', `/certificates/${id}/revoke/`, json({ reason: 'keyCompromise' }));
}

describe('over EST', () => {
  test('an IDevID gets its first certificate and renews it', () => {
    manufacture('PMP-0001', 'issuing-ca', ['issuing-ca']);
    const idevid = by('PMP-0001.idevid', 'PMP-0001');
    run(newKey('one'));
    csr('one', '/CN=PMP-0001');

    // First contact: a domain credential, and nothing else.
    expect(est('~tls_server/simpleenroll', idevid, 'one.csr', 'no.pem')).toBe('403');
    expect(est('simpleenroll', idevid, 'one.csr', 'one.pem')).toBe('200');
    expect(subjectOf('one.pem')).toBe('subject=CN=PMP-0001');
    expect(verified('one.pem')).toContain('OK');
    // The answer may have been lost: the same again for the same key, and no other.
    expect(est('simpleenroll', idevid, 'one.csr', 'again.pem')).toBe('200');
    expect(serialOf('again.pem')).toBe(serialOf('one.pem'));
    expect(est('simpleenroll', idevid, 'PMP-0001.csr', 'no.pem')).toBe('403');
    const [device] = api('GET', '/devices/?search=PMP-0001');
    expect(device).toMatchObject({ serial_number: 'PMP-0001', domain: 1 });
    expect(api('GET', `/onboarding-configs/${device.onboarding_config}/`)).toMatchObject({
      onboarding_status: 2,
      onboarding_protocol: 'est',
      idevid: { serial_number: serialOf('PMP-0001.idevid'), not_valid_after: '9999-12-31T23:59:59.000' },
    });

    // The domain credential enrols for the applications; both are renewed.
    run(newKey('server'));
    csr('server', '/CN=pump-1.plant.example');
    expect(est('~tls_server/simpleenroll', by('one.pem', 'one'), 'server.csr', 'server.pem')).toBe('200');
    expect(verified('server.pem')).toContain('OK');
    const first = serialOf('server.pem');
    expect(est('simplereenroll', by('server.pem', 'server'), 'server.csr', 'server.pem')).toBe('200');
    expect(serialOf('server.pem')).not.toBe(first);
    expect(est('simplereenroll', by('one.pem', 'one'), 'one.csr', 'one.pem')).toBe('200');
    expect(verified('one.pem')).toContain('OK');

    // Revoked, it is good for nothing.
    revoke('one.pem');
    expect(est('simplereenroll', by('one.pem', 'one'), 'one.csr', 'no.pem')).toBe('401');
    expect(est('~tls_server/simpleenroll', by('one.pem', 'one'), 'server.csr', 'no.pem')).toBe('401');
    run(`curl -sSf http://127.0.0.1:${server.httpPort}/crl/2.crl | openssl crl -inform DER -out crl.pem`);
    const check = shell(
      server.directory,
      'openssl verify -crl_check -CAfile root.pem -untrusted ca.pem -CRLfile crl.pem one.pem',
    );
    expect(check.stdout + check.stderr).toContain('certificate revoked');

    // An administrator lets it begin again.
    expect(est('simpleenroll', idevid, 'PMP-0001.csr', 'no.pem')).toBe('403');
    api('POST', `/devices/${device.id}/reset-onboarding/`);
    expect(est('simpleenroll', idevid, 'one.csr', 'one.pem')).toBe('200');
    expect(verified('one.pem')).toContain('OK');
  }, 60_000);

  test('works with a long chain, over TLS 1.2 and 1.3', () => {
    const cas = ['root-ca', ...Array.from({ length: 8 }, (_, n) => `ca-${n}`)];
    for (let n = 1; n < cas.length; n++) makerCa(cas[n]!, cas[n - 1]);
    run(newKey('many'));
    csr('many', '/CN=PMP-1000');
    for (const [name, tls] of [
      ['PMP-1002', '--tls-max 1.2'],
      ['PMP-1003', '--tlsv1.3'],
    ] as const) {
      manufacture(name, cas.at(-1)!, cas.slice(1).reverse());
      expect(est('default/simpleenroll', by(`${name}.idevid`, name), 'many.csr', 'many.pem', tls)).toBe(
        '200',
      );
      expect(subjectOf('many.pem')).toBe(`subject=CN=${name}`);
    }
  }, 60_000);

  test('creates no device for an unregistered serial number or an untrusted chain', () => {
    manufacture('VLV-0001', 'issuing-ca', ['issuing-ca']);
    manufacture('PMP-0009', 'issuing-ca', []);
    csr('VLV-0001', '/CN=VLV-0001');
    expect(est('simpleenroll', by('VLV-0001.idevid', 'VLV-0001'), 'VLV-0001.csr', 'no.pem')).toBe('403');
    expect(est('simpleenroll', by('PMP-0009.idevid', 'PMP-0009'), 'VLV-0001.csr', 'no.pem')).toBe('401');
    expect(api('GET', '/devices/?search=VLV-0001')).toEqual([]);
    expect(api('GET', '/devices/?search=PMP-0009')).toEqual([]);
  });
});

describe('over REST', () => {
  test('an IDevID gets its first certificate, the same again for a lost response, and no second one', () => {
    manufacture('PMP-0003', 'issuing-ca', ['issuing-ca']);
    csr('PMP-0003', '/CN=PMP-0003');
    const line = (file: string) =>
      `printf '{"csr":"%s"}' "$(openssl req -in ${file}.csr -outform DER | openssl base64 -A)" | curl -sS --cacert ca.pem ${by('PMP-0003.idevid', 'PMP-0003')} -H 'Content-Type: application/json' --data-binary @- -o answer -w '%{http_code}' ${server.baseUrl}/rest/default/enroll`;
    expect(run(line('PMP-0003'))).toBe('200');
    const given = run('cat answer');
    expect([run(line('PMP-0003')), run('cat answer')]).toEqual(['200', given]);
    run(newKey('three'));
    csr('three', '/CN=PMP-0003');
    expect(run(line('three'))).toBe('403');
  });
});

describe('over CMP', () => {
  const cmp = (operation: string, path: string, credential: string, args: string) =>
    shell(
      server.directory,
      `openssl cmp -config '' -cmd ${operation} -server 127.0.0.1:${server.httpPort} -path .well-known/cmp${path} -trusted root.pem ${credential} ${args}`,
    );
  const succeeds = (...args: Parameters<typeof cmp>): void => {
    const { status, stdout, stderr } = cmp(...args);
    expect({ args, status, said: stdout + stderr }).toEqual({ args, status: 0, said: stdout + stderr });
  };
  const fails = (words: string, ...args: Parameters<typeof cmp>): void => {
    const { status, stdout, stderr } = cmp(...args);
    expect(status).not.toBe(0);
    expect(stdout + stderr).toContain(words);
  };

  test('an IDevID gets its first certificate and renews it', () => {
    manufacture('PMP-0002', 'issuing-ca', ['issuing-ca']);
    const idevid = '-cert PMP-0002.idevid -key PMP-0002.key -extracerts PMP-0002.idevid';
    run(newKey('two'));
    const asked = '-newkey two.key -subject /CN=PMP-0002';

    fails('notAuthorized', 'ir', '/p/~tls_server', idevid, `${asked} -certout no.pem`);
    succeeds('ir', '', idevid, `${asked} -certout two.pem`);
    expect(subjectOf('two.pem')).toBe('subject=CN=PMP-0002');
    expect(verified('two.pem')).toContain('OK');
    fails('onboarded already', 'ir', '', idevid, `${asked} -certout no.pem`);
    const [device] = api('GET', '/devices/?search=PMP-0002');
    expect(api('GET', `/onboarding-configs/${device.onboarding_config}/`)).toMatchObject({
      onboarding_status: 2,
      onboarding_protocol: 'cmp',
    });

    const own = '-cert two.pem -key two.key';
    run(newKey('server-two'));
    const server = '-newkey server-two.key -subject /CN=pump-2.plant.example -certout server-two.pem';
    succeeds('cr', '/p/~tls_server', own, server);
    expect(verified('server-two.pem')).toContain('OK');
    const first = serialOf('server-two.pem');
    const ownServer = '-cert server-two.pem -key server-two.key';
    succeeds('kur', '', ownServer, '-newkey server-two.key -certout server-two.pem');
    expect(serialOf('server-two.pem')).not.toBe(first);
    run(newKey('two-renewed'));
    succeeds('kur', '', own, '-newkey two-renewed.key -certout two-renewed.pem');
    expect(verified('two-renewed.pem')).toContain('OK');

    const renewed = '-cert two-renewed.pem -key two-renewed.key';
    succeeds('rr', '', renewed, '-oldcert two-renewed.pem -revreason 1');
    fails('signerNotTrusted', 'kur', '', renewed, '-newkey two-renewed.key -certout no.pem');
  }, 60_000);
});
