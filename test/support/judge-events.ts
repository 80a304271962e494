import type { TestEvent } from 'node:test/reporters';
import { missingToolsIn } from './system-tools.ts';

/** What a run of test files came to. Tests that contain others are not counted. */
export interface Verdict {
  passed: number;
  failed: number;
  /** The tests that need a missing program. */
  needing: number;
  readonly missing: Set<string>;
}

type Failure = Extract<TestEvent, { type: 'test:fail' }>['data'];

/**
 * Passes the events of a run on and counts them. A test that failed because a program is missing becomes a skipped one,
 * and so does a test whose subtests failed for no other reason.
 */
export async function* judgeEvents(
  events: AsyncIterable<TestEvent>,
  verdict: Verdict,
): AsyncGenerator<TestEvent, void> {
  /** The failures in each file by the nesting of the tests, since the last test above them ended. */
  const failures = new Map<string, number[]>();
  for await (const event of events) {
    if (event.type === 'test:diagnostic' && event.data.file === undefined) continue; // counts, which are wrong here
    if (event.type !== 'test:pass' && event.type !== 'test:fail') {
      yield event;
      continue;
    }
    const { file = '', nesting } = event.data;
    const inFile = failures.get(file) ?? [];
    failures.set(file, inFile);
    const below = inFile[nesting + 1] ?? 0;
    inFile[nesting + 1] = 0;
    if (event.type === 'test:pass') {
      if (event.data.details.type !== 'suite') verdict.passed += 1;
      yield event;
      continue;
    }
    const missing = missingFor(event.data);
    const kind = failureType(event.data);
    // The failure of a test counts, not what it does to the tests around it.
    const isContainer = kind === 'subtestsFailed' || (kind === 'cancelledByParent' && nesting > 0);
    if (missing.length > 0 || (isContainer && below === 0)) {
      if (!isContainer) verdict.needing += 1;
      for (const name of missing) verdict.missing.add(name);
      yield skipped(event.data, missing);
      continue;
    }
    inFile[nesting] = (inFile[nesting] ?? 0) + 1;
    if (!isContainer) verdict.failed += 1;
    yield event;
  }
}

function failureType({ details }: Failure): string {
  return String(Reflect.get(details.error, 'failureType'));
}

function missingFor({ details }: Failure): readonly string[] {
  for (let error: unknown = details.error; error instanceof Error; error = error.cause) {
    const missing = missingToolsIn(error.message);
    if (missing.length > 0) return missing;
  }
  return [];
}

function skipped(data: Failure, missing: readonly string[]): TestEvent {
  const { error: _, ...details } = data.details;
  return {
    type: 'test:pass',
    data: { ...data, details, skip: missing.length > 0 ? `needs ${missing.join(', ')}` : 'needs a missing program' },
  } as TestEvent; // the types of Node.js require members that depend on its version
}
