import type { TestEvent } from 'node:test/reporters';

/** Writes the counts of a whole run as one JSON object, for a script that runs several. */
// biome-ignore lint/style/noDefaultExport: node:test reads the default export of a reporter.
export default async function* countReporter(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of source) {
    if (event.type === 'test:summary' && event.data.file === undefined) yield JSON.stringify(event.data.counts);
  }
}
