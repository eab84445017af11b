import { keyStoreContract } from '#tests/contracts/keys.ts';
import { hasSoftHsm, placeOf, startSoftHsm } from '#tests/fixtures/tokens.ts';

if (hasSoftHsm) keyStoreContract('SoftHSM', async () => placeOf(startSoftHsm()));
