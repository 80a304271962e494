// Loaded before each test file (`--import`). It ends a file that is still running after TEST_FILE_SECONDS (default: 900
// s), and reports the file and what keeps it running. Otherwise, a test that waits forever would hold the whole run. A
// second counts less when more programs want to run than there are processors, because the tests then take longer.
import { availableParallelism, loadavg } from 'node:os';
import { isMainThread } from 'node:worker_threads';

const seconds = Number(process.env.TEST_FILE_SECONDS ?? 900);
const step = Math.min(seconds, 1);
let counted = 0;

if (isMainThread && process.env.NODE_TEST_CONTEXT !== undefined) {
  setInterval(() => {
    counted += step * Math.min(1, availableParallelism() / (loadavg()[0] ?? 0));
    if (counted < seconds) return;
    const held = [...new Set(process.getActiveResourcesInfo())].join(', ');
    console.error(`${process.argv[1]} is still running after ${seconds} s and is ended. Still open: ${held}`);
    process.exit(1);
  }, step * 1000).unref();
}
