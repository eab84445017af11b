import { KindGuard, type TSchema } from '@sinclair/typebox';
import {
  contractVersion,
  type InboundSurroundings,
  type Plugin,
  type Ports,
  type Slot,
  type Surroundings,
  slots,
} from '../kit/contract.ts';
import type { Chosen } from './choose.ts';
import { reason } from './reason.ts';

/** A plugin could not be opened. The message is for the operator. */
class OpenError extends Error {
  override readonly name = 'OpenError';
}

/**
 * Opens the plugins of one slot in their order. `stack` closes them in reverse order; the caller disposes of it, also if this
 * function throws. Throws an OpenError.
 */
export async function openSlot<S extends Slot>(
  slot: S,
  chosen: readonly Chosen<S>[],
  surroundings: Omit<S extends 'inbound' ? InboundSurroundings : Surroundings, 'name'>,
  stack: AsyncDisposableStack,
): Promise<Map<string, Ports[S]>> {
  const opened = new Map<string, Ports[S]>();
  for (const { name, plugin, config } of chosen) {
    const path = slots[slot].max === 1 ? slot : `${slot}.${name}`;
    const { log } = surroundings;
    try {
      const port = await plugin.open(config, { ...surroundings, name } as Parameters<typeof plugin.open>[1]);
      opened.set(name, port);
      stack.defer(async () => {
        try {
          await (port as { close?(): Promise<void> }).close?.();
        } catch (error) {
          log.error('a plugin could not be closed', error, { plugin: path });
        }
      });
    } catch (error) {
      log.error('a plugin could not be opened', error, { plugin: path });
      const why = error instanceof Error ? reason(error) : 'cannot be opened';
      throw new OpenError(`${path}: ${why}`, { cause: error });
    }
  }
  return opened;
}

/**
 * Makes `import … from 'postern'` work in external plugins, wherever they are and without anything installed: they get the modules
 * of this process, whatever clone their own tests are linked to.
 */
async function offerContract(): Promise<void> {
  const postern = await import('../kit/postern.ts');
  Bun.plugin({
    name: 'postern',
    setup(build) {
      build.module('postern', () => ({ exports: { ...postern }, loader: 'object' }));
    },
  });
}

/**
 * Loads an external plugin: the default export, or the export `plugin`, of a module. `specifier` is a path or the name of a
 * package, relative to `directory`. Throws an Error with a message for the operator.
 */
export async function loadPlugin(specifier: string, directory: string): Promise<Plugin> {
  await offerContract();
  let module: { readonly default?: unknown; readonly plugin?: unknown };
  try {
    module = await import(Bun.resolveSync(specifier, directory));
  } catch (error) {
    throw new Error(`cannot be loaded: ${error instanceof Error ? error.message : String(error)}`);
  }
  const plugin = module.default ?? module.plugin;
  if (!isPlugin(plugin)) {
    throw new Error(
      'exports no plugin: the default export must be the result of definePlugin({ slot, name, … })',
    );
  }
  if (plugin.contract !== contractVersion) {
    throw new Error(
      `the plugin uses contract version ${plugin.contract}, this Postern supports version ${contractVersion}`,
    );
  }
  return plugin;
}

function isPlugin(value: unknown): value is Plugin {
  if (typeof value !== 'object' || value === null) return false;
  const { contract, slot, name, config, open } = value as Record<string, unknown>;
  return (
    Number.isInteger(contract) &&
    typeof slot === 'string' &&
    Object.hasOwn(slots, slot) &&
    typeof name === 'string' &&
    KindGuard.IsObject(config as TSchema) &&
    typeof open === 'function'
  );
}
