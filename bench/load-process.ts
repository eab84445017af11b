import { join } from 'node:path';
import type { Done, Job } from './load.ts';

/** The running load generator. */
export interface Load extends AsyncDisposable {
  run(job: Job): Promise<Done>;
}

export function startLoad(): Load {
  let pending: PromiseWithResolvers<Done> | undefined;
  const generator = Bun.spawn([process.execPath, join(import.meta.dir, 'load.ts')], {
    stdio: ['ignore', 'ignore', 'inherit'],
    ipc: (done: Done) => pending?.resolve(done),
    onExit: () => pending?.reject(new Error('the load generator has ended')),
  });
  return {
    run(job) {
      pending = Promise.withResolvers<Done>();
      generator.send(job);
      return pending.promise;
    },
    async [Symbol.asyncDispose]() {
      pending = undefined;
      generator.kill();
      await generator.exited;
    },
  };
}
