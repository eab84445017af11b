import { wholeSecond } from '../der/time.ts';
import type { Ports } from '../ports/ports.ts';
import type { Condition, Query, Reads } from '../ports/store.ts';
import type { Device } from '../records/device.ts';

/**
 * `registered`: the device has no valid certificate; `active`: it has one; `blocked`: all its requests are rejected.
 */
export const deviceStates = ['registered', 'active', 'blocked'] as const;

export type DeviceState = (typeof deviceStates)[number];

/** A device with its state. */
export interface DeviceView extends Device {
  readonly state: DeviceState;
  /** When the first of its valid certificates expires. */
  readonly nextExpiry: number | null;
}

const good = (now: number): readonly Condition<'certificate'>[] => [
  { field: 'status', is: 'equal', value: 'good' },
  { field: 'notValidAfter', is: 'greaterOrEqual', value: wholeSecond(now) },
];

/** Returns the query that finds the devices in a state. */
export function stateCondition(state: DeviceState, now: number): Pick<Query<'device'>, 'where' | 'referral'> {
  if (state === 'blocked') return { where: [{ field: 'blockedAt', is: 'greaterOrEqual', value: 0 }] };
  return {
    where: [{ field: 'blockedAt', is: 'equal', value: null }],
    referral: { by: 'certificate', in: 'device', where: good(now), exists: state === 'active' },
  };
}

/** Returns the view of a new device, which cannot have certificates yet. */
export const newDeviceView = (device: Device): DeviceView => ({
  ...device,
  state: device.blockedAt === null ? 'registered' : 'blocked',
  nextExpiry: null,
});

/** Returns the views of devices, in the same order. */
export async function deviceViews(
  context: Pick<Ports, 'clock'> & { readonly store: Reads },
  devices: readonly Device[],
): Promise<readonly DeviceView[]> {
  const now = context.clock.now();
  const expiries = await nextExpiries(
    context,
    now,
    devices.map(({ id }) => id),
  );
  return devices.map((device) => {
    const nextExpiry = expiries.get(device.id) ?? null;
    const state =
      device.blockedAt !== null ? 'blocked' : nextExpiry === null ? 'registered' : ('active' as const);
    return { ...device, state, nextExpiry };
  });
}

/** The number of certificates that one query examines. */
const most = 5000;

/** Returns the next expiry by device, without devices that have no valid certificate. */
async function nextExpiries(
  context: { readonly store: Reads },
  now: number,
  devices: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const { store } = context;
  const [only] = devices;
  if (only === undefined) return new Map();
  const where: Condition<'certificate'>[] = [{ field: 'device', is: 'oneOf', value: devices }, ...good(now)];
  const tallies = await store.tally('certificate', where, ['device', 'notValidAfter'], most);
  if (tallies.reduce((sum, { count }) => sum + count, 0) < most) {
    const ends = new Map<number, number>();
    for (const { values } of tallies) {
      const [device, end] = values as readonly [number, number];
      ends.set(device, Math.min(end, ends.get(device) ?? end));
    }
    return ends;
  }
  if (devices.length > 1) {
    const half = devices.length >> 1;
    const parts = [devices.slice(0, half), devices.slice(half)];
    const found = await Promise.all(parts.map((part) => nextExpiries(context, now, part)));
    return new Map(found.flatMap((each) => [...each]));
  }
  const order = { field: 'notValidAfter', descending: false } as const;
  const { records } = await store.list('certificate', { where, order, limit: 1 });
  return new Map(records.map(({ notValidAfter }) => [only, notValidAfter]));
}
