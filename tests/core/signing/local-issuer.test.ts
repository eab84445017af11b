import { localIssuer } from '#core/signing/local-issuer.ts';
import { issuerContract } from '#tests/contracts/issuer.ts';
import { installation } from '#tests/fixtures/installation.ts';

issuerContract('a CA of our own', 'own', async () => {
  const service = await installation();
  const { records } = await service.store.list('issuingCa', { limit: 10 });
  const [record] = records;
  if (!record?.key) throw new Error('no CA');
  return {
    issuer: localIssuer(service.keys, record.key.id, [record.certificate, ...record.chain]),
    now: service.clock.now,
    close: () => service[Symbol.asyncDispose](),
  };
});
