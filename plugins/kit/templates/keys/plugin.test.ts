import { keyStoreContract } from 'postern/contracts/keys';
import { testSurroundings } from 'postern/contracts/surroundings';
import plugin from './plugin.ts';

keyStoreContract('my-plugin', async () => {
  const { remove, ...surroundings } = testSurroundings('my-plugin');
  return { open: () => plugin.open({}, surroundings), remove };
});
