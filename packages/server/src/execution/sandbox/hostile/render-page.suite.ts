import type { HostileCase } from './hostile-case.suite.ts';
import type { Verdicts } from './measure.suite.ts';

/** What was measured, for docs/reference/isolation.md. */
export interface Measured {
  readonly attempts: Readonly<Record<string, readonly HostileCase[]>>;
  readonly harm: Readonly<Record<string, readonly HostileCase[]>>;
  readonly whole: { readonly process: Verdicts; readonly sandbox: Verdicts };
  /** … with all that Node does taken away. */
  readonly kernel: { readonly process: Verdicts; readonly sandbox: Verdicts };
}

export const pageMarks = ['<!-- measured: begin -->', '<!-- measured: end -->'] as const;

/** The part of the page between its marks. */
export function renderMeasured({ attempts, harm, whole, kernel }: Measured): string {
  const row = (name: string, cases: readonly HostileCase[], columns: readonly (Verdicts | null)[]): string => {
    const cells = columns.map((verdicts) => (verdicts === null ? '–' : String(contained(cases, verdicts).length)));
    return `| ${[name, cases.length, ...cells].join(' | ')} |`;
  };
  const all = [whole.process, kernel.process, whole.sandbox, kernel.sandbox];
  return [
    '| Handlers that try | number | T1 contains | T1 without Node | T2 contains | T2 without Node |',
    '|---|---|---|---|---|---|',
    ...Object.entries(attempts).map(([name, cases]) => row(name, cases, all)),
    ...Object.entries(harm).map(([name, cases]) => row(name, cases, [whole.process, null, whole.sandbox, null])),
    '',
    ...Object.entries({ ...attempts, ...harm }).flatMap(([name, cases]) =>
      describeOpen(name, cases, { whole, kernel }),
    ),
  ].join('\n');
}

function contained(cases: readonly HostileCase[], verdicts: Verdicts): HostileCase[] {
  return cases.filter((it) => verdicts.get(it) === 'contained');
}

function describeOpen(
  name: string,
  cases: readonly HostileCase[],
  { whole, kernel }: Pick<Measured, 'whole' | 'kernel'>,
): string[] {
  const columns: ReadonlyArray<readonly [string, Verdicts]> = [
    ['T1 does not contain', whole.process],
    ['T1 without Node does not contain', kernel.process],
    ['T2 does not contain', whole.sandbox],
    ['T2 without Node does not contain', kernel.sandbox],
  ];
  return columns.flatMap(([what, verdicts]) => {
    const open = cases.filter((it) => verdicts.has(it) && verdicts.get(it) !== 'contained');
    return open.length === 0 ? [] : [`**${name}: ${what}** ${open.map(({ does }) => does).join('; ')}.`, ''];
  });
}
