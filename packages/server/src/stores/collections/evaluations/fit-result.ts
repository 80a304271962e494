import { type Evaluation, longestEvaluated } from '@quartermaster/contract';

/** Bytes of a stored result at most. They do not count in the quota of the project. */
export const mostStoredBytes = 256 * 1024;

/** Cuts the longest texts of a result, so that the stored one is not larger than `mostStoredBytes`. Its counts and places stay. */
export function fitResult(result: Evaluation): Evaluation {
  let fitting = result;
  // Without texts, 300 questions and 300 skipped rows need less than half of the bytes, and the names of columns less than a third.
  for (let most = longestEvaluated; most > 0 && sizeOf(fitting) > mostStoredBytes; most = most >> 1) {
    const questions = result.questions.map(({ question, expected, best, ...places }) => ({
      ...places,
      question: question.slice(0, most),
      expected: expected.slice(0, most),
      best: best === null ? null : best.slice(0, most),
    }));
    fitting = { ...result, questions };
  }
  return fitting;
}

const sizeOf = (result: Evaluation) => Buffer.byteLength(JSON.stringify(result));
