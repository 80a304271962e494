import type { Handler } from '@quartermaster/plugin-kit';

interface Input {
  readonly message_id: string;
  readonly max_characters: number;
}

/** A part of a message: a text, an attachment, or a list of parts. */
interface Part {
  readonly mimeType?: string;
  readonly filename?: string;
  readonly headers?: ReadonlyArray<{ readonly name?: string; readonly value?: string } | null>;
  readonly body?: { readonly data?: string; readonly attachmentId?: string; readonly size?: number };
  readonly parts?: readonly Part[];
}

/** This plugin needs code, because the text of a message is base64url in a tree of parts. */
export const run: Handler<Input, Record<string, unknown>> = async ({ message_id, max_characters }, context) => {
  const url = `https://gmail.googleapis.com/gmail/v1/users/me/messages/${message_id}`;
  const { status, text: answer } = await context.fetch({ method: 'GET', url, query: { format: 'full' } });
  if (status !== 200) throw new Error(`Gmail answered with status ${status}.`);
  const { id, threadId, snippet, labelIds, payload } = JSON.parse(answer);
  const parts = flatten(payload ?? {});
  // The sender chooses the case of the names.
  const header = (name: string) => {
    const found = listOf(parts[0]?.headers).find((each) => String(each?.name).toLowerCase() === name);
    return found?.value ?? null;
  };
  const text = readText(parts);
  return {
    id,
    thread_id: threadId,
    subject: header('subject'),
    from: header('from'),
    reply_to: header('reply-to'),
    to: header('to'),
    cc: header('cc'),
    date: header('date'),
    message_id: header('message-id'),
    snippet: decodeEntities(String(snippet ?? '')),
    text: text.slice(0, max_characters).toWellFormed(),
    is_cut: text.length > max_characters,
    labels: labelIds ?? [],
    attachments: parts.flatMap(({ filename, mimeType, body }) =>
      filename && body?.attachmentId
        ? [{ attachment_id: body.attachmentId, filename, media_type: mimeType ?? unknownType, size: body.size ?? null }]
        : [],
    ),
  };
};

const unknownType = 'application/octet-stream';

/** A list of an answer that has none is empty. */
function listOf<T>(list: readonly T[] | null | undefined): readonly T[] {
  return Array.isArray(list) ? list : [];
}

function flatten(part: Part | null): Part[] {
  return part === null ? [] : [part, ...listOf(part.parts).flatMap(flatten)];
}

/** The plain texts of a message, or its HTML without tags. Gmail has converted both to UTF-8. */
function readText(parts: readonly Part[]): string {
  const textsOf = (type: string) =>
    parts
      .filter(({ mimeType, filename }) => mimeType === type && !filename)
      .map(({ body }) =>
        Buffer.from(String(body?.data ?? ''), 'base64url')
          .toString()
          .replaceAll('\r\n', '\n'),
      )
      .filter((text) => text.trim() !== '');
  const plain = textsOf('text/plain');
  return plain.length > 0 ? plain.join('\n') : textsOf('text/html').map(withoutTags).join('\n');
}

function withoutTags(html: string): string {
  const visible = html
    .split(/<(?=style|script)/i)
    .map((piece, index) => (index === 0 ? piece : (piece.split(/<\/(?:style|script)>/i)[1] ?? '')))
    .join('');
  const broken = visible.replace(/<(?:br|\/p|\/div|\/tr|\/li|\/h[1-6])[^<>]*>/gi, '\n').replace(/<[^<>]*>/g, '');
  return decodeEntities(broken)
    .replace(/[ \t\r]+/g, ' ')
    .replace(/\n[ \n]+/g, '\n')
    .trim();
}

/** The named entities that mails use most. */
const entities: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', ' '],
  ['ndash', '–'],
  ['mdash', '—'],
  ['hellip', '…'],
  ['lsquo', '‘'],
  ['rsquo', '’'],
  ['ldquo', '“'],
  ['rdquo', '”'],
  ['euro', '€'],
  ['zwnj', ''],
]);

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return entities.get(name.toLowerCase()) ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
