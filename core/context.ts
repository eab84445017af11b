import type { Throttle } from './accounts/throttle.ts';
import type { RefusalBudget } from './audit/refusal-budget.ts';
import type { ConfigurationCache } from './configuration/configuration.ts';
import type { Ports } from './ports/ports.ts';
import type { GatewaySettings } from './ports/settings.ts';
import type { Circuits } from './upstream/circuits.ts';

/** The ports, the settings and what the use cases share. */
export interface Context extends Ports {
  readonly settings: GatewaySettings;
  readonly configuration: ConfigurationCache;
  readonly throttle: Throttle;
  readonly refusals: RefusalBudget;
  readonly circuits: Circuits;
}
