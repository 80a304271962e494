import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import type { Row } from './table.ts';

const times = 15;
const mostMs = 300;
const main = resolve('packages/cli/src/main.ts');

/** Commands that send no request. */
const commands = ['--version', '--help', 'files list --help', 'completion bash -- files ', 'files list'] as const;

/** Measures the time of whole commands from this checkout. `files list` loads the client, then ends because there is no key. */
export function commandBenches(): Row[] {
  return commands.map((command) => {
    const ms = median(Array.from({ length: times }, () => measure(command.split(' '))));
    const floor = median(Array.from({ length: times }, () => measure([], ['-e', ''])));
    return {
      bench: `quartermaster ${command}, median of ${times}`,
      ours: `${ms.toFixed(0)} ms`,
      floor: `${floor.toFixed(0)} ms (Node.js alone)`,
      bar: `≤ ${mostMs} ms`,
      met: ms <= mostMs,
    };
  });
}

function measure(args: readonly string[], program: readonly string[] = [main]): number {
  const env = { PATH: process.env.PATH, HOME: '/nonexistent' };
  const began = performance.now();
  try {
    execFileSync(process.execPath, [...program, ...args], { env, stdio: 'ignore' });
  } catch {
    // A command without a key ends with an exit code.
  }
  return performance.now() - began;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
