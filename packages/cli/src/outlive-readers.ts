/** As a shell tells that a program has ended by SIGPIPE, which Node ignores. */
const endedByPipe = 141;

/**
 * Whoever reads what a command prints may end before it, such as `head`: the command then ends too, in silence. A service
 * goes on: it does not live for the few lines that it prints.
 */
export function outliveReaders(isService: boolean): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      if (!isService) process.exit(endedByPipe);
    });
  }
}
