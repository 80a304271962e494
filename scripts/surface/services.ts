import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger, openService, parseConfig } from '@quartermaster/server';
import { type Metric, Registry } from 'prom-client';
import { sqliteFile } from '../../packages/server/src/storage/sqlite/sqlite-database.ts';
import { createTestDatabase } from '../../test/support/postgres.ts';
import { readPostgresTables, readSqliteTables } from './database-tables.ts';
import { describeFields, type Entries } from './entries.ts';
import type { Surface } from './pins.ts';

/** A watchdog that watches nothing. Its metric is registered. */
const watchdog = {
  watch() {},
  begin: () => 0,
  end() {},
  longestSilence: () => 0,
  close: async () => {},
};

/** Reads the metrics and the tables of both databases. It starts the service on each, so it needs PostgreSQL. */
export async function readSurface(): Promise<Surface> {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-surface-'));
  const { url, drop } = await createTestDatabase();
  const metrics: Entries = {};
  const stopRecording = recordMetrics(metrics);
  try {
    await startOnce({
      QUARTERMASTER_DATA: folder,
      // Registers the metrics of embedding. The service embeds nothing.
      QUARTERMASTER_EMBEDDING_PROVIDER: 'openai',
    });
    await startOnce({ QUARTERMASTER_DATA: join(folder, 'postgres'), QUARTERMASTER_DATABASE_URL: url });
    return {
      metrics,
      'tables-sqlite': readSqliteTables(join(folder, sqliteFile)),
      'tables-postgres': await readPostgresTables(url),
    };
  } finally {
    stopRecording();
    await drop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function startOnce(environment: Readonly<Record<string, string>>) {
  const ports = { QUARTERMASTER_FILES_PORT: '0', QUARTERMASTER_PLUGINS_PORT: '0' };
  const service = await openService(parseConfig({ ...ports, ...environment }), createLogger('error'), { watchdog });
  await service.close();
}

/** Records every metric that this process registers. */
function recordMetrics(entries: Entries): () => void {
  const original = Registry.prototype.registerMetric;
  Registry.prototype.registerMetric = function (metric: Metric) {
    const { name, type, labelNames } = metric as Metric & { name: string; type?: string; labelNames: string[] };
    const labels = labelNames.length > 0 ? labelNames.toSorted().join(',') : undefined;
    entries[name] = describeFields({ type: type ?? metric.constructor.name.toLowerCase(), labels });
    return original.call(this, metric);
  };
  return () => {
    Registry.prototype.registerMetric = original;
  };
}
