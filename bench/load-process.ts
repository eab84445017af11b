import { join } from 'node:path';
import type { Done, Job } from './load.ts';

/** The load generator, started. */
export interface Load extends AsyncDisposable {
  run(job: Job): Promise<Done>;
}

export function startLoad(): Load {
  let answer: PromiseWithResolvers<Done> | undefined;
  const generator = Bun.spawn([process.execPath, join(import.meta.dir, 'load.ts')], {
    stdio: ['ignore', 'ignore', 'inherit'],
    ipc: (done: Done) => answer?.resolve(done),
    onExit: () => answer?.reject(new Error('the load generator has ended')),
  });
  return {
    run(job) {
      answer = Promise.withResolvers<Done>();
      generator.send(job);
      return answer.promise;
    },
    async [Symbol.asyncDispose]() {
      answer = undefined;
      generator.kill();
      await generator.exited;
    },
  };
}
