import type { FileClass } from '../shim/build-shim.ts';
import { type CallName, calls, type Fault, type FaultError } from '../shim/control.ts';
import type { Random } from '../support/random.ts';

/** The activity of the service while a call fails. */
export type Phase = 'use' | 'backup' | 'stop';
export const phases: readonly Phase[] = ['use', 'backup', 'stop'];

/** A call on a class of files that occurs in a phase. */
export interface FaultSite {
  readonly call: CallName;
  readonly fileClass: number;
  readonly phase: Phase;
  readonly name: string;
  /** Calls counted in the phase when nothing failed. */
  readonly calls: number;
}

export interface FaultCase {
  readonly site: FaultSite;
  readonly fault: Fault;
  /** Whether the process is killed while the fault lasts, so that the next start has to recover. */
  readonly kill: boolean;
}

const space: readonly FaultError[] = ['ENOSPC', 'EDQUOT'];
const errors: Readonly<Record<CallName, readonly FaultError[]>> = {
  open: ['EIO', 'EMFILE', 'EINTR'],
  create: ['EIO', 'EMFILE', 'EINTR', ...space],
  read: ['EIO', 'EINTR', 'SHORT'],
  write: ['EIO', 'EINTR', 'SHORT', ...space],
  truncate: ['EIO', 'EINTR', ...space],
  allocate: ['EIO', 'EINTR', ...space],
  rename: ['EIO', ...space],
  unlink: ['EIO'],
  link: ['EIO', ...space],
  mkdir: ['EIO', ...space],
  rmdir: ['EIO'],
  sync: ['EIO', 'EINTR', ...space],
};

/** Returns the calls of a phase: the counts after it minus the counts before it. */
export function sitesOf(
  phase: Phase,
  counts: { readonly before: readonly (readonly number[])[]; readonly after: readonly (readonly number[])[] },
  classes: readonly FileClass[],
): FaultSite[] {
  return calls.flatMap((call, row) =>
    [...classes.map(({ name }) => name), 'other files'].flatMap((name, fileClass) => {
      const count = (counts.after[row]?.[fileClass] ?? 0) - (counts.before[row]?.[fileClass] ?? 0);
      return count > 0 ? [{ call, fileClass, phase, name: `${phase}: ${call} ${name}`, calls: count }] : [];
    }),
  );
}

/** Returns all combinations, or one for each site. */
export function casesOf(sites: readonly FaultSite[], random: Random, onlyOne: boolean): FaultCase[] {
  const cases = sites.flatMap((site) => {
    const all = errors[site.call].flatMap((error) =>
      [false, true].flatMap((persistent) => [false, true].map((kill) => ({ error, persistent, kill }))),
    );
    const chosen = onlyOne ? random.shuffle(all).slice(0, 1) : all;
    return chosen.map(({ error, persistent, kill }) => {
      const nth = persistent ? 1 : 1 + random.below(Math.max(1, Math.min(site.calls >> 2, 6)));
      return { site, kill, fault: { call: site.call, fileClass: site.fileClass, nth, persistent, error } };
    });
  });
  return random.shuffle(cases);
}

export function describeCase({ site, fault, kill }: FaultCase): string {
  const often = fault.persistent ? 'from then on' : 'once';
  return `${site.name}, call ${fault.nth} ${fault.error} ${often}${kill ? ', then kill -9' : ''}`;
}
