import { exec } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';

/** Attempts of a document that has taken over its reader. */
const attempts: Record<string, () => unknown> = {
  'read a file': () => readFileSync('/etc/hostname'),
  'read the server': () => readFileSync(`/proc/${process.ppid}/environ`),
  'write a file': () => writeFileSync('/tmp/quartermaster-hostile', 'x'),
  'write a report': () => process.report.writeReport('/tmp/quartermaster-report.json'),
  'start a process': () =>
    new Promise((resolve, reject) => exec('id', (error) => (error ? reject(error) : resolve('')))),
  'start a worker': () => new Worker('1', { eval: true }),
  'start a worker that is not confined': () => new Worker('1', { eval: true, execArgv: [] }),
  connect: () => new Promise((resolve, reject) => connect(9, '127.0.0.1').on('connect', resolve).on('error', reject)),
  'ask a name server': () => lookup('localhost'),
  'open a database': () => import('node:sqlite'),
  'create code from a text': () => new Function('return 1')(),
};

/** Returns for each attempt whether it was denied. */
export async function tryAll(): Promise<Record<string, string>> {
  const results: Record<string, string> = {};
  for (const [name, attempt] of Object.entries(attempts)) {
    try {
      await attempt();
      results[name] = 'allowed';
    } catch (cause) {
      const { code = '', message = '' } = cause as NodeJS.ErrnoException; // it is only printed, whatever it is
      results[name] = /ERR_ACCESS_DENIED|EvalError|ERR_UNKNOWN_BUILTIN|permission|Code generation/i.test(
        `${code} ${cause} ${message}`,
      )
        ? `denied ${code}`
        : `failed otherwise: ${code} ${message}`;
    }
  }
  return results;
}
