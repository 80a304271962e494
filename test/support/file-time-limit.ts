// Loaded before each test file (`--import`). It ends a file that is still running after TEST_FILE_SECONDS (default: 900
// s), and reports the file and what keeps it running. Otherwise, a test that waits forever would hold the whole run.
import { isMainThread } from 'node:worker_threads';

const seconds = Number(process.env.TEST_FILE_SECONDS ?? 900);

if (isMainThread && process.env.NODE_TEST_CONTEXT !== undefined) {
  setTimeout(() => {
    const held = [...new Set(process.getActiveResourcesInfo())].join(', ');
    console.error(`${process.argv[1]} is still running after ${seconds} s and is ended. Still open: ${held}`);
    process.exit(1);
  }, seconds * 1000).unref();
}
