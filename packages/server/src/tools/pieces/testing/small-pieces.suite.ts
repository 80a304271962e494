/** Pieces in the shapes that the generations of the framework give them, without any code of the framework. */

const text = `const text = (name, more) => ({ type: 'SHORT_TEXT', displayName: name, required: true, valueSchema: undefined, ...more });`;

/** Frameworks up to 0.2: no authentication of the piece; each action has a property for it. */
const first = `${text}
class Piece {
  constructor(actions) { this.displayName = 'First'; this.description = ''; this._actions = Object.fromEntries(actions.map((a) => [a.name, a])); }
  getAction(name) { return this._actions[name]; }
}
const authentication = { type: 'SECRET_TEXT', displayName: 'Key', required: true };
exports.first = new Piece([{
  name: 'send', displayName: 'Send', description: 'Send a text', sampleData: {},
  props: { authentication, body: text('Body') },
  async run({ propsValue }) {
    const answer = await fetch('https://api.example.com/send', { method: 'POST', headers: { 'X-Key': propsValue.authentication }, body: propsValue.body });
    return await answer.json();
  },
}]);`;

/** Later ones: the piece has the authentication; \`actions()\` returns the actions; a text arrives as it is, fields without a kind. */
const second = `${text}
exports.__esModule = true;
exports.second = {
  displayName: 'Second', logoUrl: 'https://cdn.example.com/second.png', categories: ['SALES'],
  auth: { type: 'CUSTOM_AUTH', displayName: 'Account', required: true, props: {
    note: { type: 'MARKDOWN', value: 'Read this' }, domain: text('Domain'), key: { type: 'SECRET_TEXT', displayName: 'Key', required: true } } },
  actions: () => ({ send: { name: 'send', displayName: 'Send', description: 'Send a text', requireAuth: true, props: { body: text('Body') },
    run: async ({ auth, propsValue }) => {
      const answer = await fetch('https://' + auth.domain + '.example.com/send', { method: 'POST', headers: { 'X-Key': auth.key }, body: propsValue.body });
      return await answer.json();
    } } }),
};`;

/** Versions 1 and 2 of the context: each kind of authentication arrives with its name. */
const third = (version: string) => `${text}
exports.default = {
  displayName: 'Third', auth: [
    { type: 'OAUTH2', displayName: 'Sign in', authUrl: 'https://example.com/authorize', tokenUrl: 'https://example.com/token', scope: ['send'], required: true },
    { type: 'SECRET_TEXT', displayName: 'Key', required: true },
    { type: 'OIDC', displayName: 'Other', required: true },
  ],
  getContextInfo: () => ({ version: '${version}' }),
  _actions: { send: { name: 'send', displayName: 'Send', description: 'Send', requireAuth: true, classification: 'WRITE',
    aiMetadata: { description: 'Send a text to a person', idempotent: false },
    outputSchema: { fields: [{ key: 'ok', format: 'boolean', description: 'Whether it was sent' }] },
    props: { body: text('Body', { defaultValue: 'Hello' }) },
    run: async ({ auth, propsValue }) => {
      const key = auth.type === 'SECRET_TEXT' ? auth.secret_text : auth.access_token;
      const answer = await fetch('https://api.example.com/send', { method: 'POST', headers: { 'X-Key': key }, body: propsValue.body });
      return await answer.json();
    } } },
};`;

export const generations = { first, second, third: third('1'), fourth: third('2'), future: third('9') };

/** A piece of version 2 whose actions have these bodies. Each body sees \`propsValue\` and the rest of the context. */
export function pieceOf(bodies: Readonly<Record<string, string>>, actions = ''): string {
  const parts = Object.entries(bodies).map(
    ([
      name,
      body,
    ]) => `${name}: { name: '${name}', displayName: '${name}', description: '', requireAuth: false, props: {},
      run: async (context) => { const { propsValue, auth } = context; ${body} } },`,
  );
  return `exports.piece = { displayName: 'Small', getContextInfo: () => ({ version: '2' }), _actions: { ${parts.join('\n')} ${actions} } };`;
}
