import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
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

/**
 * Returns a judge that stores verdicts in a file until the checker changes. A verdict never changes, and some take
 * seconds.
 */
export function createKeptJudge(file: string, judge: Judge): Judge {
  const version = `${manifestVersion()} ${JSON.stringify(parameters)}`;
  const stored = readKept(file);
  const verdicts: Record<string, Verdict> = stored.version === version ? stored.verdicts : {};
  mkdirSync(dirname(file), { recursive: true });
  return (source, flags) => {
    const key = `/${source}/${flags}`;
    const known = verdicts[key] ?? judge(source, flags);
    if (!(key in verdicts)) {
      verdicts[key] = known;
      writeFileSync(file, JSON.stringify({ version, verdicts }));
    }
    return known;
  };
}

function readKept(file: string): { version: string; verdicts: Record<string, Verdict> } {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return { version: '', verdicts: {} };
  }
}

function manifestVersion(): string {
  const manifest = new URL(import.meta.resolve('recheck/package.json'));
  return String(JSON.parse(readFileSync(manifest, 'utf8')).version);
}
