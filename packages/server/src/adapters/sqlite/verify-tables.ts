import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Logger } from '../../kernel/log/logger.ts';
import { Gauge, type Registry } from '../../kernel/metrics.ts';
import { modulePath } from '../../kernel/process/module-path.ts';

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
  /** The damages that the last check of each table found. */
  damaged(): readonly DamagedTable[];
}

export interface VerificationDeps {
  readonly file: string;
  readonly logger: Pick<Logger, 'error' | 'info'>;
  readonly metrics: Registry;
  /** Milliseconds of pause for each millisecond of work. */
  readonly pausePerWork?: number;
}

/** The check uses a tenth of the time of one processor at most. */
const defaultPausePerWork = 9;

/**
 * Creates the check of the tables and indexes of a SQLite file, one table after another, in a child process of low
 * priority. A thread could not be stopped before SQLite has read the whole table.
 */
export function createTableVerification(deps: VerificationDeps): TableVerification {
  const { file, logger, metrics, pausePerWork = defaultPausePerWork } = deps;
  const damages = new Map<string, DamagedTable>();
  new Gauge({
    name: 'quartermaster_database_damaged_tables',
    help: 'Tables of the SQLite database that the background check found damaged, with their indexes.',
    registers: [metrics],
    collect() {
      this.set(damages.size);
    },
  });

  function note({ table, page, finding }: Omit<DamagedTable, 'finding'> & { readonly finding: string | null }): void {
    const isNew = !damages.has(table);
    if (finding === null) damages.delete(table);
    else damages.set(table, { table, page, finding });
    if (finding !== null && isNew) logger.error({ table, page, finding }, 'database damaged');
  }
  return {
    damaged: () => [...damages.values()],
    async run(signal) {
      const program = modulePath(import.meta, './verify-tables-child');
      const child = spawn(process.execPath, [program, file, String(pausePerWork)], {
        env: {},
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      const ended = new Promise<number | null>((resolve) => {
        child.once('error', () => resolve(null));
        child.once('close', resolve);
      });
      const kill = () => void child.kill('SIGKILL');
      signal.addEventListener('abort', kill);
      let tables = 0;
      for await (const line of createInterface({ input: child.stdout })) {
        note(JSON.parse(line));
        tables += 1;
      }
      const code = await ended;
      signal.removeEventListener('abort', kill);
      if (signal.aborted) return;
      if (code !== 0) throw new Error(`The check of the tables ended with the code ${code}.`);
      logger.info({ tables, damaged: damages.size }, 'database tables checked');
    },
  };
}
