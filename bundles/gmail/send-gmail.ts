import type { Handler } from '@quartermaster/plugin-kit';

interface Input {
  readonly to: readonly string[];
  readonly cc?: readonly string[];
  readonly bcc?: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly in_reply_to?: string;
  readonly thread_id?: string;
}

interface Output {
  /** Only of `create_draft`. */
  readonly draft_id?: string;
  readonly id: string | null;
  readonly thread_id: string | null;
}

const account = 'https://gmail.googleapis.com/gmail/v1/users/me';

/** `send_gmail` and `create_draft` need code, because Gmail requires the whole message (RFC 5322) as base64url. */
export const run: Handler<Input, Output> = async (input, context) => {
  const thread = input.thread_id === undefined ? {} : { threadId: input.thread_id };
  const raw = base64(writeMessage(input))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/={1,2}$/, '');
  const message = { raw, ...thread };
  const isDraft = context.plugin === 'create_draft';
  const { status, text } = await context.fetch({
    method: 'POST',
    url: isDraft ? `${account}/drafts` : `${account}/messages/send`,
    body: isDraft ? { message } : message,
  });
  if (status !== 200) throw new Error(`Gmail answered with status ${status}`);
  const answer = JSON.parse(text);
  if (!isDraft) return { id: answer.id, thread_id: answer.threadId };
  // A message that Gmail accepted must not end as an error, because the caller would send it again.
  return { draft_id: answer.id, id: answer.message?.id ?? null, thread_id: answer.message?.threadId ?? null };
};

/** Addresses and ids contain no line break, because their schemas forbid it. */
function writeMessage({ to, cc = [], bcc = [], subject, text, in_reply_to }: Input): string {
  const list = (name: string, addresses: readonly string[]) =>
    addresses.length === 0 ? [] : [`${name}: ${addresses.join(',\r\n ')}`];
  const answer = in_reply_to === undefined ? [] : [`In-Reply-To: ${in_reply_to}`, `References: ${in_reply_to}`];
  const lines = [
    ...list('To', to),
    ...list('Cc', cc),
    ...list('Bcc', bcc),
    `Subject: ${encodeWords(subject)}`,
    ...answer,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    '',
    ...(base64(text.replace(/\r\n|\r|\n/g, '\r\n')).match(/.{1,76}/g) ?? []),
  ];
  return `${lines.join('\r\n')}\r\n`;
}

/** RFC 2047: words of at most 75 characters, none of which cuts a character in two. */
function encodeWords(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text) && text.length <= 60 && !text.includes('=?')) return text;
  const words: string[] = [];
  let part = '';
  for (const character of text) {
    if (new TextEncoder().encode(part + character).length > 45) {
      words.push(part);
      part = '';
    }
    part += character;
  }
  return [...words, part].map((word) => `=?utf-8?B?${base64(word)}?=`).join('\r\n ');
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
