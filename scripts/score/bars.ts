import type { Result } from './measure.ts';
import { mean, scoresOf } from './scoreboard.ts';

type Score = keyof ReturnType<typeof scoresOf>;

interface Bar {
  readonly kind: string;
  readonly score: Score;
  readonly least: number;
  /** Held by each file, not by their mean. */
  readonly each?: true;
}

const parallel = 'parallel-format';

/** What the readers are held to. `each`: every PDF beside which the same text lies in another format. */
const bars: readonly Bar[] = [
  { kind: 'docx', score: 'recall', least: 0.99 },
  { kind: 'docx', score: 'order', least: 0.98 },
  { kind: 'docx', score: 'headings', least: 0.95 },
  { kind: 'html', score: 'recall', least: 0.98 },
  { kind: 'html', score: 'precision', least: 0.9 },
  { kind: 'pdf', score: 'recall', least: 0.97, each: true },
  { kind: 'pdf', score: 'order', least: 0.92, each: true },
];

/**
 * The text beside it is not the text of this PDF: that prints the addresses of links, counts its notes anew in each
 * chapter and names chapters by their number alone. pdftotext reaches .875, all readers tried together .885.
 */
const apart: Readonly<Record<string, readonly Score[]>> = { 'pdf/deb__maint-guide.ru.pdf': ['order'] };

export interface Held {
  readonly bar: string;
  readonly value: number;
  readonly met: boolean;
  /** Why it may be missed; undefined when it may not. */
  readonly excused?: true;
}

/** Every bar with what was reached: the mean of a kind, or the least of its files and those that stand apart. */
export function holdBars(results: readonly Result[]): Held[] {
  return bars.flatMap((bar) => {
    const { kind, score, least } = bar;
    const scored = results
      .filter(({ entry, text }) => entry.kind === kind && text !== null)
      .filter(({ entry }) => bar.each !== true || entry.gt_kind?.startsWith(parallel) === true)
      .map((result) => ({ path: result.entry.path, value: scoresOf(result)[score] }));
    const reach = (list: typeof scored) => {
      const values = list.map(({ value }) => value).filter((value) => value !== null);
      return bar.each === true ? Math.min(...values) : (mean(values) ?? 0);
    };
    const isApart = ({ path }: { path: string }) => bar.each === true && apart[path]?.includes(score) === true;
    const usual = scored.filter((one) => !isApart(one));
    const value = reach(usual);
    const name = `${kind} ${score} ≥ ${least}${bar.each === true ? ', each with a parallel text' : ''}`;
    const others = scored.filter(isApart).map((one): Held => {
      const reached = reach([one]);
      return { bar: `${name}: ${one.path}`, value: reached, met: reached >= least, excused: true };
    });
    return [{ bar: name, value, met: value >= least }, ...others];
  });
}
