import { expect, test } from 'bun:test';
import { parseCertificate } from '#core/x509/certificate.ts';
import { installation } from '#tests/fixtures/installation.ts';

const year = 365.25 * 24 * 3_600_000;

test('a TLS server certificate dated in the future is replaced when the clock is corrected', async () => {
  await using site = await installation();
  const served = async () => parseCertificate((await site.gateway.tlsCredential()).certificate);
  site.clock.advance(3 * year);
  await site.gateway.maintain('test');
  const ahead = await served();
  expect(ahead.notBefore).toBeGreaterThan(site.clock.now() - year);
  site.clock.advance(-3 * year);
  expect(ahead.notBefore).toBeGreaterThan(site.clock.now());
  await site.gateway.maintain('test');
  const mended = await served();
  expect(mended.notBefore).toBeLessThanOrEqual(site.clock.now());
  expect(mended.notAfter).toBeGreaterThan(site.clock.now());
  // The certificate is replaced once.
  await site.gateway.maintain('test');
  expect((await served()).serialNumber).toBe(mended.serialNumber);
});
