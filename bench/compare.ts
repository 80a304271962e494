// `npm run bench -- --compare <commit> [--rounds 5] [--only uploads,lists]`: measures that commit and this working tree
// alternately in one run, with the same client code, and fails when a figure got more than 10 % worse.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type ComparedMetric, type ComparedRow, compareMetric, printComparison } from './compared-rows.ts';
import { comparedMetrics, measureCheckout } from './measure-checkout.ts';

export interface CompareOptions {
  readonly commit: string;
  readonly rounds: number;
  /** Names of measurements; an empty list selects all. */
  readonly only: readonly string[];
  /** The folder of the data and of the other checkout. It must be on the disk that is measured. */
  readonly folder: string;
}

export async function compareCommits({ commit, rounds, only, folder }: CompareOptions): Promise<ComparedRow[]> {
  return await withCheckout(commit, folder, async (before) => {
    const values = { before: new Map<string, number[]>(), after: new Map<string, number[]>() };
    const sides = { before, after: resolve('.') };
    // Fills the caches of both installations; the figures of the first start do not count.
    for (const root of Object.values(sides)) {
      warmUp(root);
      await measureCheckout(root, join(folder, 'first'), ['start']);
    }
    for (let round = 1; round <= rounds; round++) {
      // The order alternates, because the second of a pair runs on a warmer machine.
      for (const side of round % 2 === 1 ? (['before', 'after'] as const) : (['after', 'before'] as const)) {
        const figures = await measureCheckout(sides[side], join(folder, `${side}-${round}`), only);
        for (const [name, value] of figures) values[side].set(name, [...(values[side].get(name) ?? []), value]);
        console.error(`round ${round} of ${rounds}, ${side}: ${describe(figures)}`);
      }
    }
    return comparedMetrics.flatMap((metric: ComparedMetric) => {
      const [old = [], now = []] = [values.before.get(metric.name), values.after.get(metric.name)];
      return old.length === 0 ? [] : [compareMetric(metric, old, now)];
    });
  });
}

/** Checks a commit out into `folder` with its packages, for the time of `work`, which gets the path of the checkout. */
export async function withCheckout<Result>(
  commit: string,
  folder: string,
  work: (root: string) => Promise<Result>,
): Promise<Result> {
  const root = join(folder, 'before');
  execFileSync('git', ['worktree', 'add', '--detach', '--quiet', root, commit], { stdio: 'inherit' });
  try {
    installDependencies(root);
    return await work(root);
  } finally {
    execFileSync('git', ['worktree', 'remove', '--force', root], { stdio: 'inherit' });
  }
}

/** Links the packages of this tree when the lockfiles are equal; otherwise installs them separately. */
function installDependencies(root: string): void {
  const lockfile = (folder: string) => readFileSync(join(folder, 'package-lock.json'));
  if (lockfile(root).equals(lockfile('.'))) {
    execFileSync('cp', ['-al', 'node_modules', join(root, 'node_modules')]);
    // The cache of compiled code belongs to one checkout, and hard links would share it.
    rmSync(join(root, 'node_modules', '.cache'), { recursive: true, force: true });
  } else {
    const options = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    execFileSync('npm', options, { cwd: root, stdio: 'inherit' });
  }
  // The console is not measured, so any build will do.
  const built = join('packages', 'console', 'dist');
  if (existsSync(built)) cpSync(built, join(root, built), { recursive: true });
}

/** Bundles the service and fills the caches as an installation does. */
function warmUp(root: string): void {
  const scripts = ['scripts/bundle-service.ts', 'scripts/warm-up.ts'].filter((script) =>
    existsSync(join(root, script)),
  );
  for (const script of scripts) {
    execFileSync(process.execPath, [script], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  }
}

function describe(figures: ReadonlyMap<string, number>): string {
  return [...figures].map(([name, value]) => `${name} ${value.toFixed(1)}`).join(', ');
}

/** Parses the arguments after `--compare`. */
export function parseCompareOptions(args: readonly string[]): Omit<CompareOptions, 'folder'> {
  const following = (name: string) => {
    const at = args.indexOf(name);
    return at < 0 ? undefined : args[at + 1];
  };
  const commit = following('--compare');
  if (commit === undefined || commit.startsWith('-')) throw new Error('--compare needs a commit, such as f3b76cb.');
  const rounds = Number(following('--rounds') ?? 5);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds needs a whole number of at least 1.');
  return { commit, rounds, only: following('--only')?.split(',') ?? [] };
}

/** Runs the comparison and prints its table. @returns whether nothing got worse by more than the limit. */
export async function runComparison(args: readonly string[]): Promise<boolean> {
  const options = parseCompareOptions(args);
  mkdirSync('bench/results', { recursive: true });
  const folder = mkdtempSync(resolve('bench-data-'));
  try {
    const rows = await compareCommits({ ...options, folder });
    printComparison(rows, options);
    return rows.every(({ isWorse }) => !isWorse);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
