import { PassThrough, pipeline, Readable, type Transform } from 'node:stream';
import type { LargeAnswer } from '../../platform/outbound.ts';
import type { EgressPolicy } from './broker.ts';
import { decoderFor } from './charset.ts';
import { createDecoders } from './decode.ts';
import type { AnswerHead, Overflow } from './exchange.ts';
import type { Redactor } from './redact/redactor.ts';

/** Opens the receiver of a successful answer. Undefined when the policy has none, or the answer is no success. */
export function openLargeAnswer(
  { status, headers }: AnswerHead,
  { policy, redactor }: { policy: EgressPolicy; redactor: Redactor },
): Overflow | undefined {
  const { receiveLarge } = policy;
  if (receiveLarge === undefined || status < 200 || status > 299) return undefined;
  const decoders = createDecoders(headers['content-encoding']);
  if (decoders === null) return undefined;
  const body = new PassThrough();
  // The reader of the last stream gets the error of any of them.
  const decoded = decoders.length === 0 ? body : through(body, decoders);
  const received = receiveLarge(redactAnswer(decoded, redactor.deep(headers)['content-type'], redactor)).finally(() =>
    body.destroy(),
  );
  return { body, received };
}

/** Passes an answer on that is in memory and whose decompressed body is too large. */
export async function receiveCompressed(
  { status, headers, body }: AnswerHead & { readonly body: Buffer },
  options: { policy: EgressPolicy; redactor: Redactor },
): Promise<void> {
  const overflow = openLargeAnswer({ status, headers }, options);
  if (overflow === undefined) return;
  Readable.from([body]).pipe(overflow.body);
  await overflow.received;
}

function through(body: PassThrough, [first, ...others]: readonly Transform[]): Readable {
  if (first === undefined) return body;
  const last = others.at(-1) ?? first;
  pipeline([body, first, ...others], () => {});
  return last;
}

/** Text in another charset becomes UTF-8, because its bytes do not show the secrets. */
function redactAnswer(body: Readable, contentType: string | undefined, redactor: Redactor): LargeAnswer {
  const decoder = decoderFor(contentType);
  const isOther =
    decoder.encoding !== 'utf-8' && /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml))/i.test(contentType ?? '');
  async function* redacted(): AsyncGenerator<Buffer> {
    const stream = redactor.stream();
    for await (const chunk of body as AsyncIterable<Buffer>) {
      yield stream.push(isOther ? Buffer.from(decoder.decode(chunk, { stream: true })) : chunk);
    }
    if (isOther) yield stream.push(Buffer.from(decoder.decode()));
    yield stream.end();
  }
  return { contentType, body: redacted() };
}
