import type { Handler, HandlerContext, OutboundRequest } from '@quartermaster/plugin-kit';

interface Input {
  readonly channel: string;
  readonly filename: string;
  readonly content: string;
  readonly title?: string;
  readonly comment?: string;
  readonly thread_ts?: string;
}

/** This plugin needs code, because Slack takes a file in three calls: one for the address, one for the bytes, one to share it. */
export const run: Handler<Input, Record<string, unknown>> = async (input, context) => {
  const { channel, filename, content, title = filename, comment, thread_ts } = input;
  const length = Buffer.from(content, 'base64').length;
  const place = await ask(context, {
    url: 'https://slack.com/api/files.getUploadURLExternal',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: `filename=${encodeURIComponent(filename)}&length=${length}`,
  });
  const headers = { 'Content-Type': 'application/octet-stream' };
  const { status } = await context.fetch({ method: 'POST', url: String(place.upload_url), headers, base64: content });
  if (status !== 200) throw new Error(`Slack answered the upload with status ${status}.`);
  const shared = await ask(context, {
    url: 'https://slack.com/api/files.completeUploadExternal',
    body: {
      files: [{ id: place.file_id, title }],
      channel_id: channel,
      ...(comment === undefined ? {} : { initial_comment: comment }),
      ...(thread_ts === undefined ? {} : { thread_ts }),
    },
  });
  const [file] = Array.isArray(shared.files) ? shared.files : [];
  return { id: file?.id ?? place.file_id, title: file?.title ?? null, url: file?.permalink ?? null };
};

/** Errors of the request, which Slack sends with status 200. */
const ofCredentials = ['invalid_auth', 'not_authed', 'token_revoked', 'token_expired', 'account_inactive'];

async function ask(context: HandlerContext, request: Omit<OutboundRequest, 'method'>) {
  const { status, text } = await context.fetch({ method: 'POST', ...request });
  if (status !== 200) throw new Error(`Slack answered with status ${status}.`);
  const answer = JSON.parse(text) ?? {};
  if (answer.ok === true) return answer;
  if (ofCredentials.includes(answer.error)) throw new Error(`Slack answered ${answer.error}.`);
  const needed = answer.needed ? `, needs the scope ${answer.needed}` : '';
  return context.reject(`Slack answered ${answer.error ?? 'without a reason'}${needed}.`);
}
