import type { AskedQuestion } from './ordinary-questions.ts';

const kinds = ['plain', 'inflected', 'compound', 'synonym', 'other_wording', 'table'];
const languages = ['en', 'de', 'fr', 'es', 'ru', 'zh', 'ja', 'ar'];
/** The highest share of wrong results by which a score may promise too much. */
const tolerance = 0.1;
/** The most questions without an answer whose best score may reach the threshold. */
const mostUnanswered = 2;

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

const bins = Array.from({ length: 10 }, (_, at) => at / 10);

/** The results of a half with at least this score. */
function binOf(asked: readonly AskedQuestion[], half: string, least: number) {
  const results = inHalf(asked, half).flatMap((each) => each.results.filter(({ score }) => score >= least));
  return { count: results.length, right: results.filter(({ isRight }) => isRight).length };
}

const describeBin = ({ count, right }: ReturnType<typeof binOf>) =>
  `${count} | ${count === 0 ? '–' : (right / count).toFixed(2)}`;

/** Returns which scores promise more than the results of the reporting half hold, one sentence each. */
export function checkScores(asked: readonly AskedQuestion[]): string[] {
  const wrong = bins.flatMap((least) => {
    const { count, right } = binOf(asked, 'reporting', least);
    return count === 0 || right / count >= least - tolerance
      ? []
      : [`${right} of ${count} results with a score of at least ${least} hold the answer`];
  });
  const unanswered = asked.filter(({ kind, isGoodMatch }) => kind === 'none' && isGoodMatch).length;
  return unanswered <= mostUnanswered
    ? wrong
    : [...wrong, `${unanswered} questions without an answer have a good match`];
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
  const none = asked.filter(({ kind }) => kind === 'none');
  const right = asked.filter(({ rank }) => rank === 1);
  const good = (some: readonly AskedQuestion[]) => some.filter(({ isGoodMatch }) => isGoodMatch).length;
  return `# How often questions find their answer

120 questions in eight languages about 60 documents in one collection, through the API with the settings of a new service.
[Their README](../../test/fixtures/ordinary-questions/README.md) says how they were written. Columns: number of questions, and the share whose
answer is in the first chunk, the first three and the first ten. The rules of the search were chosen on the tuning half only. Measured
by \`npm run script -- question-score\`. Do not edit; a test checks that no number decreases.

| questions | tuning | first | 3 | 10 | reporting | first | 3 | 10 |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
${lines.join('\n')}

\`good_match\` is true for ${good(none)} of ${none.length} questions without an answer, and for ${good(right)} of ${right.length} questions whose first chunk is right.

## What a score means

Of the results with a score of at least t, at least the share t holds the answer; a difference of 0.1 is allowed. Results are the first three
of each question. The other two are wrong even if the first one is right, except for overlapping chunks.
A score is the share of the question that a chunk covers, weighted by the rarity of its words in the collection.

| score ≥ t | tuning results | with the answer | reporting results | with the answer |
| --- | --- | --- | --- | --- |
${bins.map((least) => `| ${least.toFixed(1)} | ${['tuning', 'reporting'].map((half) => describeBin(binOf(asked, half, least))).join(' | ')} |`).join('\n')}
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
