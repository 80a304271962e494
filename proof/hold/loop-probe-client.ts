import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

/** The measurements of the process since the last `reset`. Times are milliseconds, memory is MiB. */
export interface ProbeAnswer {
  /**
   * The longest time for which the event loop ran nothing else, without waits for a processor. Includes a delay that
   * still lasts.
   */
  readonly delay: number;
  /** Processor time of the main thread within `delay`. */
  readonly delayProcessor: number;
  /** Processor time of all threads. */
  readonly processor: number;
  /** Resident memory. */
  readonly memory: number;
  readonly peakMemory: number;
}

export interface LoopProbe {
  ask(command: 'reset' | 'read' | 'collect'): Promise<ProbeAnswer>;
  close(): void;
}

export async function connectProbe(path: string): Promise<LoopProbe> {
  const socket = connect(path);
  await once(socket, 'connect');
  let give: (line: string | undefined) => void = () => {};
  createInterface({ input: socket })
    .on('line', (line) => give(line))
    .on('close', () => give(undefined));
  socket.on('error', () => {});
  return {
    async ask(command) {
      const answered = new Promise<string | undefined>((resolve) => {
        give = resolve;
      });
      if (!socket.writable) throw new Error('the service has ended');
      socket.write(`${command}\n`);
      const line = await answered;
      if (line === undefined) throw new Error('the service has ended');
      return JSON.parse(line) as ProbeAnswer;
    },
    close: () => void socket.destroy(),
  };
}
