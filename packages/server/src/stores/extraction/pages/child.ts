import { writeSync } from 'node:fs';
import { frameKinds } from '../../../platform/processes/frames.ts';
import { openParentChannel } from '../../../platform/processes/parent-channel.ts';
import { ExtractionError } from '../extraction-error.ts';
import type { PageAnswer, PageJob } from '../page-protocol.ts';
import { drawPicture } from './draw-picture.ts';
import { locateOnPages } from './locate-on-pages.ts';
import { openPages } from './open-pages.ts';

/**
 * The process that finds and draws one passage of a PDF document or a picture. It has no environment, no network, and no
 * files except its own program. A job and the bytes of the document come in by its channel, and an empty piece at their
 * end.
 */
let job: PageJob | undefined;
const pieces: Buffer[] = [];

const channel = openParentChannel((kind, content) => {
  if (kind === frameKinds.message)
    job = JSON.parse(content.toString()) as PageJob; // written by our own server
  else if (content.length > 0) pieces.push(Buffer.from(content));
  else void work();
});

async function work(): Promise<void> {
  if (job === undefined) return;
  try {
    await answer(job, Buffer.concat(pieces.splice(0)));
  } catch (cause) {
    if (!(cause instanceof ExtractionError)) writeSync(2, `${cause instanceof Error ? cause.stack : String(cause)}\n`);
    await send({ kind: 'failed', message: describe(cause) });
  }
}

function describe(cause: unknown): string {
  if (!(cause instanceof ExtractionError)) return 'The parser of this format crashed on the document.';
  if (cause.code !== 'file_encrypted') return cause.message;
  return 'The pages cannot be shown: the file has a password, which was erased after its text was read.';
}

async function answer(wanted: PageJob, bytes: Buffer): Promise<void> {
  const pdf = await openPages(wanted, bytes);
  try {
    const { picture } = wanted;
    const pages = locateOnPages(pdf, wanted);
    if (picture === null) return await send({ kind: 'read', pages });
    if (picture.page > pdf.numPages) return await send({ kind: 'no_page', numPages: pdf.numPages });
    const boxes = pages.find(({ page }) => page === picture.page)?.boxes ?? [];
    const png = drawPicture(pdf, picture, boxes);
    if (png === undefined) return await send({ kind: 'failed', message: `Page ${picture.page} is damaged.` });
    await send({ kind: 'read', pages });
    await channel.send(frameKinds.bytes, png);
  } finally {
    pdf.close();
  }
}

function send(message: PageAnswer): Promise<void> {
  return channel.send(frameKinds.message, JSON.stringify(message));
}
