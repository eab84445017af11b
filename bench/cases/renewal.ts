import { measure, run } from '../measure.ts';
import { estRenewals, privateKeyOf, restEnrolments } from '../requests.ts';
import { startServer } from '../server.ts';
import { createSite } from '../site.ts';
import { type Case, connections, loopback, microseconds, times } from './case.ts';

/** The number of devices, which enrol first. */
const renewing = 64;

/** Measures the typical renewal: a device connects with its certificate, renews it and disconnects. */
export const renewalCase: Case = {
  name: 'est-renewal',
  async run(load, { warmUp, perRound, rounds }) {
    using site = await createSite(renewing, loopback);
    await using server = await startServer(site);
    const certificates = await Promise.all(
      restEnrolments(site.devices).map((request) => enrol(server.port, request)),
    );
    const credentials = certificates.map((certificate, n) => ({ certificate, privateKey: privateKeyOf(n) }));
    const handshakes = { port: server.port, connections, count: perRound, requests: [], credentials };
    const renewals = { ...handshakes, requests: estRenewals(site.devices) };
    for (const job of [renewals, handshakes]) await run(load, { ...job, count: warmUp / 2 });
    const [handshake, whole] = await measure(
      load,
      [
        { server, job: handshakes },
        { server, job: renewals },
      ],
      rounds,
    );
    const without = (whole!.cpu - handshake!.cpu) / whole!.limit;
    return [
      {
        title: 'EST simplereenroll, a new mutual TLS connection each, SQLite',
        measured: times(whole!.ratio),
        remark: `${microseconds(whole!.cpu)}, of it the handshake ${microseconds(handshake!.cpu)}: without it ${times(without)}; ${whole!.rate.toFixed(0)}/s`,
        figures: { whole, handshake },
      },
    ];
  },
};

/** Enrols a device and returns its certificate (PEM). */
async function enrol(port: number, request: string): Promise<string> {
  const [head = '', body = ''] = request.split('\r\n\r\n');
  const [, authorization = ''] = /\r\nAuthorization: (.*)/.exec(head) ?? [];
  const response = await fetch(`https://127.0.0.1:${port}/rest/default/enroll`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body,
    tls: { rejectUnauthorized: false },
  });
  if (!response.ok) throw new Error(`an enrolment failed with status ${response.status}`);
  return ((await response.json()) as { certificate: string }).certificate;
}
