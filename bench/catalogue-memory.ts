// Prints the KiB of heap and buffers for each plugin of a catalogue: after loading, and after every list was requested.
import { definitionFormats } from '@quartermaster/contract';
import { loadCatalogue } from '../packages/server/src/catalogue/load/load-catalogue.ts';
import { createLogger } from '../packages/server/src/kernel/log/logger.ts';

const [folder = ''] = process.argv.slice(2);
const options = {
  capabilities: { handlers: 'process' },
  publicUrl: 'http://127.0.0.1',
  logger: createLogger('error'),
} as const;
// Loads everything that does not depend on the number of plugins before the first measurement.
await loadCatalogue({ ...options, folders: ['bundles'] });
const before = memory();
const catalogue = await loadCatalogue({ ...options, folders: [folder] });
const plugins = [...catalogue.bundles.values()].reduce((sum, bundle) => sum + bundle.plugins.size, 0);
const loaded = memory() - before;
for (const format of definitionFormats) await catalogue.definitionList(format, undefined, 'en');
const listed = memory() - before;
console.log(JSON.stringify({ loaded: loaded / 1024 / plugins, listed: listed / 1024 / plugins }));

function memory(): number {
  if (globalThis.gc === undefined) throw new Error('start it with --expose-gc');
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
