import { guardedKey } from '#core/signing/guarded-key.ts';
import { localIssuer } from '#core/signing/issuers.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { readPublicKey } from '#core/x509/public-key.ts';
import { issuerContract } from '#tests/contracts/issuer.ts';
import { installation } from '#tests/fixtures/installation.ts';

issuerContract('a CA of our own', 'own', async () => {
  const service = await installation();
  const { records } = await service.store.list('issuingCa', { limit: 10 });
  const [record] = records;
  if (!record?.key) throw new Error('no CA');
  const ports = { keyStores: new Map([[record.key.store, service.keys]]), clock: service.clock };
  const publicKey = readPublicKey(parseCertificate(record.certificate).spki);
  return {
    issuer: localIssuer(guardedKey(ports, record.key, publicKey), [record.certificate, ...record.chain]),
    now: service.clock.now,
    close: () => service[Symbol.asyncDispose](),
  };
});
