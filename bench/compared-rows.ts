import { printTable } from './table.ts';

/** A figure that is compared between two commits. */
export interface ComparedMetric {
  readonly name: string;
  readonly unit: string;
  readonly better: 'higher' | 'lower';
}

export interface ComparedRow extends ComparedMetric {
  readonly before: Spread;
  readonly after: Spread;
  /** Median over the rounds of after ÷ before, inverted where necessary so that more than 1 is better. */
  readonly ratio: number;
  /** Whether the figure is more than a tenth worse. */
  readonly isWorse: boolean;
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** The share by which a figure may be worse. */
const tolerance = 0.1;

/**
 * Compares the figures of the rounds in pairs. The two figures of a pair are measured one after another, so other
 * load on the machine affects both.
 */
export function compareMetric(
  metric: ComparedMetric,
  before: readonly number[],
  after: readonly number[],
): ComparedRow {
  const ratios = before.map((old, round) => {
    const now = after[round] ?? Number.NaN;
    return metric.better === 'higher' ? now / old : old / now;
  });
  const ratio = spread(ratios).median;
  return { ...metric, before: spread(before), after: spread(after), ratio, isWorse: !(ratio >= 1 / (1 + tolerance)) };
}

export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (index: number) => sorted[index] ?? Number.NaN;
  return { median: at(Math.floor(sorted.length / 2)), min: at(0), max: at(sorted.length - 1) };
}

export function printComparison(
  rows: readonly ComparedRow[],
  { commit, rounds }: { readonly commit: string; readonly rounds: number },
): void {
  const lines = [
    ['figure', commit, 'min–max', 'this tree', 'min–max', 'ratio (> 1 is better)', `worse by > ${tolerance * 100} %`],
    ...rows.map(({ name, unit, before, after, ratio, isWorse }) => [
      `${name}, ${unit}`,
      number(before.median),
      `${number(before.min)}–${number(before.max)}`,
      number(after.median),
      `${number(after.min)}–${number(after.max)}`,
      ratio.toFixed(2),
      isWorse ? 'YES' : 'no',
    ]),
  ];
  console.log(`median of ${rounds} rounds, both commits alternately`);
  printTable(lines);
}

function number(value: number): string {
  return value.toFixed(value < 10 ? 2 : value < 1_000 ? 1 : 0);
}
