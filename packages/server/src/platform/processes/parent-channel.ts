import { Socket } from 'node:net';
import { createFrameReader, encodeFrame, type FrameKind, frameKinds } from './frames.ts';

/** The end of the channel that a confined process holds. */
export interface ParentChannel {
  /** Resolves when the frame has left the process; the server may not have read it. */
  send(kind: FrameKind, content: Uint8Array | string): Promise<void>;
}

/**
 * Opens the channel to the server, descriptor 3, and reports that the program is loaded. The process exits when the
 * channel closes: the server is gone, however it ended. Frames of the server are not limited, since it is trusted.
 */
export function openParentChannel(onFrame: (kind: number, content: Buffer) => void): ParentChannel {
  // Stored before foreign code runs, so that the code cannot replace it.
  const { exit } = process;
  const socket = new Socket({ fd: 3, readable: true, writable: true });
  const onTooLong = (): never => exit(1);
  socket.on('data', createFrameReader({ onFrame, onTooLong, maxBytes: () => Number.POSITIVE_INFINITY }));
  socket.on('close', () => exit(0)).on('error', () => exit(0));
  const channel: ParentChannel = {
    send: (kind, content) => new Promise((resolve) => socket.write(encodeFrame(kind, content), () => resolve())),
  };
  void channel.send(frameKinds.ready, '');
  return channel;
}
