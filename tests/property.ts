/** How many cases a property test runs: `usual` in `npm test`, 100,000 with POSTERN_NIGHTLY=1. */
export const runs = (usual: number): { numRuns: number } => ({
  numRuns: process.env.POSTERN_NIGHTLY === '1' ? 100_000 : usual,
});
