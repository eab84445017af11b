import { catalog } from '#plugins/catalog.ts';
import type { Inbound, InboundSurroundings } from '#plugins/kit/contract.ts';
import { inboundContract } from '#tests/contracts/inbound.ts';
import { installation } from '#tests/fixtures/installation.ts';

for (const plugin of catalog.filter(({ slot }) => slot === 'inbound')) {
  inboundContract(plugin.name, async () => {
    const service = await installation();
    const surroundings: InboundSurroundings = {
      name: plugin.name,
      dataDirectory: service.logDirectory,
      log: service.log,
      clock: service.clock,
      entropy: { bytes: (length) => crypto.getRandomValues(new Uint8Array(length)) },
      vault: { seal: (plain) => plain, open: (sealed) => sealed, reseal: () => undefined },
      gateway: service.gateway,
      baseUrl: 'https://pki.example:8443',
    };
    return {
      inbound: (await plugin.open({}, surroundings)) as Inbound,
      close: () => service[Symbol.asyncDispose](),
    };
  });
}
