import { keyStoreContract } from '#tests/contracts/keys.ts';
import { hasSoftokn, placeOf, startSoftokn } from '#tests/fixtures/tokens.ts';

keyStoreContract('NSS softokn', async () => placeOf(await startSoftokn()), hasSoftokn);
