import { addressSettings } from './address-settings.ts';
import { databaseSettings } from './database-settings.ts';
import { embeddingSettings } from './embedding-settings.ts';
import { firstStartSettings } from './first-start-settings.ts';
import { ocrSettings } from './ocr-settings.ts';
import { pluginSettings } from './plugin-settings.ts';
import { rerankerSettings } from './reranker-settings.ts';
import { storeSettings } from './store-settings.ts';

/** Every setting by its key. `docs/reference/settings.md` is generated from this table. */
export const settings = {
  ...addressSettings,
  ...storeSettings,
  ...ocrSettings,
  ...firstStartSettings,
  ...databaseSettings,
  ...embeddingSettings,
  ...rerankerSettings,
  ...pluginSettings,
} as const;
