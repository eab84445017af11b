import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Subprocess } from 'bun';
import { isHere } from '#tests/fixtures/is-here.ts';
import { freePorts } from '#tests/fixtures/ports.ts';
import { type DeviceSecrets, type Server, shell, startServer } from '#tests/fixtures/server.ts';

const page = readFileSync(resolve(import.meta.dir, '../../docs/how-to/load-balancer.md'), 'utf8');

/** The block of the page in a language. */
const block = (language: string): string =>
  new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(page)![1]!;

const find = (tool: string) => Bun.which(tool, { PATH: `${process.env.PATH}:/usr/sbin` });
const modules = ['ngx_stream_module.so', 'ngx_http_js_module.so'].map(
  (name) => `/usr/lib/nginx/modules/${name}`,
);
const missing = [
  ...['haproxy', 'nginx'].filter((tool) => find(tool) === null),
  ...modules.filter((path) => !existsSync(path)),
];
const hasBalancers = isHere(missing.length === 0, `${missing.join(' and ')} not installed`);

describe.skipIf(!hasBalancers)(
  'behind a load balancer that is configured as in docs/how-to/load-balancer.md',
  () => {
    const directory = mkdtempSync(join(tmpdir(), 'postern-balancer-'));
    const running: Subprocess[] = [];
    let passed: Server;
    let ended: Server;
    const secrets = {} as { passed: DeviceSecrets; ended: DeviceSecrets };
    const ports = {} as Record<'haproxy' | 'nginx', { readonly passed: number; readonly ended: number }>;

    /** The page's text for this machine: other addresses and files, nothing else. */
    function here(
      text: string,
      own: { readonly passed: number; readonly ended: number },
      root: string,
    ): string {
      // What passes TLS through comes first, in both.
      const [through, end] = text.split(/^# Or .*$/m) as [string, string];
      const place = (part: string, gateway: number) =>
        part
          .replace(/10\.0\.0\.1[123]:8443/g, `127.0.0.1:${gateway}`)
          .replace(
            /(bind :|listen )8443/,
            (_, word: string) => `${word.replace(':', '127.0.0.1:')}${own.passed}`,
          )
          .replace(
            /(bind :|listen )9443/,
            (_, word: string) => `${word.replace(':', '127.0.0.1:')}${own.ended}`,
          )
          .replaceAll('pki.plant.example', 'localhost')
          .replace(/\/etc\/(haproxy|nginx)\/postern-root\.pem/g, root)
          .replace(/\/etc\/(haproxy|nginx)\/(pki\.pem|client-cert\.js)/g, join(directory, '$2'));
      return place(through, passed.httpsPort) + place(end, ended.httpsPort);
    }

    beforeAll(async () => {
      [passed, ended] = await Promise.all([
        startServer(),
        startServer({ config: '[server]\ntrusted_proxies = ["127.0.0.1"]\n' }),
      ]);
      secrets.passed = passed.device('pump-1');
      secrets.ended = ended.device('pump-1');
      // Two installations have two roots; a balancer of the page knows one.
      const root = join(directory, 'root.pem');
      writeFileSync(root, passed.cli('ca', 'export', '1') + ended.cli('ca', 'export', '1'));
      const made = shell(
        directory,
        `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout pki.key -out pki.crt -subj /CN=localhost -addext subjectAltName=DNS:localhost && cat pki.crt pki.key > pki.pem &&
       openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout d.key -out d.csr -subj /CN=pump-1`,
      );
      expect(made.status).toBe(0);
      writeFileSync(join(directory, 'client-cert.js'), block('js'));
      const [a, b, c, d] = (await freePorts(4)) as [number, number, number, number];
      ports.haproxy = { passed: a, ended: b };
      ports.nginx = { passed: c, ended: d };
      writeFileSync(join(directory, 'haproxy.cfg'), here(block('haproxy'), ports.haproxy, root));
      mkdirSync(join(directory, 'nginx'));
      chmodSync(directory, 0o755);
      const files = join(directory, 'nginx');
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((kind) => `  ${kind}_temp_path ${join(files, kind)};`)
        .join('\n');
      // What Debian's own nginx.conf says around the page's.
      const around = `daemon off;\nmaster_process off;\npid ${join(files, 'pid')};\nerror_log ${join(files, 'log')};
${modules.map((path) => `load_module ${path};\n`).join('')}`;
      writeFileSync(
        join(directory, 'nginx.conf'),
        around +
          here(block('nginx'), ports.nginx, root).replace(
            'http {',
            `http {\n  access_log off;\n${temporary}`,
          ),
      );
      for (const command of [
        [find('haproxy')!, '-db', '-f', join(directory, 'haproxy.cfg')],
        [find('nginx')!, '-c', join(directory, 'nginx.conf'), '-e', join(files, 'log')],
      ]) {
        running.push(
          Bun.spawn(command, { stdout: 'ignore', stderr: Bun.file(`${files}/${running.length}`) }),
        );
      }
      for (const port of [a, b, c, d]) {
        const deadline = Date.now() + 10_000;
        while (curl(port, 'api/health/').status !== 0) {
          if (Date.now() > deadline) {
            throw new Error(shell(files, 'cat 0 1 log').stdout);
          }
          await Bun.sleep(50);
        }
      }
    }, 60_000);
    afterAll(async () => {
      for (const balancer of running) balancer.kill();
      await Promise.all(running.map(({ exited }) => exited));
      await passed?.[Symbol.asyncDispose]();
      await ended?.[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true });
    });

    const curl = (port: number, path: string, options = '') =>
      shell(directory, `curl -skf ${options} https://localhost:${port}/${path}`);
    /** EST with the request `d.csr`; the certificate goes to `to`. */
    const est = (port: number, operation: string, options: string, to: string) =>
      shell(
        directory,
        `openssl req -in d.csr -outform DER | openssl base64 -A | curl -skf -H 'Content-Type: application/pkcs10' --data-binary @- ${options} https://localhost:${port}/.well-known/est/${operation} | openssl base64 -d | openssl pkcs7 -inform DER -print_certs -out ${to}`,
      );

    test.each([
      ['HAProxy', 'passes TLS through', 'haproxy', 'passed'],
      ['HAProxy', 'ends TLS', 'haproxy', 'ended'],
      ['nginx', 'passes TLS through', 'nginx', 'passed'],
      ['nginx', 'ends TLS', 'nginx', 'ended'],
    ] as const)(
      '%s %s: a device enrols with its password and renews with its certificate, which no other client can claim',
      (...row) => {
        const [, , balancer, way] = row;
        const port = ports[balancer][way];
        const to = `${balancer}-${way}.pem`;
        const enrolled = est(port, 'simpleenroll', `-u pump-1:${secrets[way].password}`, to);
        expect(enrolled).toMatchObject({ status: 0, stderr: '' });
        const renewed = est(port, 'simplereenroll', `--cert ${to} --key d.key`, `renewed-${to}`);
        expect(renewed).toMatchObject({ status: 0, stderr: '' });
        const der = shell(directory, `openssl x509 -in ${to} -outform DER | openssl base64 -A`).stdout;
        const forged = `-H 'Client-Cert: :${der}:' -H 'X-Forwarded-For: 192.0.2.1' -o /dev/null -w '%{http_code}'`;
        expect(est(port, 'simplereenroll', forged, 'none.pem').status).not.toBe(0);
        expect(curl(port, '.well-known/est/simplereenroll', `-X POST ${forged}`).stdout).toMatch(/^40[01]$/);
      },
    );
  },
);
