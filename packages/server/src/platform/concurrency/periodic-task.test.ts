import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createLogger } from '../log/logger.ts';
import { startPeriodicTasks } from './periodic-task.ts';

describe('periodic tasks', () => {
  test('a task runs immediately and repeatedly, also after a failure, and its runs never overlap', async () => {
    const lines: string[] = [];
    const logger = createLogger('error', { write: (line: string) => void lines.push(line) });
    let runs = 0;
    let busy = false;
    const thrice = Promise.withResolvers<void>();
    const run = async () => {
      assert.ok(!busy);
      busy = true;
      await new Promise((resolve) => setImmediate(resolve));
      busy = false;
      if (++runs === 3) thrice.resolve();
      if (runs === 1) throw new Error('the first time it fails');
    };
    const tasks = startPeriodicTasks([{ name: 'sweep', pause: 1, run }], logger);
    await thrice.promise;
    await tasks.close();
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /"task":"sweep"/);
  });

  test('of several failures in turn the log has the first, and their number when they end', async () => {
    const lines: Array<{ msg: string; failures: number }> = [];
    const logger = createLogger('info', { write: (line: string) => void lines.push(JSON.parse(line)) });
    let runs = 0;
    const ended = Promise.withResolvers<void>();
    const run = async () => {
      runs += 1;
      if (runs === 5) ended.resolve();
      if (runs < 4) throw new Error('the database is away');
    };
    const tasks = startPeriodicTasks([{ name: 'sweep', pause: 1, run }], logger);
    await ended.promise;
    await tasks.close();
    assert.deepEqual(
      lines.map(({ msg, failures }) => [msg, failures]),
      [
        ['periodic task failed', 1],
        ['periodic task succeeded again', 3],
      ],
    );
  });

  test('closing waits for the current run, and no run starts afterwards', async () => {
    const guard = Promise.withResolvers<void>();
    let runs = 0;
    let ended = false;
    const run = async (signal: AbortSignal) => {
      runs += 1;
      await guard.promise;
      ended = signal.aborted;
    };
    const tasks = startPeriodicTasks([{ name: 'long', pause: 0, run }], createLogger('silent'));
    const closing = tasks.close();
    guard.resolve();
    await closing;
    assert.ok(ended);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(runs, 1);
  });
});
