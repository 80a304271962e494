import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '../../platform/log/logger.ts';
import { processEnvironment } from '../settings/config.ts';

/**
 * Tests once, in the background, whether a backup of the PostgreSQL database would succeed. If not, it logs a warning with the
 * reason. Otherwise the first backup would find missing programs, versions or rights. Source: ADR 0058.
 */
export function startBackupCheck(url: string, logger: Logger): { close(): Promise<void> } {
  const abort = new AbortController();
  const check = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quartermaster-check-'));
    try {
      // Loads the driver only when PostgreSQL is used.
      const { tryDump } = await import('../../storage/postgres/postgres-snapshot.ts');
      await tryDump({ url, environment: processEnvironment() }, folder, abort.signal);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
  const checked = check().catch((error: unknown) => {
    if (abort.signal.aborted) return;
    const reason = error instanceof Error ? error.message : String(error);
    logger.warn({ reason }, 'backup check failed');
  });
  return {
    async close() {
      abort.abort();
      await checked;
    },
  };
}
