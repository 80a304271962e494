import { frameKinds } from '../../../../platform/processes/frames.ts';
import { openParentChannel } from '../../../../platform/processes/parent-channel.ts';
import { encodeMessage, type FromChild, type ToChild } from '../protocol.ts';

/**
 * A reader that sends as many batches as its document says without waiting for acknowledgements, or one forged batch.
 */
const send = (message: FromChild) => channel.send(frameKinds.message, encodeMessage(message));
const chunk = { content: 'x', question: null, answer: null, numTokens: 1, locator: null, metadata: {}, words: 'x' };
let text = '';
let acknowledged = 0;

function work(): void {
  // A value of metadata must be a text.
  if (text === 'forged') send({ type: 'chunks', chunks: [{ ...chunk, ordinal: 0, metadata: { a: 1 as never } }] });
  for (let ordinal = 0; ordinal < Number(text); ordinal += 1) {
    send({ type: 'chunks', chunks: [{ ...chunk, ordinal }] });
  }
}

function receive(message: ToChild): void {
  if (message.type !== 'next') return;
  acknowledged += 1;
  if (acknowledged < Number(text)) return;
  const report = { format: 'text', warnings: [], milliseconds: 0 };
  const counts = { numChunks: acknowledged, rejectedRows: 0, duplicateRows: 0 };
  send({ type: 'done', result: { kind: 'extracted', ...counts, report }, cpuSeconds: 0 });
}

const channel = openParentChannel((kind, content) => {
  if (kind === frameKinds.message)
    receive(JSON.parse(content.toString()) as ToChild); // the host wrote it
  else if (content.length > 0) text += content.toString();
  else work();
});
