import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inOrder } from '#tests/fixtures/in-order.ts';
import { type DeviceSecrets, type Server, shell, startServer } from '#tests/fixtures/server.ts';

let server: Server;
let device: DeviceSecrets;

beforeAll(async () => {
  server = await startServer();
  device = server.device('pump-1');
  run(device.commands.ca!);
}, 60_000);
afterAll(() => server[Symbol.asyncDispose]());

/** Runs a line in the server's directory; its output. Fails the test when the line does. */
function run(line: string): string {
  const { status, stdout, stderr } = shell(server.directory, line);
  expect({ line, status, stderr }).toEqual({ line, status: 0, stderr });
  return stdout;
}

test('the ready line is the last line and names the service', () => {
  expect(server.output.at(-1)).toBe(`postern ready ${server.baseUrl}`);
});

inOrder('the commands that `device add` prints, one after the other', { timeout: 60_000 }, (step) => {
  const verify = 'openssl verify -x509_strict -CAfile ca.pem pump-1.pem';

  step('make a key and fetch the CA certificates', async () => {
    run(device.commands.key!);
    run(device.commands.ca!);
    expect(readFileSync(join(server.directory, 'ca.pem'), 'utf8').match(/BEGIN CERTIFICATE/g)).toHaveLength(
      2,
    );
  });

  step('enrol over EST, and OpenSSL verifies the certificate strictly', async () => {
    run(device.commands.est!);
    expect(run(verify)).toContain('pump-1.pem: OK');
    expect(run('openssl x509 -in pump-1.pem -noout -subject -ext keyUsage,extendedKeyUsage')).toContain(
      'CN = pump-1',
    );
  });

  step('renew over EST with that certificate', async () => {
    const before = run('openssl x509 -in pump-1.pem -noout -serial');
    run(device.commands.est_renew!);
    expect(run(verify)).toContain('pump-1.pem: OK');
    expect(run('openssl x509 -in pump-1.pem -noout -serial')).not.toBe(before);
  });

  step('enrol over REST', async () => {
    run('rm pump-1.pem');
    run(device.commands.rest!);
    expect(run(verify)).toContain('pump-1.pem: OK');
  });

  step('renew over REST with that certificate', async () => {
    const before = run('openssl x509 -in pump-1.pem -noout -serial');
    run(device.commands.rest_renew!);
    expect(run(verify)).toContain('pump-1.pem: OK');
    expect(run('openssl x509 -in pump-1.pem -noout -serial')).not.toBe(before);
  });
});

describe('key types', () => {
  const kinds: [name: string, genpkey: string][] = [
    ['RSA 2048', '-algorithm RSA -pkeyopt rsa_keygen_bits:2048'],
    ['RSA 4096', '-algorithm RSA -pkeyopt rsa_keygen_bits:4096'],
    ['P-256', '-algorithm EC -pkeyopt ec_paramgen_curve:P-256'],
    ['P-384', '-algorithm EC -pkeyopt ec_paramgen_curve:P-384'],
    ['P-521', '-algorithm EC -pkeyopt ec_paramgen_curve:P-521'],
    ['Ed25519', '-algorithm ED25519'],
  ];
  test.each(kinds)('%s gets a certificate over EST', (_name, genpkey) => {
    run(
      `openssl genpkey ${genpkey} -out pump-1.key && openssl req -new -key pump-1.key -subj /CN=pump-1 -out pump-1.csr`,
    );
    run(device.commands.est!);
    expect(run('openssl verify -x509_strict -CAfile ca.pem pump-1.pem')).toContain('OK');
    run(
      'openssl x509 -in pump-1.pem -noout -pubkey > a.pem; openssl pkey -in pump-1.key -pubout > b.pem; cmp a.pem b.pem',
    );
  });

  const weak: [name: string, genpkey: string, words: string][] = [
    ['RSA 1024', '-algorithm RSA -pkeyopt rsa_keygen_bits:1024', '2048'],
    ['secp256k1', '-algorithm EC -pkeyopt ec_paramgen_curve:secp256k1', 'curve'],
    ['Ed448', '-algorithm ED448', 'key'],
  ];
  test.each(weak)('%s is rejected with a clear message', (_name, genpkey, words) => {
    run(
      `openssl genpkey ${genpkey} -out weak.key && openssl req -new -key weak.key -subj /CN=pump-1 -outform DER -out weak.csr`,
    );
    const curl = `curl -s --cacert ca.pem -u pump-1:${device.password} -H 'Content-Type: application/pkcs10'`;
    const answer = run(
      `${curl} -w '%{http_code}' --data-binary @weak.csr ${server.baseUrl}/.well-known/est/simpleenroll`,
    );
    expect(answer).toEndWith('400');
    expect(answer).toContain(words);
  });
});

test('all four path forms of EST work, with and without a trailing slash', () => {
  run(
    'openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout f.key -outform DER -out f.csr -subj /CN=pump-1',
  );
  const est = `${server.baseUrl}/.well-known/est`;
  for (const prefix of ['', '/~domain_credential', '/default', '/default/domain_credential']) {
    for (const slash of ['', '/']) {
      run(
        `curl -sf --cacert ca.pem ${est}${prefix}/cacerts${slash} | openssl base64 -d | openssl pkcs7 -inform DER -print_certs -noout`,
      );
      run(
        `curl -sf --cacert ca.pem -u pump-1:${device.password} -H 'Content-Type: application/pkcs10' --data-binary @f.csr ${est}${prefix}/simpleenroll${slash} | openssl base64 -d | openssl pkcs7 -inform DER -print_certs -out f.pem`,
      );
      run(
        `openssl base64 -in f.csr | curl -sf --cacert ca.pem --cert f.pem --key f.key -H 'Content-Type: application/pkcs10' --data-binary @- ${est}${prefix}/simplereenroll${slash} | openssl base64 -d | openssl pkcs7 -inform DER -print_certs -noout`,
      );
    }
  }
});

test('an untrusted or self-signed client certificate gives 401, never 500', () => {
  run(
    'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout s.key -out s.pem -subj /CN=pump-1 -days 1',
  );
  run('openssl req -new -key s.key -subj /CN=pump-1 -outform DER -out s.csr');
  for (const tls of ['--tls-max 1.2', '--tlsv1.3']) {
    const status = run(
      `curl -s -o answer -w '%{http_code} %{content_type}' ${tls} --cacert ca.pem --cert s.pem --key s.key -H 'Content-Type: application/pkcs10' --data-binary @s.csr ${server.baseUrl}/.well-known/est/simplereenroll`,
    );
    expect(status).toStartWith('401 text/plain');
  }
});

test('a Client-Cert header from an untrusted peer is ignored', () => {
  run(`${device.commands.key!} && ${device.commands.est!}`);
  const header = `Client-Cert: :$(openssl x509 -in pump-1.pem -outform DER | openssl base64 -A):`;
  const status = run(
    `openssl req -in pump-1.csr -outform DER | curl -s -o answer -w '%{http_code}' --cacert ca.pem -H "${header}" -H 'Content-Type: application/pkcs10' --data-binary @- ${server.baseUrl}/.well-known/est/simplereenroll`,
  );
  expect(status).toBe('401');
});

test('plain HTTP serves CRLs and CA certificates but no enrolment', () => {
  const http = `http://127.0.0.1:${server.httpPort}`;
  run(`curl -sf ${http}/crl/2.crl | openssl crl -inform DER -CAfile ca.pem -noout`);
  run(`curl -sf ${http}/aia/2.cer | openssl x509 -inform DER -noout -subject`);
  for (const path of ['/.well-known/est/cacerts', '/rest/default/enroll', '/api/health/']) {
    expect(run(`curl -s -o answer -w '%{http_code}' ${http}${path}`)).toBe('404');
  }
});

test('no secret is in the log', () => {
  expect(server.log()).toContain('"event":"serving"');
  expect(server.log()).not.toContain(device.password);
});

test('SIGTERM ends the service with status 0', async () => {
  expect(await server.stop()).toBe(0);
  await server.start();
}, 60_000);
