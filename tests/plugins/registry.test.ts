import { describe, expect, test } from 'bun:test';
import { Type } from '@sinclair/typebox';
import { systemClock, systemEntropy } from '#adapters/outbound/system/platform.ts';
import { Fault, type FaultCode } from '#core/fault.ts';
import type { Issuer } from '#core/ports/issuer.ts';
import type { Chosen } from '#plugins/host/choose.ts';
import { openSlot } from '#plugins/host/registry.ts';
import { definePlugin, type Plugin } from '#plugins/kit/contract.ts';
import { recordingLog } from '#tests/fakes/log.ts';

const surroundings = {
  dataDirectory: '/nowhere',
  log: recordingLog(),
  clock: systemClock,
  entropy: systemEntropy,
  vault: {
    seal: (plain: Uint8Array) => plain,
    open: (sealed: Uint8Array) => sealed,
    reseal: () => undefined,
  },
};

/** Issuers that record their calls; `fails` names the one that does not open, and how. */
function issuers(names: readonly string[], events: string[], fails: Record<string, unknown> = {}) {
  return names.map(
    (name): Chosen<'issuers'> => ({
      name,
      config: { of: name },
      builtIn: true,
      plugin: definePlugin({
        slot: 'issuers',
        name: 'upstream',
        summary: 'For tests.',
        config: Type.Object({ of: Type.String() }),
        async open(config, given) {
          events.push(`open ${given.name} ${config.of}`);
          if (name in fails) throw fails[name];
          const issuer: Issuer & { close(): Promise<void> } = {
            chain: async () => [],
            issue: () => Promise.reject(new Fault('unsupported', 'not here')),
            health: async () => ({ ok: true }),
            async close() {
              events.push(`close ${name}`);
              if (name === 'stubborn') throw new Error('will not');
            },
          };
          return issuer;
        },
      }) as unknown as Plugin<'issuers'>,
    }),
  );
}

describe('the plugins of a slot', () => {
  test('open in the order of the configuration and close in reverse', async () => {
    const events: string[] = [];
    {
      await using stack = new AsyncDisposableStack();
      const opened = await openSlot('issuers', issuers(['a', 'b'], events), surroundings, stack);
      expect([...opened.keys()]).toEqual(['a', 'b']);
      expect(await opened.get('b')!.health()).toEqual({ ok: true });
    }
    expect(events).toEqual(['open a a', 'open b b', 'close b', 'close a']);
  });

  test('are closed again when one of them does not open', async () => {
    const events: string[] = [];
    const chosen = issuers(['a', 'b', 'c'], events, { c: new Fault('unavailable', 'no answer') });
    const opening = async () => {
      await using stack = new AsyncDisposableStack();
      await openSlot('issuers', chosen, surroundings, stack);
    };
    await expect(opening()).rejects.toThrow('issuers.c: no answer');
    await opening().catch(() => undefined);
    expect(events.slice(-5)).toEqual(['open a a', 'open b b', 'open c c', 'close b', 'close a']);
  });

  test('are all closed when one of them fails to close', async () => {
    const events: string[] = [];
    {
      await using stack = new AsyncDisposableStack();
      await openSlot('issuers', issuers(['a', 'stubborn'], events), surroundings, stack);
    }
    expect(events.slice(-2)).toEqual(['close stubborn', 'close a']);
  });

  test('report errors with their messages', async () => {
    await using stack = new AsyncDisposableStack();
    const message = async (error: unknown) =>
      openSlot('issuers', issuers(['x'], [], { x: error }), surroundings, stack).then(
        () => 'opened',
        (refused: Error) => refused.message,
      );
    expect(await message(new Error('chmod 700 /data/keys'))).toBe('issuers.x: chmod 700 /data/keys');
    expect(await message('just text')).toBe('issuers.x: cannot be opened');
    const cause = new Error('connect ECONNREFUSED');
    const faults: readonly [FaultCode, string][] = [
      ['unavailable', 'issuers.x: the detail for clients: connect ECONNREFUSED'],
      ['notFound', 'issuers.x: the detail for clients: connect ECONNREFUSED'],
      ['internal', 'issuers.x: connect ECONNREFUSED'],
      ['conflict', 'issuers.x: the detail for clients'],
    ];
    for (const [code, told] of faults) {
      expect(await message(new Fault(code, 'the detail for clients', { cause }))).toBe(told);
    }
  });
});
