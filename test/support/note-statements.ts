import { appendFileSync } from 'node:fs';
import { StatementSync } from 'node:sqlite';

const file = process.env.NOTED_STATEMENTS;

/**
 * Preloaded into a service (`--import`), it appends each statement that a thread executes in SQLite to a file: a line of JSON with the
 * text and the first values. With a value, SQLite can use a partial index.
 */
if (file !== undefined) {
  const noted = new Set<string>();
  const note = (sql: string, values: readonly unknown[]) => {
    if (noted.has(sql)) return;
    noted.add(sql);
    // A plan does not depend on bytes.
    const bound = values.map((value) =>
      typeof value === 'object' ? null : typeof value === 'bigint' ? Number(value) : value,
    );
    appendFileSync(file, `${JSON.stringify([sql, ...bound])}\n`);
  };
  for (const name of ['all', 'get', 'iterate', 'run'] as const) {
    const execute = StatementSync.prototype[name] as (...values: unknown[]) => unknown;
    Object.assign(StatementSync.prototype, {
      [name](this: StatementSync, ...values: unknown[]) {
        note(this.sourceSQL, values);
        return execute.apply(this, values);
      },
    });
  }
}
