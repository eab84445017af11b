import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inOrder } from '#tests/fixtures/in-order.ts';
import { hasPostgres, startPostgres } from '#tests/fixtures/postgres.ts';
import {
  adminPassword,
  type DeviceSecrets,
  type Server,
  shell,
  startServer,
} from '#tests/fixtures/server.ts';

const joPassword = 'the password of jo';

/** The response to a device. */
type Told = 'issued' | 'waiting' | 'refused';

/** Less than until the first poll, and more than any answer takes. */
const brief = 2;
const enough = 30;

/** A device with stock clients: it sends its request again and again, and knows nothing else. */
interface Client {
  readonly protocol: 'est' | 'rest' | 'cmp';
  /** `patience`: seconds for who polls by itself. */
  ask(server: Server, device: DeviceSecrets, patience: number): Told;
}

/** Runs a line where the certificates are kept; its output, errors and all. */
function run(server: Server, line: string): string {
  const { stdout, stderr } = shell(server.directory, line);
  return stdout + stderr;
}

function curl(server: Server, path: string, options: string): { status: number; text: string } {
  const out = run(server, `curl -sk -w '\\n%{http_code}' ${options} '${server.baseUrl}${path}'`);
  const end = out.lastIndexOf('\n');
  return { status: Number(out.slice(end)), text: out.slice(0, end) };
}

const tellings = new Map<number, Told>([
  [200, 'issued'],
  [202, 'waiting'],
  [403, 'refused'],
]);
const told = ({ status, text }: { status: number; text: string }): Told => {
  const what = tellings.get(status);
  if (!what) throw new Error(`${status} ${text}`);
  return what;
};

const makeRequest = (server: Server, name: string): void => {
  run(
    server,
    `test -f ${name}.key || openssl ecparam -name prime256v1 -genkey -noout -out ${name}.key
    openssl req -new -key ${name}.key -subj /CN=${name} -out ${name}.csr
    openssl req -in ${name}.csr -outform DER | base64 >${name}.b64`,
  );
};

const est: Client = {
  protocol: 'est',
  ask(server, { common_name: name, username, password }) {
    makeRequest(server, name);
    const how = `-u '${username}:${password}' -H 'Content-Type: application/pkcs10' --data-binary @${name}.b64`;
    const answer = curl(server, '/.well-known/est/~tls_client/simpleenroll', how);
    if (answer.status === 200) {
      writeFileSync(join(server.directory, `${name}.p7`), answer.text);
      run(server, `base64 -d ${name}.p7 | openssl pkcs7 -inform DER -print_certs -out ${name}.pem`);
    }
    return told(answer);
  },
};

const rest: Client = {
  protocol: 'rest',
  ask(server, { common_name: name, username, password }) {
    makeRequest(server, name);
    const csr = readFileSync(join(server.directory, `${name}.b64`), 'utf8');
    writeFileSync(join(server.directory, `${name}.json`), JSON.stringify({ csr }));
    const how = `-u '${username}:${password}' -H 'Content-Type: application/json' --data-binary @${name}.json`;
    const answer = curl(server, '/rest/default/tls_client/enroll', how);
    if (answer.status === 200) {
      writeFileSync(join(server.directory, `${name}.pem`), JSON.parse(answer.text).certificate);
    }
    return told(answer);
  },
};

const cmpLine = (
  server: Server,
  { common_name: name, id, commands }: DeviceSecrets,
  seconds: number,
): string => {
  const secret = /-secret '?pass:([\w-]+)/.exec(commands.cmp!)![1];
  return `openssl cmp -config '' -cmd ir -server 127.0.0.1:${server.httpPort} -path .well-known/cmp/p/~tls_client \
    -ref ${id} -secret pass:${secret} -newkey ${name}.key -subject /CN=${name} -certout ${name}.pem -total_timeout ${seconds}`;
};

const cmp: Client = {
  protocol: 'cmp',
  ask(server, device, patience) {
    makeRequest(server, device.common_name);
    const said = run(server, cmpLine(server, device, patience));
    if (said.includes('PKIStatus: rejection')) return 'refused';
    if (said.includes('received PKICONF')) return 'issued';
    if (said.includes('received POLLREP') || said.includes('total timeout')) return 'waiting';
    throw new Error(said);
  },
};

const clients = [est, rest, cmp];

/** An account on the Management API, by curl. */
class Account {
  readonly #server: Server;
  readonly #name: string;
  readonly #password: string;
  #token: string | undefined;

  constructor(server: Server, name: string, password: string) {
    this.#server = server;
    this.#name = name;
    this.#password = password;
  }

  call(method: string, path: string, body?: unknown): { status: number; text: string } {
    const json = (value: unknown) => `-H 'Content-Type: application/json' -d '${JSON.stringify(value)}'`;
    this.#token ??= JSON.parse(
      curl(this.#server, '/api/token/', json({ username: this.#name, password: this.#password })).text,
    ).access;
    const bearer = `-X ${method} -H 'Authorization: Bearer ${this.#token}'`;
    return curl(this.#server, path, body === undefined ? bearer : `${bearer} ${json(body)}`);
  }

  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of an answer by expecting it
  get(path: string): any {
    return JSON.parse(this.call('GET', path).text);
  }

  decide(id: number, verb: 'approve' | 'reject'): number {
    const { request_hash } = this.get(`/api/approvals/${id}/`);
    return this.call('POST', `/api/approvals/${id}/${verb}/`, { comment: 'as agreed', request_hash }).status;
  }
}

/** Two others who may decide, and a policy by which somebody has to. */
function prepare(server: Server, approvers = 1): void {
  const admin = new Account(server, 'admin', adminPassword);
  const [{ id: role }] = admin.get('/api/roles/?unique_name=Operator');
  const given = 'what the administrator chose';
  const change = { current_password: given, new_password: joPassword };
  for (const username of ['jo', 'mo']) {
    admin.call('POST', '/api/users/', { username, password: given, role });
    new Account(server, username, given).call('POST', '/api/me/password/', change);
  }
  const { status, text } = admin.call('POST', '/api/approval-policies/', {
    unique_name: 'all is approved',
    decision: 'manual',
    approvers,
  });
  if (status !== 201) throw new Error(text);
  run(
    server,
    `curl -sk ${server.baseUrl}/.well-known/est/cacerts | base64 -d | openssl pkcs7 -inform DER -print_certs -out ca.pem`,
  );
}

const isValid = (server: Server, name: string): boolean =>
  run(server, `openssl verify -x509_strict -CAfile ca.pem ${name}.pem`).includes(': OK');

describe('over EST, REST and CMP', () => {
  let server: Server;
  let jo: Account;
  const devices = new Map<Client, DeviceSecrets>();

  beforeAll(async () => {
    server = await startServer();
    prepare(server);
    jo = new Account(server, 'jo', joPassword);
    for (const client of clients) devices.set(client, await server.register(`pump-${client.protocol}`));
  }, 60_000);
  afterAll(() => server[Symbol.asyncDispose]());

  const all = (patience = brief) =>
    clients.map((client) => client.ask(server, devices.get(client)!, patience));
  const waiting = (): { id: number; protocol: string }[] =>
    jo.get('/api/approvals/?state=waiting&ordering=id');

  inOrder('requests are approved, rejected and polled for', { timeout: 180_000 }, (step) => {
    step('a request is pending across a restart, is approved, and gets its certificate', async () => {
      expect(all()).toEqual(['waiting', 'waiting', 'waiting']);
      await server.stop();
      await server.start();
      expect(all()).toEqual(['waiting', 'waiting', 'waiting']);
      const open = waiting();
      expect(open.map(({ protocol }) => protocol)).toEqual(['est', 'rest', 'cmp']);
      for (const { id } of open) expect(jo.decide(id, 'approve')).toBe(200);
      expect(all(enough)).toEqual(['issued', 'issued', 'issued']);
      for (const { common_name } of devices.values()) expect(isValid(server, common_name)).toBe(true);
      expect(jo.get('/api/approvals/?ordering=id').map(({ state }: { state: string }) => state)).toEqual([
        'issued',
        'issued',
        'issued',
      ]);
    });

    step('a rejected request stays rejected', async () => {
      for (const client of clients) devices.set(client, await server.register(`valve-${client.protocol}`));
      expect(all()).toEqual(['waiting', 'waiting', 'waiting']);
      for (const { id } of waiting()) expect(jo.decide(id, 'reject')).toBe(200);
      expect(all(enough)).toEqual(['refused', 'refused', 'refused']);
      expect(waiting()).toEqual([]);
    });

    step('OpenSSL polls until a request is approved', async () => {
      const device = await server.register('gate-1');
      makeRequest(server, 'gate-1');
      const client = Bun.spawn(['bash', '-c', cmpLine(server, device, 60)], {
        cwd: server.directory,
        stdout: 'pipe',
        stderr: 'pipe',
      });
      let open = waiting();
      while (open.length === 0) {
        await Bun.sleep(200);
        open = waiting();
      }
      expect(jo.decide(open[0]!.id, 'approve')).toBe(200);
      const said = (await new Response(client.stdout).text()) + (await new Response(client.stderr).text());
      expect([
        await client.exited,
        said.includes('received POLLREP') || said.includes('received IP'),
      ]).toEqual([0, true]);
      expect(isValid(server, 'gate-1')).toBe(true);
    });
  });
});

test.skipIf(!hasPostgres)(
  'two gateways on one PostgreSQL: requested, decided and collected at both',
  async () => {
    const postgres = await startPostgres();
    try {
      const url = await postgres.createDatabase();
      // The URLs in certificates must be the same at both.
      const config = [
        '[server]',
        'workers = 1',
        'public_url = "http://pki.example:8080"',
        '[store]',
        'plugin = "postgres"',
        `url = "${url}"`,
        '',
      ].join('\n');
      await using one = await startServer({ config });
      await using other = await startServer({ beside: one });
      prepare(one, 2);
      const pumps = new Map<Client, DeviceSecrets>();
      for (const client of clients) pumps.set(client, await one.register(`pump-${client.protocol}`));
      // So long the other one may go by what it knew of policies before.
      await Bun.sleep(1000);
      for (const server of [one, other, one]) {
        for (const [client, device] of pumps) expect(client.ask(server, device, brief)).toBe('waiting');
      }
      const jo = new Account(one, 'jo', joPassword);
      // `admin` has registered the devices, and may not approve for them.
      const mo = new Account(other, 'mo', joPassword);
      const open: { id: number }[] = mo.get('/api/approvals/?state=waiting');
      expect(open.length).toBe(3);
      for (const { id } of open)
        expect([jo.decide(id, 'approve'), jo.decide(id, 'approve')]).toEqual([200, 409]);
      for (const [client, device] of pumps) expect(client.ask(other, device, brief)).toBe('waiting');
      for (const { id } of open) expect(mo.decide(id, 'approve')).toBe(200);
      for (const [n, [client, device]] of [...pumps].entries()) {
        expect(client.ask(n % 2 === 0 ? other : one, device, enough)).toBe('issued');
        expect(isValid(one, device.common_name)).toBe(true);
      }
      expect(jo.get('/api/certificates/?search=pump').length).toBe(3);

      // The same fifty times at once, at both.
      const device = await one.register('gate-1');
      makeRequest(one, 'gate-1');
      const body = await Bun.file(join(one.directory, 'gate-1.b64')).text();
      const authorization = `Basic ${btoa(`${device.username}:${device.password}`)}`;
      const many = (count: number) =>
        Promise.all(
          Array.from({ length: count }, async (_, n) => {
            const answer = await fetch(`${(n % 2 ? one : other).baseUrl}/.well-known/est/simpleenroll`, {
              method: 'POST',
              headers: { authorization, 'content-type': 'application/pkcs10' },
              body,
              tls: { rejectUnauthorized: false },
            });
            return { status: answer.status, text: await answer.text() };
          }),
        );
      expect([...new Set((await many(50)).map(({ status }) => status))]).toEqual([202]);
      const [approval, ...more]: { id: number }[] = mo.get(`/api/approvals/?device=${device.id}`);
      expect(more).toEqual([]);
      for (const account of [jo, mo]) expect(account.decide(approval!.id, 'approve')).toBe(200);
      const given = await many(20);
      expect([new Set(given.map(({ text }) => text)).size, given[0]!.status]).toEqual([1, 200]);
      expect(jo.get('/api/certificates/?search=gate').length).toBe(1);
    } finally {
      await postgres.stop();
    }
  },
  120_000,
);
