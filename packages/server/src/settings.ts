import { addressSettings } from './settings/address-settings.ts';
import { databaseSettings } from './settings/database-settings.ts';
import { embeddingSettings } from './settings/embedding-settings.ts';
import { pluginSettings } from './settings/plugin-settings.ts';
import { storeSettings } from './settings/store-settings.ts';

/** Every setting by its key. `docs/reference/settings.md` is generated from this table. */
export const settings = {
  ...addressSettings,
  ...storeSettings,
  ...databaseSettings,
  ...embeddingSettings,
  ...pluginSettings,
} as const;
