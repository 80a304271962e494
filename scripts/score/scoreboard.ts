import { isTuningFile } from '../../test/support/corpus.ts';
import { holdBars } from './bars.ts';
import type { Result } from './measure.ts';

const columns = ['recall', 'precision', 'order', 'headings', 'levels', 'cells'] as const;
type Column = (typeof columns)[number];
type Scores = Readonly<Record<Column, number | null>>;

/** The difference from which a score counts as fallen. It allows for rounding and for the order of equal scores. */
const tolerance = 0.002;

export function scoresOf({ text, headings, cells }: Result): Scores {
  return {
    recall: text?.recall ?? null,
    precision: text?.precision ?? null,
    order: text === null || text.units < 5 ? null : text.order5,
    headings: headings?.f1 ?? null,
    levels: headings === null || headings.f1 === 0 ? null : headings.level,
    cells,
  };
}

/** Returns one line per file, for people who work on a reader. */
export function toLine(result: Result): string {
  const { entry, outcome, honoured, milliseconds, characters, text } = result;
  const scores = Object.entries(scoresOf(result)).map(([name, value]) => `${name} ${show(value)}`);
  const { recall, precision, order5, heading_f1 } = entry.baseline ?? {};
  const baseline = `[${[recall, precision, order5, heading_f1].map((value) => show(value ?? null)).join(' ')}]`;
  const size = `${characters}${entry.facts?.poppler_chars === undefined ? '' : `/${entry.facts.poppler_chars}`} ch`;
  return [
    honoured ? ' ' : '!',
    entry.path.padEnd(60),
    outcome.padEnd(14),
    `${milliseconds.toFixed(0)} ms`.padStart(8),
    size.padStart(16),
    ...(text === null ? [] : [`${text.units} u`, ...scores, baseline]),
  ].join(' ');
}

/** Returns the means over the files with ground truth, one line per kind. */
export function summarize(results: readonly Result[]): string {
  const lines = Object.entries(Object.groupBy(results, (result) => result.entry.kind)).map(([kind, list = []]) => {
    const means = columns.map((column) => `${column} ${show(mean(list.map((result) => scoresOf(result)[column])))}`);
    const honoured = list.filter((result) => result.honoured).length;
    const seconds = list.reduce((sum, result) => sum + result.milliseconds, 0) / 1000;
    return `${kind.padEnd(5)} ${means.join('  ')}  expectations ${honoured}/${list.length}  ${seconds.toFixed(1)} s`;
  });
  return lines.join('\n');
}

/** Renders the reference page. */
export function describe(results: readonly Result[]): string {
  const kinds = Object.entries(Object.groupBy(results, (result) => result.entry.kind));
  const overview = kinds.map(([kind, list = []]) => {
    const scored = list.filter((result) => result.text !== null).length;
    const means = columns.map((column) => show(mean(list.map((result) => scoresOf(result)[column]))));
    const honoured = list.filter((result) => result.honoured).length;
    return row([kind, `${honoured} of ${list.length}`, String(scored), ...means]);
  });
  const halves = kinds.flatMap(([kind, list = []]) =>
    Object.entries(Object.groupBy(list, ({ entry }) => (isTuningFile(entry) ? 'tuning' : 'reporting'))).map(
      ([half, ofHalf = []]) => {
        const scored = ofHalf.filter((result) => result.text !== null);
        const means = columns.map((column) => show(mean(scored.map((result) => scoresOf(result)[column]))));
        return row([kind, half, String(scored.length), ...means]);
      },
    ),
  );
  const files = results.map((result) => {
    const scores = scoresOf(result);
    return row([`\`${result.entry.path}\``, result.outcome, ...columns.map((column) => show(scores[column]))]);
  });
  const held = holdBars(results).map(({ bar, value, met, excused }) =>
    row([bar, value.toFixed(3), met ? 'met' : excused ? 'missed, stands apart' : 'missed']),
  );
  return `# How well documents are read

Measured by \`npm run script -- extraction-score\` over the test corpus: real files that this project did not write. Do not edit; a test checks
that no number decreases. The measures are those of the corpus's \`score.py\`, file by file; a format's figure is their mean.
Words are compared as multisets (recall, precision); *order* is the share of equal runs of five words, if the ground truth has at least five words; *headings* (those without text too) and *cells* are F1 over their texts, *levels* the share of found
headings with the right level. The ground truth of some files is itself the output of another tool, so 1.000 is not always
the goal. An *expectation* is what the corpus demands of a file: to be read, or to be refused with the right reason.

${row(['format', 'expectations met', 'with ground truth', ...columns])}
${row(Array.from({ length: columns.length + 3 }, () => '---'))}
${overview.join('\n')}

## Tuning and reporting half

People who work on a reader look only at the tuning half: the files whose SHA-256 begins with 0 to 7. The reporting half is only
measured. Earlier readers were written with all files in view.

${row(['format', 'half', 'with ground truth', ...columns])}
${row(Array.from({ length: columns.length + 3 }, () => '---'))}
${halves.join('\n')}

## Bars

[Decision 0042](../decisions/0042-keep-the-extraction-measures-and-explain-each-miss.md) explains each miss.

${row(['bar', 'reached', ''])}
${row(['---', '---', '---'])}
${held.join('\n')}

## Each file

${row(['file', 'outcome', ...columns])}
${row(Array.from({ length: columns.length + 2 }, () => '---'))}
${files.join('\n')}
`;
}

/** Returns what is worse than the page, one sentence each. Files that the page does not list are new. */
export function compare(page: string, results: readonly Result[]): string[] {
  const before = new Map<string, readonly string[]>();
  for (const line of page.split('\n')) {
    const [path, ...cells] = line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1);
    if (path?.startsWith('`') === true) before.set(path.slice(1, -1), cells);
  }
  return results.flatMap((result) => {
    const { path, expect } = result.entry;
    const refused = result.honoured ? [] : [`${path}: ${result.outcome}, but the corpus expects ${expect}`];
    const [outcome, ...cells] = before.get(path) ?? [];
    if (outcome === undefined) return refused;
    const now = scoresOf(result);
    const fallen = columns.flatMap((column, index) => {
      const was = Number(cells[index]);
      const is = now[column] ?? 0;
      return cells[index] === '' || is >= was - tolerance ? [] : [`${path}: ${column} ${was} → ${is.toFixed(3)}`];
    });
    return outcome === 'ready' && result.outcome !== 'ready'
      ? [...refused, `${path}: ready → ${result.outcome}`]
      : [...refused, ...fallen];
  });
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

export function mean(values: ReadonlyArray<number | null>): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

function show(value: number | null): string {
  return value === null ? '' : value.toFixed(3);
}
