import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DeviceSecrets, type Server, shell, startServer } from '#tests/fixtures/server.ts';

// Stock `openssl cmp`, as users run it, against a started gateway.
let server: Server;
let pump: DeviceSecrets & { readonly cmp_shared_secret: string };

beforeAll(async () => {
  server = await startServer();
  pump = server.device('pump-1') as typeof pump;
  const other = server.device('pump-2') as typeof pump;
  run(pump.commands.key!);
  run(pump.commands.ca!);
  run(pump.commands.cmp!);
  run('cp pump-1.pem own.pem');
  run(other.commands.key!);
  run(other.commands.cmp!);
  const profile = '-path .well-known/cmp/p/~tls_client';
  expect(client('cr', `${profile} ${byMac} ${asked} -certout application.pem`).status).toBe(0);
  run('openssl ecparam -name prime256v1 -genkey -noout -out new.key');
}, 60_000);
afterAll(() => server[Symbol.asyncDispose]());

/** Runs a line in the server's directory; its output. Fails the test when the line does. */
function run(line: string): string {
  const { status, stdout, stderr } = shell(server.directory, line);
  expect({ line, status, stderr }).toEqual({ line, status: 0, stderr });
  return stdout;
}

const cmp = (operation: string): string =>
  `openssl cmp -config '' -cmd ${operation} -server 127.0.0.1:${server.httpPort}`;
const path = '-path .well-known/cmp';
const byMac = '-ref pump-1 -secret "pass:$SECRET"';
const byCertificate = '-cert own.pem -key pump-1.key -trusted root.pem';
const asked = '-newkey pump-1.key -subject /CN=pump-1';
const certOut = '-certout out.pem';

/** What OpenSSL says to standard error, and its exit status. */
function client(operation: string, args: string): { status: number; said: string } {
  const line = `rm -f out.pem; export SECRET='${pump.cmp_shared_secret}' ID=${pump.id}; ${cmp(operation)} ${args}`;
  const { status, stdout, stderr } = shell(server.directory, line);
  return { status, said: stdout + stderr };
}

const verified = () => run('openssl verify -x509_strict -CAfile root.pem -untrusted ca.pem out.pem');

test('the commands that `device add` prints get a certificate and renew it', () => {
  const before = run('openssl x509 -in pump-1.pem -noout -serial');
  run(pump.commands.cmp_renew!);
  expect(run('openssl x509 -in pump-1.pem -noout -serial')).not.toBe(before);
  expect(run('openssl verify -x509_strict -CAfile root.pem -untrusted ca.pem pump-1.pem')).toContain('OK');
});

describe('accepted messages', () => {
  const rows: [what: string, operation: string, args: string, says: string][] = [
    ['ir by a shared secret', 'ir', `${path} ${byMac} ${asked}`, 'received PKICONF'],
    ['ir, implicitly confirmed', 'ir', `${path} ${byMac} ${asked} -implicit_confirm`, 'received IP'],
    ['ir, never confirmed', 'ir', `${path} ${byMac} ${asked} -disable_confirm`, 'received IP'],
    ['cr by a shared secret', 'cr', `${path} ${byMac} ${asked}`, 'received PKICONF'],
    ['p10cr by a shared secret', 'p10cr', `${path} ${byMac} -csr pump-1.csr`, 'received PKICONF'],
    [
      'p10cr by a certificate',
      'p10cr',
      `-path .well-known/cmp/p/~tls_client ${byCertificate} -csr pump-1.csr`,
      'received PKICONF',
    ],
    [
      'cr by a certificate',
      'cr',
      `-path .well-known/cmp/p/~tls_client ${byCertificate} ${asked}`,
      'received PKICONF',
    ],
    ['kur with a new key', 'kur', `${path} ${byCertificate} -newkey new.key`, 'received PKICONF'],
    [
      'kur with the same key, implicitly confirmed',
      'kur',
      `${path} ${byCertificate} -implicit_confirm`,
      'received KUP',
    ],
    [
      'kur of an application certificate',
      'kur',
      `${path} -cert application.pem -key pump-1.key -trusted root.pem`,
      'received PKICONF',
    ],
    [
      'HMAC with SHA-256, hashes with SHA-384',
      'ir',
      `${path} ${byMac} ${asked} -mac hmacWithSHA256 -digest sha384`,
      'received PKICONF',
    ],
    [
      'the number of the device for a reference',
      'ir',
      `${path} -ref "$ID" -secret "pass:$SECRET" ${asked}`,
      'received PKICONF',
    ],
    [
      'a name of its own asked for',
      'ir',
      `${path} ${byMac} ${asked} -sans pump-1.plant.example`,
      'received PKICONF',
    ],
    [
      'a validity of its own asked for, which the profile decides',
      'ir',
      `${path} ${byMac} ${asked} -days 7`,
      'received PKICONF',
    ],
  ];
  test.each(rows)('%s', (_what, operation, args, says) => {
    const { status, said } = client(operation, `${args} ${certOut}`);
    expect({ status, said }).toEqual({ status: 0, said });
    expect(said).toContain(says);
    expect(verified()).toContain('out.pem: OK');
  });

  const kinds: [name: string, genpkey: string][] = [
    ['RSA 2048', '-algorithm RSA -pkeyopt rsa_keygen_bits:2048'],
    ['RSA 4096', '-algorithm RSA -pkeyopt rsa_keygen_bits:4096'],
    ['P-256', '-algorithm EC -pkeyopt ec_paramgen_curve:P-256'],
    ['P-384', '-algorithm EC -pkeyopt ec_paramgen_curve:P-384'],
    ['P-521', '-algorithm EC -pkeyopt ec_paramgen_curve:P-521'],
  ];
  test.each(kinds)(
    '%s: ir, then kur and rr signed with it',
    (_name, genpkey) => {
      run(`openssl genpkey ${genpkey} -out kind.key`);
      const asking = `-newkey kind.key -subject /CN=pump-1`;
      expect(client('ir', `${path} ${byMac} ${asking} ${certOut}`).status).toBe(0);
      expect(verified()).toContain('OK');
      run('mv out.pem kind.pem');
      const own = '-cert kind.pem -key kind.key -trusted root.pem';
      const renewal = client('kur', `${path} ${own} -newkey kind.key ${certOut}`);
      expect(renewal).toEqual({ status: 0, said: renewal.said });
      const revocation = client('rr', `${path} ${own} -oldcert kind.pem -revreason 5`);
      expect(revocation).toEqual({ status: 0, said: revocation.said });
    },
    60_000,
  ); // an RSA key of 4096 bits may take its time

  test('Ed25519, which OpenSSL 3.0 cannot use for protection: ir, then rr signed by another certificate of the device', () => {
    run('openssl genpkey -algorithm ED25519 -out kind.key');
    expect(client('ir', `${path} ${byMac} -newkey kind.key -subject /CN=pump-1 ${certOut}`).status).toBe(0);
    expect(verified()).toContain('OK');
    run('mv out.pem kind.pem');
    expect(client('rr', `${path} ${byCertificate} -oldcert kind.pem`).status).toBe(0);
  });

  test('several certificates, over one connection and over several', () => {
    const { status, said } = client('ir', `${path} ${byMac} ${asked} ${certOut} -repeat 3`);
    expect(status).toBe(0);
    expect(said.match(/received PKICONF/g)).toHaveLength(3);
  });

  test('over HTTPS', () => {
    const https = `-server localhost:${server.httpsPort} -tls_used -tls_trusted root.pem`;
    const { status, said } = client('ir', `${https} ${path} ${byMac} ${asked} ${certOut}`);
    expect({ status, said }).toEqual({ status: 0, said });
  });

  test('with the chain and the root', () => {
    const out = '-chainout chain.pem -cacertsout anchors.pem';
    expect(client('ir', `${path} ${byMac} ${asked} ${certOut} ${out}`).status).toBe(0);
    expect(run('openssl verify -x509_strict -CAfile anchors.pem -untrusted chain.pem out.pem')).toContain(
      'OK',
    );
  });

  const paths = [
    '',
    '/',
    '/ir',
    '/initialization/',
    '/p/~domain_credential',
    '/p/~domain_credential/ir',
    '/p/default',
    '/p/default/ir/',
    '/p/default/domain_credential',
    '/p/default/domain_credential/IR',
    '/p/default~domain_credential',
    '/p/default~domain_credential/ir',
    '/p/.',
    '/p/_/ir',
  ];
  test.each(paths)('path %p, with confirmation', (form) => {
    const { status, said } = client('ir', `-path ".well-known/cmp${form}" ${byMac} ${asked} ${certOut}`);
    expect({ status, said }).toEqual({ status: 0, said });
    expect(said).toContain('received PKICONF');
  });
});

describe('rejected messages, with their text and bit of PKIFailureInfo', () => {
  const rows: [what: string, operation: string, args: string, says: RegExp][] = [
    [
      'a wrong secret',
      'ir',
      `${path} -ref pump-2 -secret pass:wrong ${asked} -trusted root.pem`,
      /badMessageCheck.*wrong reference or shared secret/,
    ],
    [
      'a wrong reference',
      'ir',
      `${path} -ref nobody -secret "pass:$SECRET" ${asked} -trusted root.pem`,
      /badMessageCheck.*wrong reference or shared secret/,
    ],
    [
      'an unprotected request',
      'ir',
      `${path} ${asked} -unprotected_requests -trusted root.pem`,
      /badMessageCheck/,
    ],
    [
      'an unknown profile',
      'ir',
      `-path .well-known/cmp/p/~nothing ${byMac} ${asked}`,
      /badRequest.*no such certificate profile/s,
    ],
    [
      'a profile that the domain does not offer',
      'ir',
      `-path .well-known/cmp/p/~code_signing ${byMac} ${asked}`,
      /notAuthorized/,
    ],
    [
      'an unknown domain',
      'ir',
      `-path .well-known/cmp/p/mars ${byMac} ${asked} -trusted root.pem`,
      /badRequest.*no such domain/s,
    ],
    [
      'the name of another device',
      'ir',
      `${path} ${byMac} -newkey pump-1.key -subject /CN=pump-2`,
      /badCertTemplate/,
    ],
    ['no proof of possession', 'ir', `${path} ${byMac} ${asked} -popo -1`, /badPOP/],
    ['possession that nobody of authority vouches for', 'ir', `${path} ${byMac} ${asked} -popo 0`, /badPOP/],
    [
      'another operation than the path says',
      'ir',
      `-path .well-known/cmp/kur ${byMac} ${asked}`,
      /badRequest/,
    ],
    [
      'kur by a shared secret',
      'kur',
      `${path} ${byMac} -oldcert own.pem -newkey new.key`,
      /received KUP[\s\S]*wrongIntegrity/,
    ],
    [
      'kur of the certificate of another device',
      'kur',
      `${path} ${byCertificate} -oldcert pump-2.pem -newkey new.key`,
      /notAuthorized/,
    ],
    [
      'kur of another profile',
      'kur',
      `-path .well-known/cmp/p/~tls_client ${byCertificate} -newkey new.key`,
      /notAuthorized/,
    ],
    [
      'cr by an application certificate',
      'cr',
      `${path} -cert application.pem -key pump-1.key -trusted root.pem ${asked}`,
      /notAuthorized/,
    ],
    [
      'rr of the certificate of another device, by a shared secret',
      'rr',
      `${path} ${byMac} -oldcert pump-2.pem -revreason 1`,
      /received RP[\s\S]*wrongIntegrity/,
    ],
    [
      'the same with that certificate in extraCerts',
      'rr',
      `${path} ${byMac} -oldcert pump-2.pem -extracerts pump-2.pem`,
      /received RP[\s\S]*wrongIntegrity/,
    ],
    [
      'rr of its own certificate, by a shared secret',
      'rr',
      `${path} ${byMac} -oldcert own.pem -revreason 1`,
      /received RP[\s\S]*wrongIntegrity/,
    ],
    [
      'rr of the certificate of another device, by a certificate',
      'rr',
      `${path} ${byCertificate} -oldcert pump-2.pem`,
      /notAuthorized/,
    ],
    [
      'rr by an application certificate of another one',
      'rr',
      `${path} -cert application.pem -key pump-1.key -trusted root.pem -oldcert own.pem`,
      /notAuthorized/,
    ],
  ];
  test.each(rows)('%s', (_what, operation, args, says) => {
    const { status, said } = client(operation, `${args}${operation === 'rr' ? '' : ` ${certOut}`}`);
    expect({ status, said }).toEqual({ status: 1, said });
    expect(said).toMatch(says);
  });

  test('a certificate of an unknown CA, and a self-signed one', () => {
    const request = 'openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes';
    run(`${request} -x509 -keyout s.key -out s.pem -subj /CN=Somebody -days 1`);
    run(`${request} -keyout t.key -out t.csr -subj /CN=pump-1`);
    run('openssl x509 -req -in t.csr -CA s.pem -CAkey s.key -out t.pem -days 1');
    const by = (name: string) =>
      client('cr', `${path} -cert ${name}.pem -key ${name}.key -trusted root.pem ${asked} ${certOut}`);
    expect(by('t').status).toBe(1);
    expect(by('t').said).toContain('signerNotTrusted');
    // OpenSSL sends no certificate along that signed itself.
    expect(by('s').status).toBe(1);
    expect(by('s').said).toContain('badMessageCheck');
  });

  test('RSA 1024', () => {
    run('openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -out weak.key');
    const { status, said } = client('ir', `${path} ${byMac} -newkey weak.key -subject /CN=pump-1 ${certOut}`);
    expect(status).toBe(1);
    expect(said).toMatch(/badAlg.*2048/);
  });

  test('an invalid path and an invalid method', () => {
    expect(client('ir', `-path .well-known/cmp/nothing ${byMac} ${asked}`).status).toBe(1);
    const http = `http://127.0.0.1:${server.httpPort}/.well-known/cmp`;
    const code = (args: string) => run(`curl -s -o answer -w '%{http_code}' ${args}`);
    expect(code(`${http}/nothing`)).toBe('404');
    expect(code(http)).toBe('405');
    expect(code(`-X POST -d x ${http}`)).toBe('415');
    const type = "-H 'Content-Type: application/pkixcmp'";
    expect(code(`${type} --data-binary x ${http}`)).toBe('400');
    writeFileSync(join(server.directory, 'long'), new Uint8Array(128 * 1024 + 1));
    expect(code(`${type} --data-binary @long ${http}`)).toBe('413');
  });
});

describe('revocation', () => {
  test.each([-1, 0, 1, 3, 4, 5, 9])('-revreason %p is in the CRL', (reason) => {
    expect(client('ir', `${path} ${byMac} ${asked} ${certOut}`).status).toBe(0);
    run('mv out.pem gone.pem');
    const { status, said } = client('rr', `${path} ${byCertificate} -oldcert gone.pem -revreason ${reason}`);
    expect({ status, said }).toEqual({ status: 0, said });
    expect(said).toContain('revocation accepted');
    const names: Record<number, string> = {
      1: 'Key Compromise',
      3: 'Affiliation Changed',
      4: 'Superseded',
      5: 'Cessation Of Operation',
      9: 'Privilege Withdrawn',
    };
    const serial = run('openssl x509 -in gone.pem -noout -serial').trim().slice('serial='.length);
    const crl = run(
      `curl -sf http://127.0.0.1:${server.httpPort}/crl/2.crl | openssl crl -inform DER -noout -text`,
    );
    const entry = crl.slice(crl.indexOf(serial)).split('Serial Number')[0]!;
    expect(crl).toContain(serial);
    if (names[reason] === undefined) expect(entry).not.toContain('Reason Code');
    else expect(entry).toContain(names[reason]);
    const again = client('rr', `${path} ${byCertificate} -oldcert gone.pem`);
    expect(again.status).toBe(1);
    expect(again.said).toContain('certRevoked');
  });

  test('hold and release, and neither of them twice', () => {
    expect(client('ir', `${path} ${byMac} ${asked} ${certOut}`).status).toBe(0);
    run('mv out.pem held.pem');
    const rr = (reason: number) =>
      client('rr', `${path} ${byCertificate} -oldcert held.pem -revreason ${reason}`);
    const kur = () =>
      client('kur', `${path} -cert held.pem -key pump-1.key -trusted root.pem ${certOut}`).status;
    expect([rr(8).status, rr(6).status, rr(6).status, kur()]).toEqual([1, 0, 1, 1]);
    expect([rr(8).status, rr(8).status, kur()]).toEqual([0, 1, 0]);
  });

  test('a revoked certificate is rejected everywhere', () => {
    expect(client('ir', `${path} ${byMac} ${asked} ${certOut}`).status).toBe(0);
    run('mv out.pem gone.pem');
    const own = '-cert gone.pem -key pump-1.key -trusted root.pem';
    expect(client('rr', `${path} ${own} -oldcert gone.pem -revreason 1`).status).toBe(0);
    const { status, said } = client('kur', `${path} ${own} ${certOut}`);
    expect(status).toBe(1);
    expect(said).toContain('signerNotTrusted');
  });
});

describe('general messages', () => {
  test.each(['caCerts', 'signKeyPairTypes', 'certReqTemplate'])('-infotype %s', (type) => {
    const { status, said } = client('genm', `${path} ${byMac} -infotype ${type}`);
    expect({ status, said }).toEqual({ status: 0, said });
    expect(said).toMatch(new RegExp(`genp.*${type}`, 'is'));
  });

  test('without a type', () => {
    const { status, said } = client('genm', `${path} ${byCertificate}`);
    expect({ status, said }).toEqual({ status: 0, said });
    expect(said).toContain('id-it-');
  });
});

describe('replayed messages', () => {
  const post = (file: string): Buffer => {
    run(
      `curl -sf -H 'Content-Type: application/pkixcmp' --data-binary @${file} -o answer http://127.0.0.1:${server.httpPort}/.well-known/cmp`,
    );
    return readFileSync(join(server.directory, 'answer'));
  };

  test('a recorded request gets the recorded response, octet for octet, and no second certificate', () => {
    const record = `-reqout 'request.der confirm.der' -rspout 'response.der confirmed.der'`;
    expect(client('ir', `${path} ${byMac} ${asked} ${certOut} ${record}`).status).toBe(0);
    const recorded = (file: string) => readFileSync(join(server.directory, file));
    expect(post('request.der')).toEqual(recorded('response.der'));
    expect(post('confirm.der')).toEqual(recorded('confirmed.der'));
    const serials = () =>
      run(
        `curl -sf http://127.0.0.1:${server.httpPort}/crl/2.crl | openssl crl -inform DER -noout -crlnumber`,
      );
    const before = serials();
    post('request.der');
    expect(serials()).toBe(before);
  });

  test('OpenSSL replays a request, and rejects a replayed response', () => {
    const { status, said } = client('ir', `${path} ${byMac} ${asked} ${certOut} -reqin request.der`);
    expect(status).toBe(1);
    expect(said).toMatch(/nonce|transactionid/i);
  });

  test('with another transactionID it is another message, with an invalid MAC', () => {
    const message = readFileSync(join(server.directory, 'request.der'));
    const altered = Buffer.from(message);
    // The last octets are the MAC's.
    altered[altered.length - 1]! ^= 1;
    writeFileSync(join(server.directory, 'altered.der'), altered);
    const answer = post('altered.der');
    expect(answer.includes('wrong reference or shared secret')).toBeTrue();
  });
});

test('no secret is in the log', () => {
  expect(server.log()).not.toContain(pump.cmp_shared_secret);
});
