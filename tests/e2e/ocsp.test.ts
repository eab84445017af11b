import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join, resolve } from 'node:path';
import { adminPassword, type Server, shell, startServer } from '#tests/fixtures/server.ts';
import { hasSoftHsm, pin, type SoftHsm, startSoftHsm } from '#tests/fixtures/tokens.ts';

const module = resolve(import.meta.dir, '../../plugins/kit/examples/ocsp/plugin.ts');

describe('the OCSP example, loaded as a module, with OpenSSL and curl as clients', () => {
  let server: Server;
  let token: string;
  beforeAll(async () => {
    const inbound = ['est', 'rest', 'management', 'publication'].map((name) => `[inbound.${name}]\n`);
    server = await startServer({
      config: `${inbound.join('')}[inbound.status]\nmodule = "${module}"\nmax_age_seconds = 60\n`,
    });
    run(
      `curl -sSfk https://localhost:${server.httpsPort}/aia/1.cer | openssl x509 -inform DER -out root.pem`,
    );
    run(`curl -sSfk https://localhost:${server.httpsPort}/aia/2.cer | openssl x509 -inform DER -out ca.pem`);
    run('cat ca.pem root.pem > chain.pem');
    const body = JSON.stringify({ username: 'admin', password: adminPassword });
    token = JSON.parse(run(`curl -sSfk ${server.baseUrl}/api/token/ --json '${body}'`)).access;
    for (const name of ['pump-1', 'pump-2', 'pump-3']) await enrol(name);
  }, 60_000);
  afterAll(() => server[Symbol.asyncDispose]());

  function run(line: string): string {
    const { status, stdout, stderr } = shell(server.directory, line);
    if (status !== 0) throw new Error(`${line}: ${stdout}${stderr}`);
    return stdout;
  }

  async function enrol(name: string): Promise<void> {
    const { username, password } = await server.register(name);
    run(
      `openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ${name}.key -out ${name}.csr -subj /CN=${name}`,
    );
    run(
      `openssl req -in ${name}.csr -outform DER | openssl base64 -A | curl -sSfk -u '${username}:${password}' -H 'Content-Type: application/pkcs10' --data-binary @- ${server.baseUrl}/.well-known/est/simpleenroll | openssl base64 -d | openssl pkcs7 -inform DER -print_certs | openssl x509 -out ${name}.pem`,
    );
  }

  const url = () => `http://127.0.0.1:${server.httpPort}/ocsp`;
  const ask = (what: string, more = '') =>
    shell(
      server.directory,
      `openssl ocsp -url ${url()} -issuer ca.pem ${what} -CAfile root.pem -verify_other ca.pem ${more} 2>&1`,
    ).stdout;
  const api = (path: string, more = ''): string =>
    run(`curl -sSfk -H 'Authorization: Bearer ${token}' ${server.baseUrl}/api${path} ${more}`);
  const idOf = (name: string): number => JSON.parse(api(`/certificates/?search=${name}`))[0].id as number;

  test('is named in certificates', () => {
    expect(run('openssl x509 -in pump-1.pem -noout -ocsp_uri').trim()).toBe(
      `http://localhost:${server.httpPort}/ocsp`,
    );
  });

  test('answers good, with a signature that OpenSSL verifies, with and without a nonce', () => {
    for (const nonce of ['', '-no_nonce']) {
      const answer = ask('-cert pump-1.pem', nonce);
      expect(answer).toContain('Response verify OK');
      expect(answer).toContain('pump-1.pem: good');
      expect(answer).not.toContain('WARNING');
    }
    expect(ask('-sha256 -cert pump-1.pem')).toContain('pump-1.pem: good');
  });

  test('answers for several certificates in one message, by certificate and by serial number', () => {
    const serial = run('openssl x509 -in pump-2.pem -noout -serial').trim().replace('serial=', '0x');
    const answer = ask(`-cert pump-1.pem -serial ${serial} -serial 0x1234`);
    expect(answer).toContain('Response verify OK');
    expect(answer).toContain('pump-1.pem: good');
    expect(answer).toContain(`${serial}: good`);
    expect(answer).toContain('0x1234: unknown');
  });

  test('answers with the root for the issuing CA', () => {
    const answer = shell(
      server.directory,
      `openssl ocsp -url ${url()} -issuer root.pem -cert ca.pem -CAfile root.pem 2>&1`,
    ).stdout;
    expect(answer).toContain('Response verify OK');
    expect(answer).toContain('ca.pem: good');
  });

  test('has a responder certificate for OCSP only, with id-pkix-ocsp-nocheck', () => {
    run(
      `openssl ocsp -url ${url()} -issuer ca.pem -cert pump-1.pem -no_nonce -CAfile root.pem -verify_other ca.pem -respout answer.der`,
    );
    const text = run('openssl ocsp -respin answer.der -resp_text -noverify');
    expect(text).toContain('OCSP Signing');
    expect(text).toContain('OCSP No Check');
    expect(text).toContain('Responder Id');
  });

  test('answers a signed request like any other', () => {
    expect(ask('-cert pump-1.pem', '-signer pump-2.pem -signkey pump-2.key')).toContain('pump-1.pem: good');
  });

  test('answers GET on both listeners, with caching headers', () => {
    run('openssl ocsp -issuer ca.pem -cert pump-1.pem -no_nonce -reqout request.der');
    for (const base of [url(), `${server.baseUrl}/ocsp`]) {
      const get = `curl -sSfk -D headers "${base}/$(openssl base64 -A -in request.der | sed 's/+/%2B/g;s/=/%3D/g;s,/,%2F,g')"`;
      run(`${get} -o get.der`);
      const headers = run('cat headers').toLowerCase();
      expect(headers).toContain('content-type: application/ocsp-response');
      expect(headers).toContain('cache-control: max-age=60,public,no-transform,must-revalidate');
      for (const name of ['last-modified', 'expires', 'etag']) expect(headers).toContain(`${name}: `);
      expect(
        run(
          'openssl ocsp -respin get.der -issuer ca.pem -cert pump-1.pem -CAfile root.pem -verify_other ca.pem 2>&1',
        ),
      ).toContain('pump-1.pem: good');
      const etag = /etag: (\S+)/.exec(headers)![1]!;
      expect(run(`${get} -H 'If-None-Match: ${etag}' -o /dev/null -w '%{http_code}'`)).toBe('304');
    }
  });

  test('shows a revocation immediately, with its time and reason', () => {
    const id = idOf('pump-3');
    expect(ask('-cert pump-3.pem', '-no_nonce')).toContain('pump-3.pem: good');
    api(`/certificates/${id}/revoke/`, `--json '{"reason":"keyCompromise"}'`);
    const answer = ask('-cert pump-3.pem', '-no_nonce');
    expect(answer).toContain('pump-3.pem: revoked');
    expect(answer).toContain('Reason: keyCompromise');
    expect(answer).toContain('Revocation Time:');
  });

  test('rejects an invalid request, and answers unknown for another CA', () => {
    const garbage = `curl -sSf -H 'Content-Type: application/ocsp-request' --data-binary hello ${url()}`;
    run(`${garbage} -o garbage.der`);
    expect(shell(server.directory, 'openssl ocsp -respin garbage.der 2>&1').stdout).toContain(
      'malformedrequest (1)',
    );
    run(
      'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout other.key -out other.pem -subj /CN=other',
    );
    const answer = shell(
      server.directory,
      `openssl ocsp -url ${url()} -issuer other.pem -serial 1 2>&1`,
    ).stdout;
    expect(answer).toContain('unauthorized (6)');
  });

  test('has its configuration checked', () => {
    const file = join(server.directory, 'wrong.toml');
    run(`printf '[inbound.status]\\nmodule = "${module}"\\npath = "ocsp"\\nvalidity = 5\\n' > ${file}`);
    const { status, stderr } = shell(
      server.directory,
      `${resolve(import.meta.dir, '../../postern')} check --config ${file}`,
    );
    expect(status).toBe(78);
    expect(stderr).toContain('inbound.status.path: must be a path like /ocsp');
    expect(stderr).toContain('inbound.status.validity');
  });
});

describe.skipIf(!hasSoftHsm)('the OCSP example for a CA whose key is in SoftHSM', () => {
  let hsm: SoftHsm;
  let server: Server;
  beforeAll(async () => {
    hsm = startSoftHsm();
    const { SOFTHSM2_CONF: file } = hsm.environment;
    const { library } = hsm.module;
    server = await startServer({
      config: [
        '[keys.files]\nplugin = "keyfile"\n',
        `[keys.hsm]\nplugin = "pkcs11"\ntoken = "token"\npin = "${pin}"\nlibrary = "${library}"\n`,
        `environment = ["SOFTHSM2_CONF=${file}"]\n`,
        `[inbound.management]\n[inbound.publication]\n[inbound.ocsp]\nmodule = "${module}"\n`,
      ].join(''),
    });
  }, 60_000);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    hsm.remove();
  });

  function run(line: string): string {
    const { status, stdout, stderr } = shell(server.directory, line);
    if (status !== 0) throw new Error(`${line}: ${stdout}${stderr}`);
    return stdout;
  }

  test('signs with a delegated responder, or with the CA when that is inactive', () => {
    const body = JSON.stringify({ username: 'admin', password: adminPassword });
    const token = JSON.parse(run(`curl -sSfk ${server.baseUrl}/api/token/ --json '${body}'`)).access;
    const api = (method: string, path: string, body: unknown) =>
      JSON.parse(
        run(
          `curl -sSfk -X ${method} -H 'Authorization: Bearer ${token}' ${server.baseUrl}/api/${path} --json '${JSON.stringify(body)}'`,
        ),
      );
    const ca = { issuing_ca_type: 3, key_store: 'hsm', unique_name: 'hsm', common_name: 'HSM CA' };
    const { id } = api('POST', 'issuing-cas/', { ...ca, parent: 1 });
    for (const [file, number] of [
      ['root', 1],
      ['hsm', id],
    ]) {
      run(`curl -sSfk ${server.baseUrl}/aia/${number}.cer | openssl x509 -inform DER -out ${file}.pem`);
    }
    const ask = (issuer: string, what: string) =>
      shell(
        server.directory,
        `openssl ocsp -url http://127.0.0.1:${server.httpPort}/ocsp -issuer ${issuer}.pem ${what} -CAfile root.pem -verify_other hsm.pem -resp_text 2>&1`,
      ).stdout;
    expect(ask('root', '-cert hsm.pem')).toContain('hsm.pem: good');
    const delegated = ask('hsm', '-serial 0x1234');
    expect(delegated).toContain('Response verify OK');
    expect(delegated).toContain('0x1234: unknown');
    expect(delegated).toContain('OCSP Signing');
    const serial = /Serial Number:\s+((?:[0-9a-f]{2}:)+[0-9a-f]{2})/.exec(delegated)![1]!.replaceAll(':', '');
    expect(ask('hsm', `-serial 0x${serial}`)).toContain(`0x${serial}: good`);
    api('PATCH', `issuing-cas/${id}/`, { is_active: false });
    const own = ask('hsm', `-serial 0x${serial}`);
    expect(own).toContain('Response verify OK');
    expect(own).toContain(`0x${serial}: good`);
    expect(own).not.toContain('OCSP Signing');
  }, 60_000);
});
