/** The exit code that shells report for SIGPIPE, which Node ignores. */
const endedByPipe = 141;

/**
 * Handles a reader of the output that closes it early, such as `head`. A command then exits silently. A service continues, because
 * its output is not its purpose.
 */
export function handleClosedOutput(isService: boolean): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      if (!isService) process.exit(endedByPipe);
    });
  }
}
