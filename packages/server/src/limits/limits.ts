import type { Limit as LimitOnWire } from '@quartermaster/contract';
import type { Config } from '../settings/config.ts';
import { bundleLimits } from './bundle-limits.ts';
import { collectionLimits } from './collection-limits.ts';
import type { Limit } from './limit.ts';
import { pluginLimits } from './plugin-limits.ts';
import { requestLimits } from './request-limits.ts';
import { storeLimits } from './store-limits.ts';

/** Every limit by group and name. `docs/reference/limits.md` is generated from this table. */
export const limits = {
  requests: requestLimits,
  store: storeLimits,
  collections: collectionLimits,
  plugins: pluginLimits,
  bundles: bundleLimits,
} as const satisfies Record<string, Record<string, Limit>>;

/** Converts the limits of some groups to the response of `GET /v1/limits`. */
export function limitsToWire(config: Config, groups: ReadonlyArray<keyof typeof limits>): LimitOnWire[] {
  return groups.flatMap((group) =>
    Object.entries<Limit>(limits[group]).map(([name, { bounds, unit, value, setting, above }]) => ({
      name,
      bounds,
      value: value(config),
      unit,
      status: typeof above === 'string' ? null : above.status,
      code: typeof above === 'string' ? null : above.code,
      effect: typeof above === 'string' ? above : null,
      setting: setting === undefined ? null : `QUARTERMASTER_${setting}`,
    })),
  );
}
