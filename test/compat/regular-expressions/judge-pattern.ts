import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import recheck from 'recheck';

/** How the time of a pattern grows with the length of the text. */
export interface Verdict {
  readonly growth: 'linear' | 'polynomial' | 'exponential' | 'unknown';
  /** The degree of a polynomial; 1 for a linear pattern. */
  readonly degree: number;
  /** A text with a long matching time, as an expression. */
  readonly attack: string;
}

export type Judge = (source: string, flags: string) => Verdict;

// Selects the JavaScript version of the checker, because the others need Java or a native binary.
process.env.RECHECK_SYNC_BACKEND = 'pure';
/** Counts steps instead of seconds, so that a slow machine reaches the same verdicts. */
const parameters = {
  timeout: null,
  attackTimeout: null,
  incubationTimeout: null,
  seedingTimeout: null,
  // A linear pattern takes at most a few hundred steps for each of the 300,000 characters of the longest text.
  attackLimit: 100_000_000,
} as const;

export const judgePattern: Judge = (source, flags) => {
  const { text, rest } = anchored(source, flags);
  const found = recheck.checkSync(text, rest, parameters);
  if (found.status === 'safe') return { growth: 'linear', degree: 1, attack: '' };
  if (found.status === 'unknown') return { growth: 'unknown', degree: Number.POSITIVE_INFINITY, attack: '' };
  const attack = found.attack.pattern;
  return found.complexity.type === 'polynomial'
    ? { growth: 'polynomial', degree: found.complexity.degree, attack }
    : { growth: 'exponential', degree: Number.POSITIVE_INFINITY, attack };
};

/** Anchors a sticky pattern, because the checker does not know the flag and would try every position. */
function anchored(source: string, flags: string): { text: string; rest: string } {
  if (!flags.includes('y')) return { text: source, rest: flags };
  return { text: `^(?:${source})`, rest: flags.replaceAll(/[ym]/g, '') };
}

/** Verdicts with the version of the checker that reached them. */
export interface KeptVerdicts {
  readonly version: string;
  readonly verdicts: Readonly<Record<string, Verdict>>;
}

/** Verdicts in the repository. All of them together take a minute of processor time. */
const committedFile = join(import.meta.dirname, 'verdicts.json');

export function readCommittedVerdicts(): KeptVerdicts {
  return readKept(committedFile);
}

/** Replaces the verdicts in the repository. */
export function writeCommittedVerdicts(verdicts: KeptVerdicts['verdicts']): void {
  writeFileSync(committedFile, `${JSON.stringify({ version: checkerVersion(), verdicts }, null, 2)}\n`);
}

export const keyOf = (source: string, flags: string) => `/${source}/${flags}`;

/**
 * Returns a judge that stores verdicts in a file until the checker changes. A verdict never changes, and some take
 * seconds.
 * @param known verdicts that need not be reached again
 */
export function createKeptJudge(file: string, judge: Judge, known: readonly KeptVerdicts[] = []): Judge {
  const version = checkerVersion();
  const valid = [...known, readKept(file)].filter((kept) => kept.version === version);
  const verdicts: Record<string, Verdict> = Object.assign({}, ...valid.map((kept) => kept.verdicts));
  mkdirSync(dirname(file), { recursive: true });
  return (source, flags) => {
    const key = keyOf(source, flags);
    const verdict = verdicts[key] ?? judge(source, flags);
    if (!(key in verdicts)) {
      verdicts[key] = verdict;
      writeFileSync(file, JSON.stringify({ version, verdicts }));
    }
    return verdict;
  };
}

function readKept(file: string): KeptVerdicts {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return { version: '', verdicts: {} };
  }
}

function checkerVersion(): string {
  const manifest = new URL(import.meta.resolve('recheck/package.json'));
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  return `${version} ${JSON.stringify(parameters)}`;
}
