import { Counter, type Registry } from '../../../platform/metrics.ts';

/** Counts documents by outcome: `extracted`, `cancelled`, `text_too_long` or why a document could not be read. */
export function createLoaderMetrics(registry: Registry) {
  const documents = new Counter({
    name: 'quartermaster_documents_loaded_total',
    help: 'Documents read for the external document loader of Open WebUI, by outcome.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  return { count: (outcome: string) => documents.inc({ outcome }) };
}
