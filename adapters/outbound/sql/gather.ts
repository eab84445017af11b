/** How often something that grows is looked at. */
const patience = 4;

const turn = (): Promise<unknown> => new Promise(setImmediate);

/**
 * Waits as long as `count`, of what waits to be done together, has grown within so many turns of the event loop, since doing it
 * has its price, whatever there is of it.
 */
export async function gathered(count: () => number, turns: number): Promise<void> {
  for (let times = 0, before = 0; times < patience && count() > before; times++) {
    before = count();
    for (let n = 0; n < turns; n++) await turn();
  }
}
