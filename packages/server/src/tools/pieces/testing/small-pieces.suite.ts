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
