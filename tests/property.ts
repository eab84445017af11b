/** Whether there is all night. */
export const nightly = process.env.POSTERN_NIGHTLY === '1';

/** How many cases a property test runs: `usual` in `npm test`, 100,000 with POSTERN_NIGHTLY=1. */
export const runs = (usual: number): { numRuns: number } => ({ numRuns: nightly ? 100_000 : usual });
