import { keyStoreContract } from '#tests/contracts/keys.ts';
import { hasSoftHsm, placeOf, startSoftHsm } from '#tests/fixtures/tokens.ts';

keyStoreContract('SoftHSM', async () => placeOf(startSoftHsm()), hasSoftHsm);
