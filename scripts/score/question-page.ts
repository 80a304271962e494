import type { AskedQuestion } from './ordinary-questions.ts';

const kinds = ['plain', 'inflected', 'compound', 'synonym', 'other_wording', 'table'];
const languages = ['en', 'de', 'fr', 'es', 'ru', 'zh', 'ja', 'ar'];
/** Questions with a best score of at least this count as answered. Measured: at most 2 of 15 questions without an answer reach it. */
export const defaultThreshold = 0.35;

interface Row {
  readonly name: string;
  readonly asked: readonly AskedQuestion[];
}

/** Groups questions: all with an answer, then by kind, language and half. */
function rowsOf(asked: readonly AskedQuestion[]): Row[] {
  const answered = asked.filter(({ kind }) => kind !== 'none');
  const by = (name: string, test: (each: AskedQuestion) => boolean): Row => ({ name, asked: answered.filter(test) });
  const wordForms = ['plain', 'inflected', 'compound'];
  return [
    by('all', () => true),
    by('plain, inflected and compound', ({ kind }) => wordForms.includes(kind)),
    ...kinds.map((kind) => by(`kind ${kind}`, (each) => each.kind === kind)),
    ...languages.map((language) => by(`language ${language}`, (each) => each.language === language)),
  ];
}

const inHalf = (asked: readonly AskedQuestion[], half: string) => asked.filter((each) => each.half === half);

/** Returns the share of questions whose answer is among the first `most` chunks. */
export function shareWithin(asked: readonly AskedQuestion[], most: number): number {
  return asked.filter(({ rank }) => rank !== null && rank <= most).length / Math.max(asked.length, 1);
}

/** Renders the reference page. */
export function describeQuestions(asked: readonly AskedQuestion[]): string {
  const lines = rowsOf(asked).map(({ name, asked: some }) => {
    const cells = ['tuning', 'reporting'].flatMap((half) => {
      const part = inHalf(some, half);
      return [`${part.length}`, ...[1, 3, 10].map((most) => shareWithin(part, most).toFixed(2))];
    });
    return `| ${name} | ${cells.join(' | ')} |`;
  });
  const best = (wanted: (each: AskedQuestion) => boolean) => asked.filter(wanted).map((each) => each.best);
  const none = best(({ kind }) => kind === 'none');
  const right = best(({ rank }) => rank === 1);
  const above = (scores: readonly number[]) => scores.filter((score) => score >= defaultThreshold).length;
  return `# Ordinary questions

120 questions in eight languages about 60 documents in one collection, through the API with the settings of a new service.
[Their README](../../test/fixtures/ordinary-questions/README.md) says how they were written. Columns: number of questions, and the share whose
answer is in the first chunk, the first three and the first ten. The rules of the search were chosen on the tuning half only. Measured
by \`npm run score:questions\`. Do not edit; a test checks that no number decreases.

| questions | tuning | first | 3 | 10 | reporting | first | 3 | 10 |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
${lines.join('\n')}

Best scores: ${above(none)} of ${none.length} questions without an answer reach ${defaultThreshold}, and ${above(right)} of ${right.length} questions
whose first chunk is right.
`;
}

/** Returns what is worse than on the page, one sentence each. Equal scores may come in any order, so that one question may differ. */
export function compareQuestions(page: string, asked: readonly AskedQuestion[]): string[] {
  const rows = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  return rowsOf(asked).flatMap(({ name, asked: some }) => {
    const row = rows.find((cells) => cells[1] === name);
    if (row === undefined) return [`${name}: the page has no such row`];
    return ['tuning', 'reporting'].flatMap((half, place) => {
      const part = inHalf(some, half);
      const was = Number(row[place * 4 + 3]);
      const now = shareWithin(part, 1);
      const lost = (was - now) * part.length;
      return lost < 1.5 ? [] : [`${name}, ${half}: ${was} → ${now.toFixed(2)} first`];
    });
  });
}
