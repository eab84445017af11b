import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Fault } from '#core/fault.ts';
import { prepare } from '#core/issuance/prepare.ts';
import type { Issuer, IssuerAnswer, Order, Prepared } from '#core/ports/issuer.ts';
import { levelNamed } from '#core/security/levels.ts';
import { checkCertificate } from '#core/upstream/check-certificate.ts';
import { type Certificate, parseCertificate, subjectKeyIdentifierOf } from '#core/x509/certificate.ts';
import {
  authorityKeyIdentifierExtension,
  subjectKeyIdentifierExtension,
} from '#core/x509/extensions/identity.ts';
import {
  basicConstraintsExtension,
  extendedKeyUsageExtension,
  keyUsageExtension,
} from '#core/x509/extensions/usage.ts';
import { oid } from '#core/x509/oids.ts';
import { keyIdentifier, readPublicKey } from '#core/x509/public-key.ts';
import { verifyPkcs10 } from '#core/x509/request.ts';
import { openingMessage } from '#tests/fixtures/cmp-client.ts';
import { request as pkcs10 } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { upstreamCa } from './upstream-ca.ts';

/** How an upstream CA treats the next orders, one entry each; afterwards it issues. */
type Behaviour = 'defer' | 'refuse' | 'fail' | 'hang' | 'babble';

/** An issuer and, if it is an upstream CA, its other end. */
export interface IssuerPlace {
  readonly issuer: Issuer;
  now(): number;
  /** Undefined for a local CA. */
  readonly behave?: (...behaviours: readonly Behaviour[]) => void;
  close(): PromiseLike<void>;
}

const faultOf = async (promise: Promise<unknown>): Promise<string> => {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof Fault ? error.code : `no Fault: ${error}`;
};

let serial = 0;

/** Executes the comments of core/ports/issuer.ts. */
export function issuerContract(
  name: string,
  kind: 'own' | 'upstream',
  prepareIt: () => Promise<IssuerPlace>,
): void {
  describe(`${name} as an issuer`, () => {
    let place: IssuerPlace;
    let issuer: Issuer;
    let above: readonly Certificate[];

    beforeAll(async () => {
      place = await prepareIt();
      issuer = place.issuer;
      above = (await issuer.chain()).map(parseCertificate);
    });
    afterAll(() => place.close());

    const order = (which: string): Order => ({ prepared: wanted(which), operation: 'enrol' });

    function wanted(which: string): Prepared {
      const key = testKey('p-256', `contract ${which}`);
      const request = verifyPkcs10(pkcs10(key, `CN=${which}`));
      const issuing = above[0]!;
      const second = Math.floor(place.now() / 1000) * 1000;
      const issuerKey = readPublicKey(issuing.spki);
      return prepare({
        outcome: {
          subject: request.subject,
          extensions: [
            basicConstraintsExtension({ ca: false }),
            keyUsageExtension(['digitalSignature']),
            extendedKeyUsageExtension([oid.clientAuth]),
            subjectKeyIdentifierExtension(keyIdentifier(request.publicKey)),
            authorityKeyIdentifierExtension(subjectKeyIdentifierOf(issuing) ?? keyIdentifier(issuerKey)),
          ],
          notBefore: second - 3_600_000,
          notAfter: second + 365 * 24 * 3_600_000,
        },
        subjectKey: request.publicKey,
        request,
        serial: Uint8Array.from([1, ...new Uint8Array(14), ++serial]),
        issuerName: issuing.subject,
        issuerKey: issuerKey.type,
        issuer: issuing,
        security: levelNamed('brownfield'),
        ownNames: undefined,
      });
    }

    const isWanted = (answer: IssuerAnswer, { prepared }: Order): void => {
      if (answer.kind !== 'issued') throw new Error('not issued');
      checkCertificate(prepared.template, answer.certificate, above, above.slice(0, 1), place.now());
    };

    test('returns its CA certificates, from the issuing CA to the root', () => {
      expect(above.length).toBeGreaterThan(0);
      for (const [n, certificate] of above.entries()) {
        expect(certificate.issuer.der).toEqual((above[n + 1] ?? certificate).subject.der);
      }
    });

    test('issues the ordered certificate', async () => {
      const one = order('one');
      isWanted(await issuer.issue(one), one);
    });

    test('issues concurrent orders, each with its own certificate', async () => {
      const orders = Array.from({ length: 5 }, (_, n) => order(`many ${n}`));
      const answers = await Promise.all(orders.map((one) => issuer.issue(one)));
      for (const [n, answer] of answers.entries()) isWanted(answer, orders[n]!);
    });

    test('uses a serial number of its own, unless it signs a given certificate', async () => {
      const one = order('own number');
      const answer = await issuer.issue(one);
      if (answer.kind !== 'issued') throw new Error('not issued');
      const same = Buffer.compare(parseCertificate(answer.certificate).tbs, one.prepared.tbs) === 0;
      expect(same).toBe(kind === 'own');
    });

    test('reports its health', async () => {
      expect(await issuer.health()).toEqual({ ok: true });
      expect(issuer.protocol === undefined).toBe(kind === 'own');
    });

    test('describes itself with a URL without credentials, and its own certificate', async () => {
      const described = await issuer.describe?.();
      if (!described) return;
      const { username, password, search, hash } = new URL(described.url);
      expect([username, password, search, hash]).toEqual(['', '', '', '']);
      if (described.clientCertificate) parseCertificate(described.clientCertificate);
    });

    test('issues for a message that the device signed', async () => {
      const { prepared, operation } = order('message');
      const its = testKey('p-256', 'contract device');
      const certificate = upstreamCa().certify(pkcs10(its, 'CN=message'));
      const body = { type: 'p10cr', request: prepared.request!.der } as const;
      const one = { prepared, operation, message: await openingMessage({ certificate, key: its }, body) };
      issuer.check?.(one);
      isWanted(await issuer.issue(one), one);
      if (issuer.repeatable) isWanted(await issuer.issue(one), one);
    });

    if (kind === 'own') return;

    test('reports the timeout and protocol of an upstream CA', () => {
      expect(['est', 'cmp']).toContain(issuer.protocol!);
      expect(issuer.timeout).toBeGreaterThan(0);
    });

    test('defers, and issues when it is polled', async () => {
      place.behave!('defer', 'defer');
      const one = order('deferred');
      let answer = await issuer.issue(one);
      for (let n = 0; n < 2; n++) {
        if (answer.kind !== 'pending') throw new Error('not deferred');
        expect(answer.retryAfter).toBeGreaterThanOrEqual(0);
        expect(typeof answer.handle).toBe('string');
        answer = await issuer.poll!(answer.handle, one);
      }
      isWanted(answer, one);
    });

    test('reports a rejection as final', async () => {
      place.behave!('refuse');
      expect(await faultOf(issuer.issue(order('refused')))).toBe('forbidden');
    });

    test('reports a failure as temporary, and does not retry by itself', async () => {
      const one = order('failed');
      place.behave!('fail', 'fail');
      expect(await faultOf(issuer.issue(one))).toBe('unavailable');
      expect(await faultOf(issuer.issue(one))).toBe('unavailable');
      if (issuer.repeatable) isWanted(await issuer.issue(one), one);
    });

    test('reports an unreadable response as malformed', async () => {
      place.behave!('babble');
      expect(await faultOf(issuer.issue(order('babble')))).toBe('malformed');
    });

    test('ends a call without a response after its timeout', async () => {
      place.behave!('hang');
      const began = performance.now();
      expect(await faultOf(issuer.issue(order('hanging')))).toBe('unavailable');
      expect(performance.now() - began).toBeLessThan(issuer.timeout! + 5000);
    });

    test('ends an aborted call immediately', async () => {
      place.behave!('hang', 'hang');
      const [left, abort] = [new AbortController(), new AbortController()];
      const ended: string[] = [];
      const call = (which: string, { signal }: AbortController) =>
        faultOf(issuer.issue(order(which), signal)).then((code) => ended.push(`${which}: ${code}`));
      // The call that is not aborted began earlier and would time out earlier.
      const calls = [call('left alone', left), call('aborted', abort)];
      setTimeout(() => abort.abort(), 50);
      await Promise.race(calls);
      left.abort();
      await Promise.all(calls);
      expect(ended).toEqual(['aborted: unavailable', 'left alone: unavailable']);
      expect(await faultOf(issuer.chain(AbortSignal.abort()))).toBe('unavailable');
    });
  });
}
