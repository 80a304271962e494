// The process that holds the model. It ends with the server: its channel closes then.
import { frameKinds } from '../../../../platform/processes/frames.ts';
import { openParentChannel } from '../../../../platform/processes/parent-channel.ts';
import type { TokenBatch } from './load-model.ts';
import { type LoadedModel, loadModel } from './load-model.ts';
import { decodeMessage, encodeMessage, type FromChild, type ToChild } from './onnx-protocol.ts';

interface Job {
  readonly id: number;
  readonly urgent: boolean;
  readonly batches: TokenBatch[];
  readonly vectors: Array<Float32Array | null>;
}

const jobs: Job[] = [];
let model: LoadedModel | undefined;
let working = false;

const describe = (error: unknown) => (error instanceof Error ? error.message : String(error));
/** Selects the next job. An urgent job waits for at most one batch. */
const nextJob = () => jobs.find((job) => job.urgent) ?? jobs[0];
const drop = (id: number) => {
  const place = jobs.findIndex((job) => job.id === id);
  if (place >= 0) jobs.splice(place, 1);
};

async function work(loaded: LoadedModel): Promise<void> {
  if (working) return;
  working = true;
  for (let job = nextJob(); job !== undefined; job = nextJob()) {
    const batch = job.batches.shift();
    try {
      if (batch !== undefined) {
        const vectors = await loaded.embed(batch);
        for (const [n, place] of batch.places.entries()) job.vectors[place] = vectors[n] ?? null;
      }
      if (job.batches.length > 0) void send({ type: 'alive' });
      else {
        drop(job.id);
        void send({ type: 'vectors', id: job.id, vectors: job.vectors });
      }
    } catch (error) {
      drop(job.id);
      void send({ type: 'failed', id: job.id, message: describe(error) });
    }
  }
  working = false;
}

async function receive(message: ToChild): Promise<void> {
  if (message.type === 'cancel') return drop(message.id);
  if (message.type === 'start') {
    model = await loadModel(message);
    void send({ type: 'ready', dimensions: model.dimensions, fingerprint: model.fingerprint });
    return;
  }
  if (model === undefined) throw new Error('The model process received a request before its start message.');
  const { id, urgent, texts } = message;
  jobs.push({ id, urgent, batches: model.prepare(texts), vectors: texts.map(() => null) });
  await work(model);
}

const channel = openParentChannel((_kind, content) => {
  const message = decodeMessage<ToChild>(content);
  receive(message).catch(async (error: unknown) => {
    if (message.type === 'embed') return send({ type: 'failed', id: message.id, message: describe(error) });
    await send({ type: 'unfit', message: describe(error) });
    process.exit(1);
  });
});

function send(message: FromChild): Promise<void> {
  return channel.send(frameKinds.message, encodeMessage(message));
}
