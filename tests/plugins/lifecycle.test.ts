import { expect, test } from 'bun:test';
import { endTogether, Tasks } from '#plugins/host/lifecycle.ts';
import { recordingLog } from '#tests/fakes/log.ts';

test('shutdown waits for all parts together and names the one that does not end', async () => {
  const begun: string[] = [];
  const end = (name: string, promise: Promise<unknown>) => {
    begun.push(name);
    return promise;
  };
  const ends = {
    requests: end('requests', Bun.sleep(1)),
    tasks: end('tasks', new Promise(() => {})),
    webhooks: end('webhooks', Promise.reject(new Error('gone'))),
  };
  expect(begun).toEqual(['requests', 'tasks', 'webhooks']);
  expect(await endTogether(ends, 50)).toEqual(['tasks']);
});

test('a stopped task completes its run and does not start another', async () => {
  const log = recordingLog();
  const tasks = new Tasks(log);
  const { promise, resolve } = Promise.withResolvers<void>();
  let runs = 0;
  tasks.repeat('it failed', 1, () => {
    runs++;
    return promise;
  });
  let stopped = false;
  const stop = tasks.stop().then(() => {
    stopped = true;
  });
  await Bun.sleep(5);
  expect(stopped).toBe(false);
  resolve();
  await stop;
  await Bun.sleep(5);
  expect(runs).toBe(1);
});

test('a task that keeps failing is logged once', async () => {
  const log = recordingLog();
  const tasks = new Tasks(log);
  const { promise, resolve } = Promise.withResolvers<void>();
  let runs = 0;
  tasks.repeat('it failed', 1, async () => {
    if (++runs === 3) resolve();
    throw new Error('gone');
  });
  await promise;
  await tasks.stop();
  expect(log.entries.filter(({ event }) => event === 'it failed')).toHaveLength(1);
});
