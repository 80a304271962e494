import type { Problem } from '../../platform/problem.ts';
import type { ConnectError, Connecting } from './connect-steps.ts';
import type { CredentialField } from './connections.ts';

/** The pages that end users see. They have no scripts, load nothing, and show all texts of others as plain text. */

const english = {
  title: 'Connect {service}',
  asks: 'The application {application} asks to use your {service} account.',
  user: 'In {application} you are {user}.',
  scopes: 'It asks for:',
  caution:
    'Continue only if you started this in {application} yourself. If another person sent you this link, close the page.',
  continue: 'Continue to {service}',
  fields: 'Enter your credentials of {service}. They are stored encrypted, and {application} never sees them.',
  rejected: '{service} does not accept these credentials. They were not stored. Check them and enter them again.',
  unverified: '{service} could not check these credentials. They were not stored. Try again in a minute.',
  save: 'Connect',
  account: 'Account',
  confirm: 'Allow {application} to use this {service} account?',
  other: 'Until now, {account} was connected.',
  cancel: 'Cancel',
  done: '{service} is connected to {application}. You can close this page.',
  leaving: 'You are being sent to {host}.',
  link_unknown: 'This link is not valid, or it has expired. Ask the application for a new one.',
  link_used: 'This link was used before. Ask the application for a new one.',
  other_browser: 'This step began in another browser. Ask the application for a new link.',
  cancelled: 'You did not connect {service}. The application can send you a new link.',
  too_large: 'The form is too large: at most {code} bytes.',
  refused: '{service} did not connect your account. Ask the application for a new link.',
  unavailable: '{service} did not answer as expected. Ask the application for a new link.',
  misconfigured: 'This service is not set up correctly for {service}. Tell its operator: {code}.',
};
type Words = typeof english;

const chinese: Words = {
  title: '连接 {service}',
  asks: '应用 {application} 请求使用您的 {service} 账户。',
  user: '您在 {application} 中是 {user}。',
  scopes: '它请求：',
  caution: '只有当您自己在 {application} 中开始了此操作时才继续。如果这个链接是别人发给您的，请关闭此页面。',
  continue: '前往 {service}',
  fields: '请输入您的 {service} 凭据。凭据会加密保存，{application} 看不到它们。',
  rejected: '{service} 不接受这些凭据。凭据未保存。请检查后重新输入。',
  unverified: '{service} 无法检查这些凭据。凭据未保存。请稍后再试。',
  save: '连接',
  account: '账户',
  confirm: '允许 {application} 使用这个 {service} 账户吗？',
  other: '此前连接的是 {account}。',
  cancel: '取消',
  done: '{service} 已连接到 {application}。您可以关闭此页面。',
  leaving: '正在前往 {host}。',
  link_unknown: '此链接无效或已过期。请向应用索取新链接。',
  link_used: '此链接已被使用。请向应用索取新链接。',
  other_browser: '此步骤是在另一个浏览器中开始的。请向应用索取新链接。',
  cancelled: '您没有连接 {service}。应用可以给您发送新链接。',
  too_large: '表单过大：最多 {code} 字节。',
  refused: '{service} 没有连接您的账户。请向应用索取新链接。',
  unavailable: '{service} 的响应不符合预期。请向应用索取新链接。',
  misconfigured: '本服务没有为 {service} 正确设置。请告知运营者：{code}。',
};

export type Language = 'en' | 'zh';

export function readLanguage(header: string | undefined): Language {
  return /^\s*zh\b/i.test(header ?? '') ? 'zh' : 'en';
}

/** The contents of a page, without its frame. */
export interface ConnectPage {
  readonly title: string;
  readonly body: string;
  /** The page sends the browser here by itself. */
  readonly leaveFor?: URL;
}

/** Writes the pages in a language. */
export function createConnectPages(language: Language) {
  const words = language === 'zh' ? chinese : english;

  const say = (word: keyof Words, of: Connecting | undefined, more: Readonly<Record<string, string>> = {}): string => {
    const user = of?.row.connection.endUser ?? '';
    const values: Record<string, string> = {
      service: of?.bundle.name ?? '',
      application: of?.application ?? '',
      user,
      ...more,
    };
    return escapeText(words[word]).replaceAll(/\{([a-z]+)\}/g, (_all, name: string) => quote(values[name] ?? ''));
  };
  const titleOf = (of: Connecting) => words.title.replace('{service}', () => visible(of.bundle.name));
  const heading = (of: Connecting) => `<h1>${say('title', of)}</h1>`;
  const paragraph = (...given: Parameters<typeof say>) => `<p>${say(...given)}</p>`;
  const scopeList = (of: Connecting, scopes: readonly string[]) =>
    scopes.length === 0
      ? ''
      : `${paragraph('scopes', of)}<ul>${scopes.map((scope) => `<li>${escapeText(visible(scope))}</li>`).join('')}</ul>`;
  const explain = (of: Connecting, { code, message }: Pick<Problem, 'code' | 'message'>) => {
    if (code === 'REQUEST_VALIDATION_ERROR') return escapeText(visible(message));
    return say(code === 'CREDENTIALS_VALIDATION_ERROR' ? 'rejected' : 'unverified', of);
  };
  const form = (action: string, content: string) =>
    `<form method="post" action="${escapeText(action)}">${content}</form>`;

  return {
    /** What a link is for. */
    link: (of: Connecting, action: string, wrong?: Pick<Problem, 'code' | 'message'>): ConnectPage => {
      const isForm = of.bundle.oauth === undefined;
      const fields = of.bundle.fields.map(fieldOf).join('');
      const alert = wrong === undefined ? '' : `<p role="alert">${explain(of, wrong)}</p>`;
      const next = isForm ? paragraph('fields', of) + alert : '';
      const button = `<button>${say(isForm ? 'save' : 'continue', of)}</button>`;
      const asked = scopeList(of, of.row.connection.asked);
      const about = heading(of) + paragraph('asks', of) + paragraph('user', of) + asked + paragraph('caution', of);
      return { title: titleOf(of), body: about + next + form(action, (isForm ? fields : '') + button) };
    },
    /** The account, before anything is stored. */
    answer: (of: Connecting, { account, scopes }: Shown, action: string): ConnectPage => {
      const before = of.row.connection.account;
      const isOther = before !== null && account !== null && before.id !== account.id;
      const facts =
        (account === null ? '' : `<p>${say('account', of)}: <strong>${quote(account.label)}</strong></p>`) +
        (isOther ? paragraph('other', of, { account: before.label }) : '');
      const button = (value: string, word: 'save' | 'cancel') =>
        `<button name="decision" value="${value}">${say(word, of)}</button> `;
      const buttons = form(action, button('connect', 'save') + button('cancel', 'cancel'));
      const body =
        heading(of) + paragraph('confirm', of) + facts + paragraph('user', of) + scopeList(of, scopes) + buttons;
      return { title: titleOf(of), body };
    },
    /** Leaves for another site. No redirect, because the policy of the page with the form would have to allow the site. */
    leave: (of: Connecting, url: URL): ConnectPage => ({
      title: titleOf(of),
      body: `${heading(of)}<p>${say('leaving', of, { host: url.host })}</p><p><a href="${escapeText(url.href)}">${escapeText(url.host)}</a></p>`,
      leaveFor: url,
    }),
    done: (of: Connecting): ConnectPage => ({ title: titleOf(of), body: heading(of) + paragraph('done', of) }),
    error: ({ refusal, of, code = '' }: Pick<ConnectError, 'refusal' | 'of' | 'code'>): ConnectPage => ({
      title: of === undefined ? 'Quartermaster' : titleOf(of),
      body: (of === undefined ? '' : heading(of)) + paragraph(refusal, of, { code }),
    }),
  };
}

interface Shown {
  readonly account: { readonly label: string; readonly id: string } | null;
  readonly scopes: readonly string[];
}

function fieldOf({ name, description, isSecret, isRequired }: CredentialField): string {
  const attributes = `name="${escapeText(name)}" type="${isSecret ? 'password' : 'text'}" autocomplete="off"${isRequired ? ' required' : ''}`;
  return `<p><label>${escapeText(name)}<br><input ${attributes}></label><br><small>${escapeText(visible(description))}</small></p>`;
}

/** Replaces control characters and those that change the direction of text, so that no name can imitate the page. */
function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '�');
}

function quote(text: string): string {
  return `<bdi>${escapeText(visible(text))}</bdi>`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}

const style =
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}input{width:100%;box-sizing:border-box;font:inherit}button{font:inherit;padding:.4rem 1rem}';

/** @param nonce allows the style of the page, and nothing else */
export function writePage({ title, body, leaveFor }: ConnectPage, language: Language, nonce: string): string {
  const leave =
    leaveFor === undefined ? '' : `<meta http-equiv="refresh" content="0;url=${escapeText(leaveFor.href)}">`;
  return `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">${leave}<title>${escapeText(title)}</title><style nonce="${nonce}">${style}</style></head><body><main>${body}</main></body></html>`;
}
