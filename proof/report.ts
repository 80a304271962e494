import type { Finding, Findings } from './history/findings.ts';
import type { Random } from './support/random.ts';

export interface PartOptions {
  /** Whether this is the short run of every change instead of the full run. */
  readonly slice: boolean;
  /** A regular expression for the names of the cases, in the parts `hold` and `starvation`. */
  readonly match: string;
  readonly random: Random;
  readonly findings: Findings;
  /** The folder for everything that the part writes. */
  readonly work: string;
  /** Number of services that run at the same time. */
  readonly width: number;
  /** Writes progress to standard error. */
  log(text: string): void;
}

export interface PartReport {
  readonly name: string;
  /** Number of states, faults, rounds or requests that were tried and judged. */
  readonly cases: number;
  readonly figures: Readonly<Record<string, number | string>>;
  /** The call sites, if the part has any. */
  readonly sites?: readonly Site[];
  /** The lines of a table, if the part has one. */
  readonly table?: readonly string[];
}

/** A call on a class of files: whether the workloads reach it, and how often a failure was injected. */
export interface Site {
  readonly name: string;
  readonly calls: number;
  readonly faults: number;
}

export interface Report {
  readonly seed: number;
  readonly slice: boolean;
  readonly seconds: number;
  readonly parts: ReadonlyArray<PartReport & { readonly seconds: number; readonly failed: number }>;
  readonly findings: readonly Finding[];
}

export function printReport(report: Report): void {
  console.log(`proof: ${report.slice ? 'slice' : 'full run'}, seed ${report.seed}, ${Math.round(report.seconds)} s`);
  for (const { name, seconds, figures, sites = [], table = [] } of report.parts) {
    console.log(`\n${name} (${Math.round(seconds)} s)`);
    for (const [label, value] of Object.entries(figures)) console.log(`  ${label}: ${value}`);
    for (const line of table) console.log(`  ${line}`);
    if (sites.length === 0) continue;
    console.log(
      `  call sites: ${sites.length} reachable, ${sites.filter(({ faults }) => faults > 0).length} exercised`,
    );
    for (const site of sites) console.log(`    ${site.name}: ${site.calls} calls, ${site.faults} faults`);
  }
  console.log(`\n${report.findings.length} findings`);
  for (const { finding, count } of countEqual(report.findings)) {
    console.log(`  ${count} × ${finding.kind}: ${finding.text}`);
    if (finding.context !== undefined) console.log(`      after ${finding.context}`);
  }
  const failed = report.parts.reduce((sum, part) => sum + part.failed, 0);
  const cases = report.parts.reduce((sum, part) => sum + part.cases, 0);
  console.log(`\n${cases - failed} passed, ${failed} failed`);
}

/**
 * Counts the cases with findings. Findings of one case have the same context; a finding without a context is a case of
 * its own.
 */
export function countFailed(cases: number, findings: readonly Finding[]): number {
  const contexts = new Set(findings.map((finding) => finding.context ?? finding));
  return Math.min(cases, contexts.size);
}

/** Groups findings that differ only in ids and numbers. */
function countEqual(findings: readonly Finding[]): Array<{ finding: Finding; count: number }> {
  const groups = Map.groupBy(
    findings,
    ({ kind, text }) => `${kind}: ${text.slice(0, 200).replace(/[a-z]+_?[0-9a-z]{16,}|\d+/gi, '#')}`,
  );
  return [...groups.values()].map(([finding, ...more]) => ({ finding: finding as Finding, count: more.length + 1 })); // a group has at least one finding
}
