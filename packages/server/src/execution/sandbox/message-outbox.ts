import type { Socket } from 'node:net';
import type { ToChild } from './protocol.ts';

/** Messages to a child, several in one write: each write costs a system call and may wake a process. */
export interface MessageOutbox {
  send(message: ToChild): void;
}

/** So many wait for the end of this turn of the loop and no more: the child should have work meanwhile. */
const mostTogether = 16;

export function createMessageOutbox(channel: Socket): MessageOutbox {
  let lines = '';
  let count = 0;
  let isPlanned = false;

  function flush(): void {
    if (count > 0 && channel.writable) channel.write(lines);
    lines = '';
    count = 0;
  }

  return {
    send: (message) => {
      lines += `${JSON.stringify(message)}\n`;
      count += 1;
      if (count === mostTogether) return flush();
      if (isPlanned) return;
      isPlanned = true;
      setImmediate(() => {
        isPlanned = false;
        flush();
      });
    },
  };
}
