import type { HostileCase } from './hostile-case.suite.ts';
import type { Verdict, Verdicts } from './measure.suite.ts';

/** The measurements for docs/reference/isolation.md. */
export interface Measured {
  readonly attempts: Readonly<Record<string, readonly HostileCase[]>>;
  readonly harm: Readonly<Record<string, readonly HostileCase[]>>;
  readonly whole: { readonly process: Verdicts; readonly sandbox: Verdicts };
  /** The verdicts without the barriers of Node. */
  readonly kernel: { readonly process: Verdicts; readonly sandbox: Verdicts };
}

export const pageMarks = ['<!-- measured: begin -->', '<!-- measured: end -->'] as const;

/** Renders the part of the page between its marks. */
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

const columns: ReadonlyArray<readonly [string, (measured: Pick<Measured, 'whole' | 'kernel'>) => Verdicts]> = [
  ['T1 does not contain', ({ whole }) => whole.process],
  ['T1 without Node does not contain', ({ kernel }) => kernel.process],
  ['T2 does not contain', ({ whole }) => whole.sandbox],
  ['T2 without Node does not contain', ({ kernel }) => kernel.sandbox],
];

function describeOpen(
  name: string,
  cases: readonly HostileCase[],
  measured: Pick<Measured, 'whole' | 'kernel'>,
): string[] {
  return columns.flatMap(([what, of]) => {
    const verdicts = of(measured);
    const open = cases.filter((it) => verdicts.has(it) && verdicts.get(it) !== 'contained');
    return open.length === 0 ? [] : [`${linePrefix(name, what)}${open.map(({ does }) => does).join('; ')}.`, ''];
  });
}

function linePrefix(name: string, what: string): string {
  return `**${name}: ${what}** `;
}

/** Replaces each verdict `slow` by that of the page. A time limit is not evidence against the page. */
export function settleSlow(measured: Measured, page: string): Measured {
  const settled = columns.map(([what, of]) => {
    const saidOpen = new Set(
      Object.entries({ ...measured.attempts, ...measured.harm }).flatMap(([name, cases]) => {
        const pageLine = page.split('\n').find((line) => line.startsWith(linePrefix(name, what)));
        const listed = new Set(pageLine?.slice(linePrefix(name, what).length, -1).split('; '));
        return cases.filter(({ does }) => listed.has(does));
      }),
    );
    const settle = (it: HostileCase, verdict: Verdict): Verdict =>
      verdict !== 'slow' ? verdict : saidOpen.has(it) ? 'open' : 'contained';
    return new Map([...of(measured)].map(([it, verdict]) => [it, settle(it, verdict)]));
  });
  const [inProcess = new Map(), kernelProcess = new Map(), sandbox = new Map(), kernelSandbox = new Map()] = settled;
  const { attempts, harm } = measured;
  const [whole, kernel] = [
    { process: inProcess, sandbox },
    { process: kernelProcess, sandbox: kernelSandbox },
  ];
  return { attempts, harm, whole, kernel };
}
