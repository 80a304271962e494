import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { replaceFile } from '../../platform/disk/replace-file.ts';
import type { Logger } from '../../platform/log/logger.ts';
import { type Registry, registerGauge } from '../../platform/metrics.ts';
import { modulePath } from '../../platform/server-process/module-path.ts';

/** Damage of a table or one of its indexes. */
export interface DamagedTable {
  readonly table: string;
  /** Null when SQLite does not name the page. */
  readonly page: number | null;
  readonly finding: string;
}

export interface TableVerification {
  /** Checks every table once. The signal ends it at once. */
  run(signal: AbortSignal): Promise<void>;
  /** The damages that the last check of each table found, also before a restart. */
  damaged(): readonly DamagedTable[];
}

/** A line of the child process. With an error that is no damage, the table was not checked. */
export interface CheckedTable extends Omit<DamagedTable, 'finding'> {
  readonly finding: string | null;
  readonly error?: string;
}

export interface VerificationDeps {
  readonly file: string;
  /** The maximum rate at which the check reads. */
  readonly bytesPerSecond: number;
  readonly logger: Pick<Logger, 'error' | 'info'>;
  readonly metrics: Registry;
}

/** This file beside the database lists the damaged tables. It exists only while there are any. */
const damagedTablesFile = 'damaged-tables.json';

/**
 * Creates the check of the tables and indexes of a SQLite file, one table after another, in a child process of low
 * priority. It reads in short transactions, so that the log of the database stays small. Known damage survives a restart.
 */
export function createTableVerification({
  file,
  bytesPerSecond,
  logger,
  metrics,
}: VerificationDeps): TableVerification {
  const stored = join(dirname(file), damagedTablesFile);
  const damages = new Map(readDamages(stored).map((damage) => [damage.table, damage]));
  for (const damage of damages.values()) logger.error(damage, 'database damaged');
  registerGauge(
    metrics,
    'quartermaster_database_damaged_tables',
    'Tables of the SQLite database that the background check found damaged, with their indexes.',
    () => damages.size,
  );

  async function note(table: string, damage: DamagedTable | null): Promise<void> {
    const isNew = !damages.has(table);
    if (isNew && damage === null) return;
    if (damage === null) damages.delete(table);
    else damages.set(table, damage);
    if (isNew) logger.error(damage, 'database damaged');
    if (damages.size === 0) await rm(stored, { force: true });
    else await replaceFile(stored, JSON.stringify([...damages.values()]), 0o600);
  }

  return {
    damaged: () => [...damages.values()],
    async run(signal) {
      const program = modulePath(import.meta, './verify-tables-child');
      const child = spawn(process.execPath, [program, file, String(bytesPerSecond), ...damages.keys()], {
        env: {},
        stdio: ['ignore', 'pipe', 'ignore'],
        signal,
        killSignal: 'SIGKILL',
      });
      const ended = new Promise<number | null>((resolve) => {
        child.once('error', () => resolve(null));
        child.once('close', resolve);
      });
      const tables = new Set<string>();
      const errors: string[] = [];
      for await (const line of createInterface({ input: child.stdout })) {
        const { table, page, finding, error }: CheckedTable = JSON.parse(line);
        tables.add(table);
        if (error !== undefined) errors.push(`${table}: ${error}`);
        else await note(table, finding === null ? null : { table, page, finding });
      }
      const code = await ended;
      if (signal.aborted) return;
      if (code !== 0) errors.push(`the process ended with the code ${code}`);
      if (errors.length > 0) throw new Error(`The check of the tables failed: ${errors.join('; ')}`);
      for (const table of damages.keys()) if (!tables.has(table)) await note(table, null);
      logger.info({ tables: tables.size, damaged: damages.size }, 'database tables checked');
    },
  };
}

function readDamages(file: string): DamagedTable[] {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
}
