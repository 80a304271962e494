import type { Pattern } from './find-patterns.ts';
import type { Judge } from './judge-pattern.ts';

/** The maximum number of steps of a pattern, which take less than 50 ms of the event loop. */
const mostSteps = 10_000_000;
const boundNote = /bounded: at most ([0-9,]{1,12}) (?:characters|bytes) \([^()]{3,80}\)/;
const composedNote = /composed: \S.{10}/;

/**
 * Returns the problem of a pattern; undefined when there is none. Exponential time is never accepted. Polynomial time
 * needs a comment beside the pattern, `bounded: at most 256 characters (a password)`, and a bound that keeps the number
 * of steps small. A pattern that is composed at run time needs a comment `composed: <why its time is linear>`.
 */
export function checkPattern(pattern: Pattern, judge: Judge): string | undefined {
  const where = `${pattern.file}:${pattern.line}`;
  if (pattern.source === null) {
    if (composedNote.test(pattern.note)) return undefined;
    return `${where}: the pattern is composed at run time; say beside it why its time is linear: "composed: <reason>"`;
  }
  const { growth, degree, attack } = judge(pattern.source, pattern.flags);
  if (growth === 'linear') return undefined;
  const shown = `${where}: /${pattern.source}/${pattern.flags} takes ${growth} time`;
  if (growth === 'exponential') return `${shown}, for example on ${attack}`;
  const bound = boundNote.exec(pattern.note)?.[1];
  if (bound === undefined) {
    return `${shown}; write it so that it takes linear time, or say beside it: "bounded: at most <number> characters (<what>)"`;
  }
  const steps = Number(bound.replaceAll(',', '')) ** degree;
  if (growth === 'unknown' || steps <= mostSteps) return undefined;
  return `${shown} of degree ${degree}: ${bound} characters are too many`;
}
