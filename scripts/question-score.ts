// `npm run script -- question-score` asks the ordinary questions of test/fixtures/ordinary-questions through the API of a new service and
// writes docs/reference/questions.md. `--ranks` also prints the rank of each question of the tuning half.
import { writeFileSync } from 'node:fs';
import { describeMatches, type JudgedQuestion, judgedSets, judgeMatches } from './score/left-out.ts';
import { askOrdinaryQuestions } from './score/ordinary-questions.ts';
import { describeQuestions } from './score/question-page.ts';

const asked = await askOrdinaryQuestions();
if (process.argv.includes('--ranks')) {
  for (const { id, language, kind, half, rank, best, question } of asked) {
    if (half === 'tuning') console.log([id, language, kind, rank ?? '-', best.toFixed(3), question].join('\t'));
  }
}
const judged = new Map<string, readonly JudgedQuestion[]>();
for (const [name, read] of Object.entries(judgedSets)) judged.set(name, await judgeMatches(read()));
const page = `${describeQuestions(asked)}\n${describeMatches(judged)}`;
console.log(page);
writeFileSync('docs/reference/questions.md', page);
