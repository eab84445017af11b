/** How often a growing batch is checked. */
const patience = 4;

const turn = (): Promise<unknown> => new Promise(setImmediate);

/**
 * Waits until the batch, whose size `count` returns, has not grown for `turns` turns of the event loop. A larger batch is
 * cheaper, because each batch has a fixed cost.
 */
export async function batchComplete(count: () => number, turns: number): Promise<void> {
  for (let times = 0, before = 0; times < patience && count() > before; times++) {
    before = count();
    for (let n = 0; n < turns; n++) await turn();
  }
}
